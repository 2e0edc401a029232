"""Fakes and platform emulators for tests of channels and tools; part of the product."""

import sys

if "pytest" in sys.modules:
    # What an assertion of the contract compared is shown, as in a test file.
    sys.modules["pytest"].register_assert_rewrite("echo_bot.testing.channel_contract")
