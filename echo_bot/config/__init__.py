"""Configuration: one model per YAML section, a loader whose errors name file, line and key."""
