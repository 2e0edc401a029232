"""The HTTP server: log-in, health, and the routes of channels that serve pages."""
