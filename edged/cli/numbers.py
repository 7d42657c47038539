"""Numbers on the command line."""

import argparse


def positive(text: str) -> int:
    """A whole number from 1 up."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return number
