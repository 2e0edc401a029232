"""Waking what waits: signals between the parts of one process and between processes."""
