"""Starts a private daemon again after a crash, as long as a loader of this process is attached."""
from __future__ import annotations

import logging
import os
import sys
import threading
import time
from typing import Callable, Dict

from ._errors import Error
from ._private import PrivateDaemon

_log = logging.getLogger("echoline")

_RESTARTS_MAX = 5
_guards: Dict[str, threading.Thread] = {}


def guard(daemon: PrivateDaemon, in_use: Callable[[], bool]) -> None:
    """Starts the daemon again if it ends while loaders of this process are attached; they reattach by themselves."""
    name = os.fspath(daemon.folder)
    thread = _guards.get(name)
    if thread is None or not thread.is_alive():  # a forked child has no threads of its parent
        _guards[name] = threading.Thread(target=_watch, args=(daemon, in_use), name="echoline-guard", daemon=True)
        _guards[name].start()


def _watch(daemon: PrivateDaemon, in_use: Callable[[], bool]) -> None:
    restarts = 0
    while in_use() and not sys.is_finalizing():
        if not daemon.is_running() and in_use():  # asked again: a daemon may end when its last loader has closed
            if restarts == _RESTARTS_MAX:
                _log.error("the private daemon has ended again after %d restarts and is not started any more: loaders wait "
                           "for their time `reattach`, then raise DaemonGone; its log is %s", restarts, daemon.log_path)
                return
            restarts += 1
            _log.warning("the private daemon has ended; starting it again; its log is %s", daemon.log_path)
            try:
                daemon.ensure_running()
            except (Error, OSError) as error:
                _log.error("%s", error)
        time.sleep(1)
