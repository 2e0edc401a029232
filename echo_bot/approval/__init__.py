"""From a gated call to a decision: gate, broker, grants, card."""
