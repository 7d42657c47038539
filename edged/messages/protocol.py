"""Which protocol this edged speaks. Written by `make docs` from the messages: change those."""

PROTOCOL = "0466f29b"
