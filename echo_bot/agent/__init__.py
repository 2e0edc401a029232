"""One turn of the conversation: model, tools, journal."""
