"""Everything that must survive a restart, behind the protocols in `protocol.py`."""
