#!/usr/bin/env python3
"""The status page in a real browser: it shows the values of /metrics, requests nothing from other servers, and hostile
names have no effect. ECHOLINE_PICTURES=FOLDER keeps pictures of it."""
import contextlib
import html
import http.server
import json
import os
import pathlib
import re
import struct
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

import queries
import watched_run
from browser import Look

HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)>"


def ask(port, path, method="GET"):
    """(status, headers, body)"""
    try:
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def shown(document, field):
    return [float(value) for value in re.findall(rf'data-field="{field}" data-value="([^"]*)"', document)]


def size_of(picture):
    """(width, height) of a PNG."""
    return struct.unpack(">II", pathlib.Path(picture).read_bytes()[16:24])


@contextlib.contextmanager
def measuring_server(behind):
    """Serves the page with a script that writes the width of its content and of the window into its title."""
    script = ("<script>setInterval(() => { document.title = document.documentElement.scrollWidth + ' of ' + "
              "document.documentElement.clientWidth; }, 200)</script></body>")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, headers, body = ask(behind, self.path)
            body = body.replace("</body>", script).encode()
            self.send_response(status)
            self.send_header("Content-Type", headers["Content-Type"])
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


class StatusPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        queries.program("chromium-headless-shell")
        cls.run_ = watched_run.WatchedRun()
        cls.addClassCleanup(cls.run_.__exit__)
        cls.run_.__enter__()
        cls.port = cls.run_.port
        cls.url = f"http://127.0.0.1:{cls.port}/"

    def metric(self, name, **labels):
        return sum(value for text, value in self.run_.daemon.metric_lines(name).items()
                   if all(f'{label}="{wanted}"' in text for label, wanted in labels.items()))

    def check_calm(self, look):
        self.assertEqual(look.said, [])
        strangers = {url for url in look.asked if not url.startswith(self.url) and not url.startswith("data:")}
        self.assertEqual(strangers, set())

    def test_it_shows_the_values_of_the_metrics(self):
        self.run_.daemon.read("--batches", 40)
        values = {"batches": ("echoline_batches_total", {}), "records": ("echoline_stream_records", {}),
                  "echo_factor": ("echoline_echo_factor", {}), "source_bytes": ("echoline_source_bytes_total", {}),
                  "requests_ok": ("echoline_source_requests_total", {"outcome": "ok"})}
        before = {field: self.metric(name, **labels) for field, (name, labels) in values.items()}
        look = Look(self.url)
        self.check_calm(look)
        for field, (name, labels) in values.items():
            [value] = shown(look.document, field)
            self.assertLessEqual(before[field], value, field)
            self.assertLessEqual(value, self.metric(name, **labels), field)
            self.assertGreater(value, 0, field)
        text = html.unescape(re.sub(r"<[^>]+>", " ", look.document))
        for part in ("train", "ready", "no trainer is attached", "fetch", "prep", "publish",
                     "Configuration in force", "throttle: {rate: 7.63MiB/s, latency: 2ms}", "1,000 records in 4 shards"):
            self.assertIn(part, text)

    def test_a_stream_at_work_is_shown_with_its_trainers_and_what_limits_it(self):
        trainer = self.run_.daemon.reader("--job", HOSTILE, "--epochs", 1000)
        self.addCleanup(lambda: (trainer.kill(), trainer.communicate()))
        while not json.loads(ask(self.port, "/status.json")[2])["streams"][0]["consumers"]:
            self.assertIsNone(trainer.poll(), "the trainer ended")
        look = Look(self.url)
        self.check_calm(look)
        self.assertNotIn("<img", look.document)
        self.assertIn("<title>Echoline</title>", look.document)
        self.assertIn(html.escape(HOSTILE, quote=False), look.document)
        self.assertIn("class=\"training\"", look.document)
        folder = os.environ.get("ECHOLINE_PICTURES") or self.enterContext(tempfile.TemporaryDirectory())
        for width, height, dark in ((390, 1500, True), (1280, 900, False)):
            picture = pathlib.Path(folder, f"status-{width}.png")
            Look(self.url, width, height, dark=dark, picture=picture)
            self.assertEqual(size_of(picture), (width, height))

    def test_nothing_is_wider_than_a_phone(self):
        with measuring_server(self.port) as port:
            measured = Look(f"http://127.0.0.1:{port}/", 390, 1500).document
        self.assertEqual(re.findall(r"<title>(\d+) of (\d+)</title>", measured), [("390", "390")])

    def test_without_scripts_it_shows_the_status_as_text(self):
        page = ask(self.port, "/")[2]
        self.assertRegex(page, r"<noscript>[^$]*<pre>echolined [\d.]+, 1 stream\n\ntrain: ready\n  .+\n  \d+ batches published")

    def test_it_may_load_nothing_but_itself(self):
        policy = ask(self.port, "/")[1]["Content-Security-Policy"]
        self.assertRegex(policy, r"^default-src 'none'; script-src 'sha256-[\w+/=]{44}'; style-src 'sha256-[\w+/=]{44}'; ")
        self.assertNotIn("unsafe", policy)
        for path in ("/metrics", "/status.json", "/nothing"):
            self.assertEqual(ask(self.port, path)[1]["Content-Security-Policy"], "default-src 'none'; frame-ancestors 'none'")
            self.assertEqual(ask(self.port, path)[1]["X-Content-Type-Options"], "nosniff")

    def test_methods_and_paths(self):
        for path in ("/", "/status.json", "/metrics"):
            status, headers, body = ask(self.port, path, "HEAD")
            self.assertEqual((status, body), (200, ""))
            self.assertGreater(int(headers["Content-Length"]), 100)
            status, headers, _ = ask(self.port, path, "POST")
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"))
        for path in ("/index.html", "/%2e%2e/etc/passwd", "/status.json/x"):
            self.assertEqual(ask(self.port, path)[0], 404, path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
