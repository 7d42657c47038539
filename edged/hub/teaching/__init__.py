"""New labels while the daemon runs: who teaches gets frames, and a version that was taught answers."""
