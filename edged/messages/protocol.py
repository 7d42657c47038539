"""Which protocol this edged speaks. Written by `make docs` from the messages: change those."""

PROTOCOL = "9545c7fd"
