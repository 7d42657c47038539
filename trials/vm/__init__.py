"""The real service in whole virtual machines, with cameras that can be unplugged: `make vm-test`.

The host's side is here, what runs inside the machine is in `guest/`.
"""
