"""What the test servers share: free ports, a life no longer than the parent's, and answers of HTTP."""

import ctypes
import http.server
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


class Handler(http.server.BaseHTTPRequestHandler):
    """Keeps connections and says nothing on the terminal."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=()):
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name.lower() == "content-length" for name, _ in headers):
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class ManyConnections(http.server.ThreadingHTTPServer):
    # Where dozens come at once, those that find no room try again after a second, two, four, eight.
    request_queue_size = 512
    daemon_threads = True


def local_server(handler):
    """On a free port of 127.0.0.1, a thread for each connection."""
    server = ManyConnections(("127.0.0.1", 0), handler)
    server.handle_error = lambda *_: None  # of clients that hang up
    return server
