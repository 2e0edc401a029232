"""Scheduled jobs: when they run, what each may do, and the one who starts them."""
