"""`edged fleet`: roll models out over boards through NATS."""
