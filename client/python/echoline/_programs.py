"""Finds the programs of Echoline: a wheel contains them."""
from __future__ import annotations

import os
import pathlib
import shutil

from ._errors import NotFound


def find_daemon() -> str:
    """The file that ECHOLINE_DAEMON names, else the one in this package, else the one on PATH."""
    chosen = os.environ.get("ECHOLINE_DAEMON")
    own = pathlib.Path(__file__).parent / "bin" / "echolined"
    found = chosen or (str(own) if own.exists() else shutil.which("echolined"))
    if not found or not os.access(found, os.X_OK):
        raise NotFound(f"can't run {chosen!r} of ECHOLINE_DAEMON" if chosen else
                       "echolined is neither in the package nor on PATH; install a wheel, which has it, or set "
                       "ECHOLINE_DAEMON to its path")
    return found
