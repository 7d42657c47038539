"""What is published, on disk, so that a subscriber can fetch what it has missed."""
