"""`edged view`: show what a hub publishes as a page for a browser. It is an ordinary subscriber."""
