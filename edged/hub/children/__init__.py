"""The processes that the hub starts: their start, end and restart."""
