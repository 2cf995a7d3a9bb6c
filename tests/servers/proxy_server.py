#!/usr/bin/env python3
"""A small HTTP proxy: forwards GET and HEAD and opens tunnels (CONNECT). It resolves names under .test to
127.0.0.1, which shows that a request came through it. GET /count returns the number of requests.
Prints {"endpoint", "pid"} when ready."""

import http.client
import os
import select
import socket
import urllib.parse

from starter import Handler, announce, end_with_parent, exit_on_sigterm, local_server

COUNT = 0


def place(netloc):
    host, _, port = netloc.partition(":")
    return ("127.0.0.1" if host.endswith(".test") else host), int(port or 80)


class Proxy(Handler):
    def do_GET(self):
        global COUNT
        if self.path == "/count":
            return self.answer(200, str(COUNT).encode())
        COUNT += 1
        url = urllib.parse.urlsplit(self.path)
        connection = http.client.HTTPConnection(*place(url.netloc), timeout=30)
        kept = {name: value for name, value in self.headers.items()
                if not name.lower().startswith("proxy-")}
        connection.request(self.command, url._replace(scheme="", netloc="").geturl(), headers=kept)
        response = connection.getresponse()
        headers = [pair for pair in response.getheaders()
                   if pair[0].lower() not in ("transfer-encoding", "connection")]
        return self.answer(response.status, response.read(), headers)

    do_HEAD = do_GET

    def do_CONNECT(self):
        global COUNT
        COUNT += 1
        with socket.create_connection(place(self.path), timeout=30) as other:
            self.send_response(200)
            self.end_headers()
            ends = {self.connection: other, other: self.connection}
            while True:
                for end in select.select(list(ends), [], [], 30)[0]:
                    data = end.recv(65536)
                    if not data:
                        self.close_connection = True
                        return
                    ends[end].sendall(data)


def main():
    end_with_parent()
    exit_on_sigterm()
    server = local_server(Proxy)
    announce(endpoint=f"http://127.0.0.1:{server.server_port}", pid=os.getpid())
    server.serve_forever()


if __name__ == "__main__":
    main()
