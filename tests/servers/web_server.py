#!/usr/bin/env python3
"""Starts nginx on free ports of 127.0.0.1 (or of --address), over http and, with its own certificate authority, over
https as localhost. Serves the folder "root" at /. /moved/ redirects to /, /secure/ to https, /unsafe/ to http, /loop/
for ever; /dated/ sends no ETags, /bare/ no ETag and no date, /whole/ no ranges; /locked/ refuses. Prints
{"endpoint", "secure", "root", "ca_file", "pid"} when ready. --log FILE gets a line for each answer: client, path, status,
bytes, range. Exit code 77 without `nginx` or `openssl`."""

import argparse
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from starter import announce, end_with_parent, exit_on_sigterm, free_ports

CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log stderr error;
events {{ worker_connections 512; }}
http {{
  map $http_range $asked {{ default $http_range; '' -; }}
  log_format answers '$remote_addr $uri $status $body_bytes_sent $asked';
  access_log {log}; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5; absolute_redirect off;
  server {{
    listen {address}:{port}; listen {address}:{tls_port} ssl;
    ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/server.key;
    root {folder}/files;
    location /moved/ {{ rewrite ^/moved/(.*)$ /$1 redirect; }}
    location /secure/ {{ rewrite ^/secure/(.*)$ https://localhost:{tls_port}/$1 redirect; }}
    location /unsafe/ {{ rewrite ^/unsafe/(.*)$ http://{address}:{port}/$1 redirect; }}
    location /loop/ {{ rewrite ^/loop/(.*)$ /loop/x$1 redirect; }}
    location /dated/ {{ alias {folder}/files/; etag off; }}
    location /bare/ {{ alias {folder}/files/; etag off; if_modified_since off; add_header Last-Modified ""; }}
    location /whole/ {{ alias {folder}/files/; max_ranges 0; }}
    location /locked/ {{ return 403; }}
  }}
}}
"""


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def make_certificates(folder):
    subject = folder / "subject"
    subject.write_text("subjectAltName=DNS:localhost\n")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=Echoline test authority",
            "-keyout", f"{folder}/ca.key", "-out", f"{folder}/ca.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", f"{folder}/server.key",
            "-out", f"{folder}/server.csr")
    openssl("x509", "-req", "-in", f"{folder}/server.csr", "-CA", f"{folder}/ca.pem", "-CAkey", f"{folder}/ca.key",
            "-CAcreateserial", "-days", "1", "-extfile", str(subject), "-out", f"{folder}/server.pem")


def wait_until_ready(process, address, port):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection((address, port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit("nginx did not start")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--log")
    options = parser.parse_args()
    end_with_parent()
    exit_on_sigterm()
    nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not nginx or not shutil.which("openssl"):
        print("nginx and openssl are needed: deploy/install-packages.sh test", file=sys.stderr)
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="echoline-web-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "files").mkdir()
        make_certificates(folder)
        port, tls_port = free_ports(2)
        user = "user root;" if os.geteuid() == 0 else ""
        text = user + CONFIGURATION.format(folder=folder, port=port, tls_port=tls_port, address=options.address,
                                           log=f"{options.log} answers" if options.log else "off")
        (folder / "nginx.conf").write_text(text)
        process = subprocess.Popen([nginx, "-e", "stderr", "-p", name, "-c", f"{name}/nginx.conf"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   preexec_fn=lambda: end_with_parent(signal.SIGKILL))
        try:
            wait_until_ready(process, options.address, port)
            announce(endpoint=f"http://{options.address}:{port}", secure=f"https://localhost:{tls_port}",
                     root=f"{name}/files", ca_file=f"{name}/ca.pem", pid=os.getpid())
            process.wait()
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
