#!/usr/bin/env python3
"""A server with the documented interface of the Hugging Face Hub for data sets, and on a second port the storage that it
redirects to: revision, tree with pages, paths-info, resolve; gated and private data sets, 429, signed addresses that
expire. The storage answers 400 to a request that carries a token, and counts it. Prints {"endpoint", "storage", "pid"}
when ready.

POST /test/commit?repo=&branch=&path= with the bytes of a file makes a commit, whose name is the answer.
GET /test/set?NAME=VALUE changes how it answers (SETTINGS). GET /test/counts is what it was asked."""

import argparse
import base64
import collections
import hashlib
import json
import os
import pathlib
import re
import threading
import urllib.parse

from starter import Handler, announce, end_with_parent, exit_on_sigterm, local_server

SETTINGS = {
    "token": "",          # the only token that is accepted
    "private": "",        # without a token the data set seems to be missing
    "gated": "",          # "1": only with a token; "2": no account has accepted the terms
    "page": "1000",       # entries in a page of tree
    "throttle": "0",      # how many of the next requests to the Hub are answered with 429
    "wait": "Retry-After: 1",  # the header of such an answer
    "lifetime": "1000000",     # how many requests an address of the storage is good for
    "downgrade": "",      # redirects lead to an address that is none
    "circle": "",         # redirects lead back to the Hub
}
COUNTS = collections.Counter()
LOCK = threading.Lock()
REPOS = {}    # {name: {"branches": {name: commit}, "commits": {commit: {path: bytes}}}}
ISSUED = {}   # {signature: requests that it is still good for}
MOVED = {"photos/old": "photos/set"}
SMALL = (".md", ".txt", ".json", ".jsonl")  # not in the large file storage


def commit(repo, branch, path, content):
    data = REPOS.setdefault(repo, {"branches": {}, "commits": {}})
    parent = data["branches"].get(branch, "")
    files = {**data["commits"].get(parent, {}), path: content}
    name = hashlib.sha1(f"{parent} {path}".encode() + content).hexdigest()
    data["commits"][name], data["branches"][branch] = files, name
    return name


def is_large(path):
    return not path.endswith(SMALL)


