"""From a frame that waits to its answer: values and decisions, without sockets or processes."""
