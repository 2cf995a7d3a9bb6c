#!/usr/bin/env python3
"""A fake of the services that issue credentials: AWS's instance metadata (version 2 only), container service
and STS, Google's OAuth tokens and metadata server. Each answer is a new set: keys KEY-1, KEY-2, ... (or
--access-key and --secret-key, for a store that checks them) and tokens ya29.test-1, ya29.test-2, ..., with
-write at the end if requested, valid for --lifetime seconds. It requires the same as the real services:
session tokens, flavour headers, and statements signed with the private key in the file "key_file". GET /count
returns the number of issued sets; GET /fail?count=N makes the next N requests fail. Prints {"endpoint",
"host", "key_file", "user_file", "token_file", "pid"} when ready. Exit code 77 without `openssl`."""

import argparse
import base64
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from starter import Handler, announce, end_with_parent, exit_on_sigterm, local_server

LOCK = threading.Lock()
STATE = {"issued": 0, "fail": 0}
OPTIONS = None
FOLDER = None
SESSION = "session-of-this-server"
SECRETS = {"web": "web-identity-hush", "container": "container-hush", "refresh": "refresh-hush",
           "client": "client-hush"}


def issue():
    with LOCK:
        STATE["issued"] += 1
        return STATE["issued"]


def aws_set():
    number = issue()
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=OPTIONS.lifetime)
    return {"Code": "Success", "AccessKeyId": OPTIONS.access_key or f"KEY-{number}",
            "SecretAccessKey": OPTIONS.secret_key or f"secret-hush-{number}",
            "Token": "" if OPTIONS.access_key else f"token-hush-{number}",
            "Expiration": end.strftime("%Y-%m-%dT%H:%M:%SZ")}


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def is_scope(text):
    return text.removeprefix("https://www.googleapis.com/auth/devstorage.") in ("read_only", "read_write")


def statement_error(assertion, audience):
    """The error in a service account's statement; empty if it is valid."""
    header, claims, signature = assertion.split(".")
    (FOLDER / "signature").write_bytes(decoded(signature))
    check = subprocess.run(["openssl", "dgst", "-sha256", "-verify", FOLDER / "public.pem", "-signature",
                            FOLDER / "signature"], input=f"{header}.{claims}".encode(), capture_output=True)
    if check.returncode != 0:
        return "bad signature"
    header, claims = json.loads(decoded(header)), json.loads(decoded(claims))
    now = time.time()
    if header.get("alg") != "RS256" or header.get("kid") != "key-number-1":
        return "bad header"
    if claims["iss"] != "reader@project.example" or claims["aud"] != audience:
        return "bad issuer or audience"
    if not is_scope(claims["scope"]):
        return "bad scope"
    if not (claims["iat"] - 10 < now < claims["exp"] <= claims["iat"] + 3600):
        return "bad times"
    return None


