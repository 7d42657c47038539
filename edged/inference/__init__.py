"""A network in a Python program, without a daemon: `edged.Model`."""
