"""Bridges: carry what a hub publishes to systems that others operate. Each is a process of its own.

They subscribe as any other client, so that none can delay the hub or lose anything there.
"""
