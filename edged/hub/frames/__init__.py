"""From a waiting frame to its answer: values and decisions, without sockets or processes."""
