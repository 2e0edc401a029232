"""Where commands run: sandbox or local host."""
