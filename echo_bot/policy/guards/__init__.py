"""Guards: pure judges of what a call contains. Each returns findings; the strictest wins."""
