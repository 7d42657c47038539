"""`edged fleet`: roll out models to boards through NATS."""
