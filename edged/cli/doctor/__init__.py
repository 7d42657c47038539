"""`edged doctor`: `collect` reads facts of this host, `judge` finds what to fix in them, `report` prints it."""
