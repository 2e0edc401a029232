"""Fakes and platform emulators for tests of channels and tools; part of the product."""
