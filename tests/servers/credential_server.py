#!/usr/bin/env python3
"""A fake of the services that issue credentials: AWS's instance metadata (version 2 only), container service,
STS and single sign-on, Google's OAuth tokens, token exchange, impersonation and metadata server. Each answer is a new set: keys KEY-1, KEY-2, ... (or
--access-key and --secret-key, for a store that checks them) and tokens ya29.test-1, ya29.test-2, ..., with
-write at the end if requested, valid for --lifetime seconds. It requires the same as the real services:
session tokens, flavour headers, statements signed with the private key in the file "key_file", and for AssumeRole a
signature by KEY-BASE with "base-hush", or by keys that it has issued itself. It refuses roles whose name ends with
"refused". GET /asked returns what was asked last, as JSON; GET /count
returns the number of issued sets; GET /fail?count=N makes the next N requests fail. Prints {"endpoint",
"host", "key_file", "user_file", "token_file", "pid"} when ready. Exit code 77 without `openssl`."""

import argparse
import base64
import datetime
import hashlib
import hmac
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
LAST = {}
KEYS = {"KEY-BASE": "base-hush"}  # access key -> secret key
SECRETS = {"sso": "sso-hush", "sso-refresh": "sso-refresh-hush", "subject": "subject-hush", "web": "web-identity-hush", "container": "container-hush", "refresh": "refresh-hush",
           "client": "client-hush"}


def issue():
    with LOCK:
        STATE["issued"] += 1
        return STATE["issued"]


def aws_set():
    number = issue()
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=OPTIONS.lifetime)
    KEYS[f"KEY-{number}"] = f"secret-hush-{number}"
    return {"Code": "Success", "AccessKeyId": OPTIONS.access_key or f"KEY-{number}",
            "SecretAccessKey": OPTIONS.secret_key or f"secret-hush-{number}",
            "Token": "" if OPTIONS.access_key else f"token-hush-{number}",
            "Expiration": end.strftime("%Y-%m-%dT%H:%M:%SZ")}


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def is_scope(text):
    return text.removeprefix("https://www.googleapis.com/auth/devstorage.") in ("read_only", "read_write")


def is_source_scope(text):
    """Of a token that may impersonate a service account."""
    return is_scope(text) or text == "https://www.googleapis.com/auth/cloud-platform"


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
    if not is_source_scope(claims["scope"]):
        return "bad scope"
    if not (claims["iat"] - 10 < now < claims["exp"] <= claims["iat"] + 3600):
        return "bad times"
    return None


