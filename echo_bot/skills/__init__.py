"""Skills: folders with a SKILL.md that teach the agent a task and may bring Python scripts for it."""
