"""Built-in tools, one family a file."""
