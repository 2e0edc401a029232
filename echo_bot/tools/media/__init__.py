"""Images and recordings: told apart by their first bytes, made by services, kept in the workspace, sent."""
