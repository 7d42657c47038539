"""`edged doctor`: `collect` reads facts of this host, `judge` finds what to mend in them, `page` prints it."""
