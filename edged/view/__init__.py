"""`edged view`: what a hub publishes as a page for a browser. A subscriber like any other."""
