"""`edged doctor`: `collect` reads facts of this host, `judge` finds what to mend in them, `report` prints it."""
