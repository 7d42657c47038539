"""Tests of what is in `trials`: each program for a short while."""
