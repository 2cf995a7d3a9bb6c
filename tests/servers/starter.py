"""What the test servers share: free ports, an end with the parent process, and HTTP answers."""

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
    """Prints one line of JSON for the parent: the server is ready."""
    print(json.dumps(facts), flush=True)


def exit_on_sigterm():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if os.getppid() == 1:
        sys.exit("the parent is gone already")


class Handler(http.server.BaseHTTPRequestHandler):
    """Keeps connections open and logs nothing."""
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
    # If the queue is full, clients retry only after 1, 2, 4 and 8 s: dozens may connect at once.
    request_queue_size = 512
    daemon_threads = True


def local_server(handler):
    """A server on a free port of 127.0.0.1 with a thread for each connection."""
    server = ManyConnections(("127.0.0.1", 0), handler)
    server.handle_error = lambda *_: None  # clients may close connections
    return server
