"""HTTP servers of edged: their connections, and what one peer may take of them."""
