#!/usr/bin/env python3
"""A store that fails in the way that an object's name says: s3://any-bucket/BEHAVIOUR-COUNT-NAME shows the
behaviour for its first COUNT reads or writes and is correct afterwards. Every object has the bytes of content()
and the ETag "v1"; HEAD is always correct. "absent-..." does not exist. Prints {"endpoint", "pid"} when ready; ends with its parent or on
SIGTERM. With --tls it speaks TLS with a self-signed certificate, whose file is "ca_file"; exit code 77 without
`openssl` to make it."""

import argparse
import hashlib
import http.server
import os
import re
import socket
import shutil
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time

from starter import Handler, announce, end_with_parent, exit_on_sigterm

OBJECT_BYTES = 1 << 20
LIST_PAGE_BYTES_MAX = 32 << 20  # what the daemon takes


def content():
    return b"".join(struct.pack("<I", (i * 2654435761) & 0xFFFFFFFF) for i in range(OBJECT_BYTES // 4))


CONTENT = content()
COUNTS = {}
COUNTS_LOCK = threading.Lock()


def error_xml(code, message, extra=""):
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message>{extra}</Error>"


class Faults(Handler):
    def do_HEAD(self):
        if self.path.rsplit("/", 1)[1].startswith("absent-"):
            return self.answer(404, b"")
        self.send_response(200)
        self.send_header("Content-Length", str(OBJECT_BYTES))
        self.send_header("ETag", '"v1"')
        self.end_headers()

    def do_GET(self):
        if "list-type=2" in self.path:
            return self.listing()
        getattr(self, "get_" + self.behaviour())()

    def do_PUT(self):
        getattr(self, "put_" + self.behaviour())(int(self.headers["Content-Length"]))

    def behaviour(self):
        """Of this request."""
        match = re.match(r"([a-z0-9]+)-(\d+)-", self.path.rsplit("/", 1)[1])
        with COUNTS_LOCK:
            self.nth = COUNTS[self.path] = COUNTS.get(self.path, 0) + 1
            return match[1] if match and self.nth <= int(match[2]) else "ok"

    def put_ok(self, count):
        digest = hashlib.sha256(self.rfile.read(count)).hexdigest()
        good = digest == self.headers["x-amz-content-sha256"]
        self.answer(200 if good else 400, "" if good else error_xml("XAmzContentSHA256Mismatch", digest))

    def put_slow503(self, count):
        self.rfile.read(count)
        self.get_slow503()

    def put_reset(self, count):
        self.rfile.read(count // 2)
        self.reset()

    def put_sip(self, count):
        """Reads the request's body at 5 MB/s."""
        for _ in range(count // 250_000):
            self.rfile.read(250_000)
            time.sleep(0.05)
        self.rfile.read(count % 250_000)
        self.answer(200, b"")

    def listing(self):
        with COUNTS_LOCK:
            page = COUNTS["pages"] = COUNTS.get("pages", 0) + 1
        more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{page}</NextContinuationToken>"
        objects = "".join(f"<Contents><Key>{page}-{i}</Key><Size>1</Size><ETag>v1</ETag></Contents>" for i in range(10))
        bodies = {
            "empty-bucket": f"<ListBucketResult>{more}</ListBucketResult>",
            "endless-bucket": f"<ListBucketResult>{more}{objects}</ListBucketResult>",
            "long-bucket": "<ListBucketResult>" + " " * (LIST_PAGE_BYTES_MAX + 1),
            "loop-bucket": "<ListBucketResult><IsTruncated>true</IsTruncated>"
                           "<NextContinuationToken>again</NextContinuationToken></ListBucketResult>",
            "html-bucket": "<html><body>Please log in</body></html>",
        }
        self.answer(200, bodies.get(self.path.split("/")[1], error_xml("NoSuchBucket", "none")).encode())

    def wanted(self):
        match = re.match(r"bytes=(\d+)-(\d+)$", self.headers.get("Range", ""))
        return (int(match[1]), min(int(match[2]), OBJECT_BYTES - 1)) if match else (0, OBJECT_BYTES - 1)

    def part_headers(self, shift=0, etag="v1", length=None, total=OBJECT_BYTES):
        first, last = self.wanted()
        self.send_response(206)
        self.send_header("ETag", f'"{etag}"')
        self.send_header("Content-Range", f"bytes {first + shift}-{last + shift}/{total}")
        self.send_header("Content-Length", str(last - first + 1 if length is None else length))
        self.end_headers()
        return CONTENT[first:last + 1]

    def get_ok(self):
        self.wfile.write(self.part_headers())

    def get_slow503(self):
        self.answer(503, error_xml("SlowDown", "Please reduce your request rate.").encode())

    def get_busy429(self):
        self.answer(429, b"", [("Retry-After", "1")])

    def get_error500(self):
        self.answer(500, b"<html>oops</html>")

    def get_denied(self):
        self.answer(403, error_xml("AccessDenied", "no " + self.headers.get("Authorization", "")).encode())

    def get_expired(self):
        self.answer(400, error_xml("ExpiredToken", "The provided token has expired.").encode())

    def get_key2(self):
        if "Credential=KEY-2/" in self.headers.get("Authorization", ""):
            self.get_ok()
        else:
            self.get_expired()

    def get_absent(self):
        self.answer(404, error_xml("NoSuchKey", "The specified key does not exist.").encode())

    def get_moved(self):
        self.answer(301, error_xml("PermanentRedirect", "elsewhere").encode(),
                    [("x-amz-bucket-region", "eu-west-1")])

    def get_short(self):
        body = self.part_headers()
        self.wfile.write(body[:len(body) // 2])
        self.close_connection = True

    def get_reset(self):
        body = self.part_headers()
        self.wfile.write(body[:len(body) // 2])
        self.wfile.flush()
        self.reset()

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def get_stall(self):
        body = self.part_headers()
        self.wfile.write(body[:len(body) // 2])
        self.wfile.flush()
        time.sleep(20)
        self.close_connection = True

    def get_silent(self):
        time.sleep(20)
        self.close_connection = True

    def get_late(self):
        """After 3 s: wrong bytes, which a client must not use after it has the right ones."""
        time.sleep(3)
        self.wfile.write(bytes(len(self.part_headers())))

    def get_overtaken(self):
        """The first answer comes while the second one's body is sent."""
        if self.nth == 1:
            time.sleep(0.6)
            return self.wfile.write(bytes(len(self.part_headers())))
        body = self.part_headers()
        self.wfile.write(body[:len(body) // 2])
        self.wfile.flush()
        time.sleep(1)
        self.wfile.write(body[len(body) // 2:])

    def get_rightlate(self):
        """The second answer is a refusal, the first one is late but correct."""
        if self.nth > 1:
            return self.get_slow503()
        time.sleep(0.6)
        self.get_ok()

    def get_latebroken(self):
        """The second answer comes first, and breaks."""
        {1: self.get_late, 2: self.get_reset}.get(self.nth, self.get_ok)()

    def get_mutelate(self):
        """The first request gets no answer, the second a late one."""
        time.sleep(0.5)
        if self.nth > 1:
            return self.get_ok()
        self.close_connection = True

    def get_halfsecond(self):
        time.sleep(0.5)
        self.get_ok()

    def get_trickle(self):
        """At 20 KB/s, and wrong bytes after 2.5 s: a client must have the rest from another answer by then."""
        body = self.part_headers()
        begin = time.monotonic()
        sent = 0
        while sent < len(body) and time.monotonic() < begin + 2.5:
            self.send_now(body[sent:sent + 1000])
            sent += 1000
            time.sleep(0.05)
        self.send_now(bytes(len(body[sent:])))

    def get_trickle503(self):
        """At 60 KB/s and correct; all later requests are refused."""
        if self.nth > 1:
            return self.get_slow503()
        body = self.part_headers()
        for sent in range(0, len(body), 3000):
            self.send_now(body[sent:sent + 3000])
            time.sleep(0.05)

    def get_slowbody(self):
        """At 50 KB/s and correct."""
        body = self.part_headers()
        for sent in range(0, len(body), 5000):
            self.send_now(body[sent:sent + 5000])
            time.sleep(0.1)

    def send_now(self, data):
        self.wfile.write(data)
        self.wfile.flush()

    def get_drip(self):
        for byte in self.part_headers():
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.05)

    def get_contradict(self):
        first, last = self.wanted()
        body = self.part_headers(length=(last - first + 1) // 2)
        self.wfile.write(body[:len(body) // 2])

    def get_longline(self):
        self.wfile.write(b"HTTP/1.1 206 Partial Content\r\nx-long: " + bytes([97]) * (1 << 20))
        self.close_connection = True

    def get_longhead(self):
        self.wfile.write(b"HTTP/1.1 206 Partial Content\r\n" + b"x-line: and another one\r\n" * (1 << 14))
        self.close_connection = True

    def get_shifted(self):
        self.wfile.write(self.part_headers(shift=1))

    def get_grown(self):
        self.wfile.write(self.part_headers(total=OBJECT_BYTES + 1))

    def get_changed(self):
        self.wfile.write(self.part_headers(etag="v2"))

    def get_whole(self):
        self.answer(200, CONTENT, [("ETag", '"v1"')])

    def get_chunked(self):
        first, last = self.wanted()
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{OBJECT_BYTES}")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(first, last + 1, 5000):
            piece = CONTENT[at:min(at + 5000, last + 1)]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def get_endless(self):
        first, last = self.wanted()
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{OBJECT_BYTES}")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(1000):
            self.wfile.write(b"%x\r\n%s\r\n" % (65536, bytes(65536)))

    def get_garbage(self):
        self.wfile.write(b"\x00\xff\x00\xff not http\r\n\r\n")
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # this server expects clients that close connections


def wrap_in_tls(server, folder):
    """The file of a new certificate for localhost, valid for a day."""
    certificate, key = f"{folder}/certificate.pem", f"{folder}/key.pem"
    if not shutil.which("openssl"):
        sys.exit(77)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return certificate


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tls", action="store_true")
    options = parser.parse_args()
    end_with_parent()
    exit_on_sigterm()
    server = Server(("127.0.0.1", 0), Faults)
    with tempfile.TemporaryDirectory(prefix="echoline-tls-") as folder:
        facts = {"endpoint": f"http://127.0.0.1:{server.server_port}", "pid": os.getpid()}
        if options.tls:
            facts = {"endpoint": f"https://localhost:{server.server_port}", "pid": os.getpid(),
                     "ca_file": wrap_in_tls(server, folder)}
        announce(**facts)
        server.serve_forever()


if __name__ == "__main__":
    main()