class Services(Handler):
    def fails(self):
        with LOCK:
            if STATE["fail"] == 0:
                return False
            STATE["fail"] -= 1
        self.answer(503, json.dumps({"error": "unavailable"}))
        return True

    def do_GET(self):
        path, _, query = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        if path == "/count":
            return self.answer(200, str(STATE["issued"]))
        if path == "/fail":
            STATE["fail"] = int(query["count"])
            return self.answer(200, "")
        if self.fails():
            return None
        if path.startswith("/latest/meta-data/iam/security-credentials/"):
            return self.instance(path.rsplit("/", 1)[1])
        if path == "/container":
            if self.headers.get("Authorization") != SECRETS["container"]:
                return self.answer(401, json.dumps({"code": "Unauthorized", "message": "hush"}))
            return self.answer(200, json.dumps(aws_set()))
        if path.startswith("/computeMetadata/v1/instance/service-accounts/default/token"):
            if self.headers.get("Metadata-Flavor") != "Google" or not is_scope(query.get("scopes", "")):
                return self.answer(403, "no flavour")
            return self.answer(200, self.token(query["scopes"]), [("Metadata-Flavor", "Google")])
        return self.answer(404, "")

    def instance(self, role):
        if self.headers.get("X-aws-ec2-metadata-token") != SESSION:
            return self.answer(401, "")
        return self.answer(200, json.dumps(aws_set()) if role == "trainer" else "trainer\n")

    def token(self, scope):
        end = "-write" if scope.endswith("read_write") else ""
        return json.dumps({"access_token": f"ya29.test-{issue()}{end}", "expires_in": OPTIONS.lifetime,
                           "token_type": "Bearer"})

    def do_PUT(self):
        if self.fails():
            return None
        good = self.path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
        return self.answer(200 if good else 400, SESSION if good else "")

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        if self.fails():
            return None
        return self.oauth(form) if self.path == "/token" else self.sts(form)

    def oauth(self, form):
        if form["grant_type"] == "refresh_token":
            good = form["refresh_token"] == SECRETS["refresh"] and form["client_secret"] == SECRETS["client"]
            error = None if good else "hush"
            scope = "read_write"  # the user logged in with these rights
        else:
            error = statement_error(form["assertion"], f"http://{self.headers['Host']}/token")
            scope = json.loads(decoded(form["assertion"].split(".")[1]))["scope"]
        if error:
            return self.answer(400, json.dumps({"error": "invalid_grant", "error_description": error}))
        return self.answer(200, self.token(scope))

    def sts(self, form):
        if form.get("WebIdentityToken") != SECRETS["web"] or form.get("Version") != "2011-06-15":
            return self.answer(400, "<ErrorResponse><Error><Code>InvalidIdentityToken</Code>"
                                    f"<Message>{form.get('WebIdentityToken')}</Message></Error></ErrorResponse>")
        made = aws_set()
        return self.answer(200, "<AssumeRoleWithWebIdentityResponse xmlns='urn:test'>"
                                "<AssumeRoleWithWebIdentityResult><Credentials>"
                                f"<AccessKeyId>{made['AccessKeyId']}</AccessKeyId>"
                                f"<SecretAccessKey>{made['SecretAccessKey']}</SecretAccessKey>"
                                f"<SessionToken>{made['Token']}</SessionToken>"
                                f"<Expiration>{made['Expiration']}</Expiration></Credentials>"
                                f"<Arn>{form['RoleArn']}</Arn></AssumeRoleWithWebIdentityResult>"
                                "</AssumeRoleWithWebIdentityResponse>")


def write_files(endpoint):
    if not shutil.which("openssl"):
        sys.exit(77)
    run = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True).stdout
    key = run("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
    (FOLDER / "private.pem").write_bytes(key)
    (FOLDER / "public.pem").write_bytes(run("pkey", "-in", str(FOLDER / "private.pem"), "-pubout"))
    (FOLDER / "key.json").write_text(json.dumps({
        "type": "service_account", "client_email": "reader@project.example", "private_key_id": "key-number-1",
        "private_key": key.decode(), "token_uri": f"{endpoint}/token"}))
    (FOLDER / "user.json").write_text(json.dumps({
        "type": "authorized_user", "client_id": "client", "client_secret": SECRETS["client"],
        "refresh_token": SECRETS["refresh"], "token_uri": f"{endpoint}/token"}))
    (FOLDER / "web-token").write_text(SECRETS["web"] + "\n")


def main():
    global OPTIONS, FOLDER
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lifetime", type=int, default=3600)
    parser.add_argument("--access-key", default="")
    parser.add_argument("--secret-key", default="")
    OPTIONS = parser.parse_args()
    end_with_parent()
    exit_on_sigterm()
    server = local_server(Services)
    host = f"127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory(prefix="echoline-credentials-") as folder:
        FOLDER = pathlib.Path(folder)
        write_files(f"http://{host}")
        announce(endpoint=f"http://{host}", host=host, key_file=f"{folder}/key.json",
                 user_file=f"{folder}/user.json", token_file=f"{folder}/web-token", pid=os.getpid())
        server.serve_forever()


if __name__ == "__main__":
    main()
