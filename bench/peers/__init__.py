"""edged against other runtimes: `make bench-peers`. Each peer is a file here; `__main__` says how to run them."""
