"""What must hold of the service on a whole machine, one fault a file. Started by `make vm-test` alone."""
