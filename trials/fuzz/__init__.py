"""Damaged and hostile input by the thousand: `python -m trials.fuzz KIND` runs one kind, `make fuzz` all."""