def signature_error(headers, body, service):
    """The error in AWS's Signature Version 4 of a POST to "/"; empty if it is right."""
    words = headers.get("Authorization", "").replace(",", " ").split()
    if not words or words[0] != "AWS4-HMAC-SHA256":
        return "MissingAuthenticationToken"
    parts = dict(word.split("=", 1) for word in words[1:])
    access_key, *scope = parts["Credential"].split("/")
    if access_key not in KEYS:
        return "InvalidClientTokenId"
    if scope[2:] != [service, "aws4_request"]:
        return "SignatureDoesNotMatch"
    names = parts["SignedHeaders"].split(";")
    lines = "".join(f"{name}:{headers[name].strip()}\n" for name in names)
    request = "\n".join(["POST", "/", "", lines, parts["SignedHeaders"], hashlib.sha256(body).hexdigest()])
    to_sign = "\n".join(["AWS4-HMAC-SHA256", headers["X-Amz-Date"], "/".join(scope),
                         hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + KEYS[access_key]).encode()
    for part in scope:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    right = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    return "" if "host" in names and right == parts["Signature"] else "SignatureDoesNotMatch"


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
        if path == "/asked":
            return self.answer(200, json.dumps(LAST))
        if path == "/fail":
            STATE["fail"] = int(query["count"])
            return self.answer(200, "")
        if self.fails():
            return None
        if path.startswith("/latest/meta-data/iam/security-credentials/"):
            return self.instance(path.rsplit("/", 1)[1])
        if path == "/federation/credentials":
            return self.single_sign_on(query)
        if path == "/subject":
            good = self.headers.get("X-Test") == "yes"
            return self.answer(200 if good else 403, json.dumps({"token": SECRETS["subject"]}))
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
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_json = self.headers["Content-Type"] == "application/json"
        form = json.loads(body) if is_json else dict(urllib.parse.parse_qsl(body.decode()))
        LAST.clear()
        LAST.update(form)
        if self.fails():
            return None
        if form.get("Action") == "AssumeRole":
            return self.assume_role(form, body)
        if form.get("grantType") == "refresh_token":
            return self.renew_single_sign_on(form)
        if self.path.startswith("/impersonate/"):
            return self.impersonate(form)
        if form.get("grant_type", "").endswith(":token-exchange"):
            return self.exchange(form)
        return self.oauth(form) if self.path == "/token" else self.sts(form)

    def single_sign_on(self, query):
        LAST.clear()
        LAST.update(query)
        if self.headers.get("x-amz-sso_bearer_token") != SECRETS["sso"]:
            return self.answer(401, json.dumps({"message": "Session token not found or invalid hush"}))
        made = aws_set()
        return self.answer(200, json.dumps({"roleCredentials": {
            "accessKeyId": made["AccessKeyId"], "secretAccessKey": made["SecretAccessKey"],
            "sessionToken": made["Token"], "expiration": int((time.time() + OPTIONS.lifetime) * 1000)}}))

    def renew_single_sign_on(self, form):
        good = (form["refreshToken"] == SECRETS["sso-refresh"] and form["clientId"] == "client" and
                form["clientSecret"] == SECRETS["client"] and self.path == "/token")
        if not good:
            return self.answer(400, json.dumps({"error": "invalid_grant", "error_description": "hush"}))
        SECRETS["sso-refresh"] += "-next"
        return self.answer(200, json.dumps({"accessToken": SECRETS["sso"], "expiresIn": 3600, "tokenType": "Bearer",
                                            "refreshToken": SECRETS["sso-refresh"]}))

    def exchange(self, form):
        client = "Basic " + base64.b64encode(f"client:{SECRETS['client']}".encode()).decode()
        error = ("invalid_grant" if form.get("subject_token") != SECRETS["subject"] else
                 "invalid_client" if self.headers.get("Authorization", client) != client else
                 "invalid_target" if not form.get("audience", "").startswith("//iam.googleapis.com/") else
                 "unsupported_token_type" if form.get("subject_token_type") != "urn:ietf:params:oauth:token-type:jwt" or
                 form.get("requested_token_type") != "urn:ietf:params:oauth:token-type:access_token" else None)
        if error:
            return self.answer(400, json.dumps({"error": error, "error_description": form.get("subject_token")}))
        return self.answer(200, self.token(form["scope"]))

    def impersonate(self, form):
        if not self.headers.get("Authorization", "").startswith("Bearer ya29.test-") or not is_scope(form["scope"][0]):
            return self.answer(403, json.dumps({"error": {"message": "hush"}}))
        seconds = int(form["lifetime"].removesuffix("s"))
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
        return self.answer(200, json.dumps({"accessToken": f"ya29.as-account-{issue()}",
                                            "expireTime": end.strftime("%Y-%m-%dT%H:%M:%SZ")}))

    def assume_role(self, form, body):
        error = signature_error(self.headers, body, "sts")
        if not error and form["RoleArn"].endswith("refused"):
            error = "AccessDenied"
        if error:
            return self.answer(403, f"<ErrorResponse><Error><Code>{error}</Code><Message>hush</Message></Error>"
                                    "</ErrorResponse>")
        return self.sts_answer("AssumeRole", form)

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
        return self.sts_answer("AssumeRoleWithWebIdentity", form)

    def sts_answer(self, action, form):
        made = aws_set()
        return self.answer(200, f"<{action}Response xmlns='urn:test'><{action}Result><Credentials>"
                                f"<AccessKeyId>{made['AccessKeyId']}</AccessKeyId>"
                                f"<SecretAccessKey>{made['SecretAccessKey']}</SecretAccessKey>"
                                f"<SessionToken>{made['Token']}</SessionToken>"
                                f"<Expiration>{made['Expiration']}</Expiration></Credentials>"
                                f"<Arn>{form['RoleArn']}</Arn></{action}Result></{action}Response>")


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
