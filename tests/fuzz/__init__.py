"""Damaged and hostile input by the thousand: `python -m tests.fuzz KIND` runs one kind, `make fuzz` all."""
