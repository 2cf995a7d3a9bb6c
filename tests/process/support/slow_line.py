"""A web server behind a line whose rate can change while it is read, and which can be closed for a while."""
import contextlib
import http.server
import sys
import threading
import time

from support import TESTS

sys.path.insert(0, str(TESTS / "servers"))
from starter import Handler  # noqa: E402


class Line:
    """A link that all answers share. Any thread."""

    def __init__(self):
        self.bytes_per_second, self._free_at, self._lock = 1e9, 0.0, threading.Lock()
        self.opened = threading.Event()
        self.opened.set()

    def pass_through(self, count):
        self.opened.wait()
        with self._lock:
            self._free_at = max(self._free_at, time.monotonic()) + count / self.bytes_per_second
            wait = self._free_at - time.monotonic()
        time.sleep(max(0.0, wait))


class Server:
    """Serves ranges of a folder's files over the line. `requested`: up to which byte. The first request of more than
    `close_at` bytes closes the line."""

    def __init__(self, folder, line, close_at=None):
        self.requested, self.close_at, lock, server = 0, close_at, threading.Lock(), self

        class Files(Handler):
            def do_HEAD(self):
                file = folder / self.path[1:]
                if not file.exists():
                    return self.answer(404, b"")
                return self.answer(200, b"", [("Content-Length", str(file.stat().st_size)), ("ETag", '"1"')])

            def do_GET(self):
                file = folder / self.path[1:]
                if not file.exists():
                    self.answer(404, b"")
                    return
                first, last = self.headers["Range"].removeprefix("bytes=").split("-")
                with open(file, "rb") as data:
                    data.seek(int(first))
                    part = data.read(int(last) + 1 - int(first))
                with lock:
                    server.requested = max(server.requested, int(last) + 1)
                    if server.close_at is not None and len(part) > server.close_at:
                        line.opened.clear()
                        server.close_at = None
                self.send_response(206)
                self.send_header("Content-Length", str(len(part)))
                self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{file.stat().st_size}")
                self.send_header("ETag", '"1"')
                self.end_headers()
                with contextlib.suppress(OSError):  # the daemon needs no more of it
                    for begin in range(0, len(part), 8192):
                        line.pass_through(len(part[begin:begin + 8192]))
                        self.wfile.write(part[begin:begin + 8192])

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def stop(self):
        self._http.shutdown()
        self._http.server_close()
