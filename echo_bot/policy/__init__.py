"""Pure decisions: values in, values out. Nothing here waits, reads, writes, or knows the time."""
