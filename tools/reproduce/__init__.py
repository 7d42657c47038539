"""The experiments that edged comes from, each by one command: `python -m tools.reproduce NAME`."""
