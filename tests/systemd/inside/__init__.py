"""Tests that run in a machine of their own, as root under systemd as PID 1: see tests/systemd/test_machine.py."""
