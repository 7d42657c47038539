"""Models: what is read, rewritten, computed and refused."""
