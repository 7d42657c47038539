"""What is counted and told of a run: to Prometheus, to systemd, on the terminal."""
