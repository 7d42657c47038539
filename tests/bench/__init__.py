"""Tests of what surrounds the figures of `bench`; none judges a time."""
