"""What the starters of test servers share: free ports, and a life no longer than the parent's."""

import ctypes
import json
import os
import signal
import socket
import sys


def free_ports(count):
    """Ports that were free a moment ago, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def end_with_parent(signal_number=signal.SIGTERM):
    """Asks the kernel for a signal when the process that started this one ends."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal_number)


def announce(**facts):
    """Tells the parent, on one line of JSON, that the server is ready."""
    print(json.dumps(facts), flush=True)


def exit_on_sigterm():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if os.getppid() == 1:
        sys.exit("the parent is gone already")
