"""Tests mirror the package; tests/e2e starts the real daemon."""
