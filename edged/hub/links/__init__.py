"""The sockets of the hub, and who may come in."""
