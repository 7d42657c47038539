"""Roll models out over a fleet: signed files in NATS, a gate, and an agent on each board that tries them."""
