"""The processes that the hub has started: how they begin, end and begin again."""