def entry(path, content):
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    made = {"type": "file", "oid": blob, "size": len(content), "path": path}
    if is_large(path):
        made["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
    return made


def tree(files, folder, recursive):
    """The entries below a folder, folders before their files, as the Hub has them; None if there is no such folder."""
    start = folder + "/" if folder else ""
    below = {path: content for path, content in sorted(files.items()) if path.startswith(start)}
    if not below:
        return None
    made, folders = [], set()
    for path, content in below.items():
        parts = path[len(start):].split("/")
        for depth in range(1, len(parts) if recursive else min(2, len(parts))):
            name = start + "/".join(parts[:depth])
            if name not in folders:
                folders.add(name)
                made.append({"type": "directory", "oid": hashlib.sha1(name.encode()).hexdigest(), "size": 0, "path": name})
        if recursive or len(parts) == 1:
            made.append(entry(path, content))
    return made


def answer_range(handler, content, headers):
    wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range", ""))
    if not wanted:
        return handler.answer(200, b"" if handler.command == "HEAD" else content,
                              [*headers, ("Content-Length", str(len(content)))])
    begin, end = int(wanted[1]), min(int(wanted[2] or len(content)) + 1, len(content))
    if begin >= end:
        return handler.answer(416, b"", headers)
    return handler.answer(206, content[begin:end], [*headers, ("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")])


class Storage(Handler):
    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        signature = dict(urllib.parse.parse_qsl(parts.query)).get("X-Amz-Signature", "")
        with LOCK:
            COUNTS["storage"] += 1
            if "Authorization" in self.headers:
                COUNTS["leaks"] += 1
                return self.answer(400, b"Only one auth mechanism allowed")
            if ISSUED.get(signature, 0) == 0:
                COUNTS["expired"] += 1
                return self.answer(403, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>")
            ISSUED[signature] -= 1
        oid = parts.path.strip("/")
        for data in REPOS.values():
            for files in data["commits"].values():
                for content in files.values():
                    if hashlib.sha256(content).hexdigest() == oid:
                        return answer_range(self, content, [("ETag", f'"{oid[:32]}"')])
        return self.answer(404, b"")


class Hub(Handler):
    def refuse(self, status, error, code="", more=()):
        body = b"" if self.command == "HEAD" else json.dumps({"error": error}).encode()
        self.answer(status, body, [("X-Error-Message", error), *([("X-Error-Code", code)] if code else []), *more])

    def do_POST(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        if parts.path.startswith("/test/"):
            return self.control(parts.path[6:])
        COUNTS["hub"] += 1
        with LOCK:
            throttled = int(SETTINGS["throttle"]) > 0
            SETTINGS["throttle"] = str(max(int(SETTINGS["throttle"]) - 1, 0))
        if throttled:
            COUNTS["throttled"] += 1
            return self.refuse(429, "You have reached your rate limit", more=[SETTINGS["wait"].split(": ", 1)])
        # Split before decoding: a / in a revision or a path may be %2F.
        match = re.fullmatch(r"/(?:api/)?datasets/([^/]+/[^/]+)/(revision|tree|paths-info|resolve)/([^/]+)(?:/(.*))?", parts.path)
        cached = re.fullmatch(r"/api/resolve-cache/datasets/([^/]+/[^/]+)/([^/]+)/(.*)", parts.path)
        if cached:
            match = re.fullmatch(r"(.*) (.*) (.*) (.*)", f"{cached[1]} cache {cached[2]} {cached[3]}")
        if not match:
            return self.refuse(404, "Not found")
        if match[1] in MOVED:
            return self.answer(307, b"", [("Location", self.path.replace(match[1], MOVED[match[1]]))])
        return self.answer_about(match[1], match[2], urllib.parse.unquote(match[3]), urllib.parse.unquote(match[4] or ""))

    def control(self, what):
        if what == "commit":
            name = commit(self.query["repo"], self.query.get("branch", "main"), self.query["path"], self.body)
            return self.answer(200, name)
        if what == "set":
            SETTINGS.update(self.query)
            return self.answer(200, b"")
        if what == "expire":
            ISSUED.clear()
            return self.answer(200, b"")
        return self.answer(200, json.dumps(COUNTS))

    def admits(self, repo, what):
        """Whether the token allows it; if not, answers."""
        proof = self.headers.get("Authorization", "")
        has_token = proof != ""
        if has_token and proof != f"Bearer {SETTINGS['token']}":
            self.refuse(401, f"Invalid credentials in Authorization header {proof}")
        elif repo not in REPOS or (SETTINGS["private"] and not has_token):
            self.refuse(404 if has_token else 401, "Repository not found", "RepoNotFound")
        elif SETTINGS["gated"] and not has_token and what in ("resolve", "cache"):
            self.refuse(401, f"Access to dataset {repo} is restricted", "GatedRepo")
        elif SETTINGS["gated"] == "2" and what in ("resolve", "cache"):
            self.refuse(403, f"Access to dataset {repo} is restricted", "GatedRepo")
        else:
            return True
        return False

    def answer_about(self, repo, what, revision, path):
        if not self.admits(repo, what):
            return None
        name = REPOS[repo]["branches"].get(revision, revision)
        files = REPOS[repo]["commits"].get(name)
        if files is None:
            return self.refuse(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        COUNTS[what] += 1
        if what == "revision":
            more = {} if "expand" in self.query else {"siblings": [{"rfilename": each} for each in sorted(files)]}
            return self.answer_json({"_id": "621ffdd236468d709f181d58", "id": repo, "sha": name, **more})
        if what == "tree":
            return self.answer_tree(files, path)
        if what == "paths-info":
            return self.answer_json([entry(each, files[each]) for each in self.asked_paths() if each in files])
        if path not in files:
            return self.refuse(404, "Entry not found", "EntryNotFound")
        return self.answer_file(repo, what, name, path, files[path])

    def asked_paths(self):
        if self.headers.get("Content-Type") == "application/json":
            return json.loads(self.body)["paths"]
        return urllib.parse.parse_qs(self.body.decode())["paths"]

    def answer_json(self, content, headers=()):
        self.answer(200, json.dumps(content), [("Content-Type", "application/json; charset=utf-8"), *headers])

    def answer_tree(self, files, folder):
        entries = tree(files, folder, self.query.get("recursive", "").lower() in ("true", "1"))
        if entries is None:
            return self.refuse(404, f"{folder} does not exist", "EntryNotFound")
        first = int(base64.b64decode(self.query["cursor"])) if "cursor" in self.query else 0
        end, links = first + int(SETTINGS["page"]), []
        if end < len(entries):
            cursor = base64.b64encode(f"{end:04d}".encode()).decode()  # with = at the end
            query = urllib.parse.urlencode({**self.query, "cursor": cursor})
            path = urllib.parse.urlsplit(self.path).path
            links = [("Link", f'<http://{self.headers["Host"]}{path}?{query}>; rel="next"')]
        return self.answer_json(entries[first:end], links)

    def answer_file(self, repo, what, name, path, content):
        made = entry(path, content)
        headers = [("X-Repo-Commit", name), ("Accept-Ranges", "bytes")]
        if not is_large(path):
            if what == "cache":
                return answer_range(self, content, [*headers, ("ETag", f'"{made["oid"]}"')])
            target = f"/api/resolve-cache/datasets/{repo}/{name}/{urllib.parse.quote(path, safe='')}"
            return self.answer(307, b"", [*headers, ("Location", target), ("X-Linked-Size", str(len(content)))])
        with LOCK:
            signature = os.urandom(16).hex()
            ISSUED[signature] = int(SETTINGS["lifetime"])
        target = f"{STORAGE}/{made['lfs']['oid']}?X-Amz-Expires=3600&X-Amz-Signature={signature}"
        if SETTINGS["downgrade"]:
            target = "ftp" + target[4:]
        if SETTINGS["circle"]:
            target = self.path
        self.answer(302, b"", [*headers, ("Location", target), ("X-Linked-Size", str(len(content))),
                               ("X-Linked-Etag", f'"{made["lfs"]["oid"]}"')])


def main():
    global STORAGE
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--put", action="append", default=[], metavar="FILE=OWNER/NAME/PATH")
    options = parser.parse_args()
    end_with_parent()
    exit_on_sigterm()
    for each in options.put:
        file, _, place = each.partition("=")
        owner, name, path = place.split("/", 2)
        commit(f"{owner}/{name}", "main", path, pathlib.Path(file).read_bytes())
    storage, hub = local_server(Storage), local_server(Hub)
    STORAGE = f"http://localhost:{storage.server_port}"
    threading.Thread(target=storage.serve_forever, daemon=True).start()
    announce(endpoint=f"http://127.0.0.1:{hub.server_port}", storage=STORAGE, pid=os.getpid())
    hub.serve_forever()


if __name__ == "__main__":
    main()
