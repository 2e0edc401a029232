"""Reading what the web sends: bytes to text, pages to markdown, challenges by name, all of it as data."""
