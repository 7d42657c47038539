"""Kernels under Oclgrind, which watches each access to memory."""
