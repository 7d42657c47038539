"""Debian packages of edged with everything inside, and a signed repository of them."""
