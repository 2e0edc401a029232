"""Echo Bot: an agent in your chats whose risky calls wait for a person."""

__version__ = "0.1.0"
