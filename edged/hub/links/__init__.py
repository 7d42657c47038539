"""The sockets of the hub, and which peers may connect."""
