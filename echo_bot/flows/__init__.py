"""Workflows and tasks: what is to be done, in which order, and how far it is."""
