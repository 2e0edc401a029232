"""Adapters: each converts between one platform's SDK and the port, and decides nothing."""
