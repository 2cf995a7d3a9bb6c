#!/usr/bin/env python3
"""A proxy between a client and a real HTTP server that spoils random answers, each in one way:

    fault_proxy.py --server HOST:PORT --fault NAME=SHARE [--fault ...] [--seed N] [--first-byte-ms N] [--rate BYTES/S]

    busy     503 SlowDown instead of the answer        later     429 with Retry-After: 1
    expired  403 ExpiredToken instead of the answer    reset     a reset inside the body
    short    the body ends early, the connection too   longer    a length greater than the body, then the end
    less     a length smaller than the body           stall     half of the body, then silence
    flip     one changed byte in the body              mute      no answer, then the end

It spoils only GETs of objects, with --listings also listings, never HEADs. --first-byte-ms delays every answer, --rate
bounds each connection. Prints {"endpoint", "pid"} when ready; on SIGUSR1 it prints {"answers", "spoiled": {NAME: count}}."""

import argparse
import asyncio
import collections
import json
import os
import random
import signal
import socket
import struct

from starter import announce, end_with_parent

SILENCE = 30  # seconds
PIECE = 64 << 10


class Spoiler:
    """Chooses from a seed which answers to spoil and how, in the order of the answers."""

    def __init__(self, options):
        self.shares = [(name, float(share)) for name, _, share in (fault.partition("=") for fault in options.fault)]
        self.random = random.Random(options.seed)
        self.answers, self.spoiled = 0, collections.Counter()

    def draw(self):
        self.answers += 1
        chance = self.random.random()
        for name, share in self.shares:
            if chance < share:
                self.spoiled[name] += 1
                return name
            chance -= share
        return ""

    def tell(self):
        print(json.dumps({"answers": self.answers, "spoiled": self.spoiled}), flush=True)


def error(status, reason, code, more=""):
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>spoiled</Message></Error>"
    return f"HTTP/1.1 {status} {reason}\r\nContent-Length: {len(body)}\r\n{more}\r\n{body}".encode()


INSTEAD = {"busy": error(503, "Slow Down", "SlowDown"), "expired": error(403, "Forbidden", "ExpiredToken"),
           "later": error(429, "Too Many Requests", "SlowDown", "Retry-After: 1\r\n")}


class Gone(Exception):
    """The client has closed its connection."""


class Connection:
    def __init__(self, options, spoiler, reader, writer):
        self.options, self.spoiler, self.client, self.out = options, spoiler, reader, writer

    async def serve(self):
        host, _, port = self.options.server.rpartition(":")
        server, to_server = await asyncio.open_connection(host, int(port), limit=1 << 20)
        try:
            while True:
                request = await self.client.readuntil(b"\r\n\r\n")
                to_server.write(request)
                head = await server.readuntil(b"\r\n\r\n")
                await asyncio.sleep(self.options.first_byte_ms / 1000)
                length = next((int(line.partition(b":")[2]) for line in head.lower().split(b"\r\n")
                               if line.startswith(b"content-length:")), 0)
                if request.startswith(b"HEAD "):
                    self.out.write(head)
                    continue
                body = await server.readexactly(length)
                await self.answer(head, body, self.spoiler.draw() if self.may_spoil(request) else "")
        finally:
            to_server.close()

    def may_spoil(self, request):
        if not request.startswith(b"GET "):
            return False
        return self.options.listings or b"list-type=" not in request.partition(b"\r\n")[0]

    async def answer(self, head, body, fault):
        if fault in INSTEAD:
            return self.out.write(INSTEAD[fault])
        if fault == "mute":
            await asyncio.sleep(1)
            raise Gone
        if fault in ("longer", "less"):
            wrong = len(body) + 7 if fault == "longer" else max(len(body) - 7, 0)
            head = replace_length(head, wrong)
        if fault == "flip" and body:
            place = self.spoiler.random.randrange(len(body))
            body = body[:place] + bytes([body[place] ^ 1 << self.spoiler.random.randrange(8)]) + body[place + 1:]
        part = len(body) // 2 if fault in ("reset", "short", "stall") else len(body)
        self.out.write(head)
        await self.send(body[:part])
        if fault == "stall":
            await asyncio.sleep(SILENCE)
        if fault == "reset":
            self.out.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if fault in ("reset", "short", "stall", "longer", "less"):
            raise Gone

    async def send(self, body):
        for at in range(0, len(body), PIECE):
            piece = body[at:at + PIECE]
            self.out.write(piece)
            await self.out.drain()
            if self.options.rate:
                await asyncio.sleep(len(piece) / self.options.rate)


def replace_length(head, length):
    lines = head.split(b"\r\n")
    return b"\r\n".join(b"Content-Length: %d" % length if line.lower().startswith(b"content-length:") else line
                        for line in lines)


async def serve_one(options, spoiler, reader, writer):
    try:
        await Connection(options, spoiler, reader, writer).serve()
    except (Gone, OSError, asyncio.IncompleteReadError):
        pass  # one side closed its connection
    finally:
        writer.close()


async def serve(options):
    spoiler = Spoiler(options)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, spoiler.tell)
    loop.add_signal_handler(signal.SIGTERM, os._exit, 0)  # with all requests in flight
    server = await asyncio.start_server(lambda reader, writer: serve_one(options, spoiler, reader, writer),
                                        "127.0.0.1", options.port, backlog=512, limit=1 << 20)
    announce(endpoint=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", pid=os.getpid())
    async with server:
        await server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=SHARE")
    parser.add_argument("--listings", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first-byte-ms", type=float, default=0)
    parser.add_argument("--rate", type=float, default=0, help="bytes/s of a connection")
    options = parser.parse_args()
    end_with_parent()
    asyncio.run(serve(options))


if __name__ == "__main__":
    main()
