"""What every test needs: signals as a terminal would send them, and no proxy between loopback and us."""

from __future__ import annotations

import os
import signal

# Started in the background by a shell, SIGINT is ignored, and every child would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

for _name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
    os.environ.pop(_name, None)
