"""Cameras whose frames are pictures in requests of other programs, which get the answers."""
