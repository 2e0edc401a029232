"""What every test needs: signals as a terminal sends them, no proxy before loopback, Hypothesis's profiles.

`--hypothesis-profile=thorough` looks for a long time. No profile has a deadline for one example: how long it
takes on a busy machine says nothing about the code.
"""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

from echo_bot.delivery import status

# Started in the background by a shell, SIGINT is ignored, and every child would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

for _name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
    os.environ.pop(_name, None)

# A process that a test starts speaks the language of the locale.
for _name in ("LC_ALL", "LC_MESSAGES", "LANG"):
    if os.environ.get(_name, "").startswith("zh"):
        os.environ[_name] = "C.UTF-8"

# A call may take long on a busy machine: a test that wants to see its status line sets its own time.
status._SHOWN_AFTER_SECONDS = 3600.0

settings.register_profile(
    "quick", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=2000)
settings.load_profile("quick")
