"""Programs that try edged for long: faults at random, damaged files and messages, whole machines."""
