"""Published predictions on disk, so that a subscriber can fetch what it missed."""
