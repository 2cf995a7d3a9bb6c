"""A small S3 client for tests: makes buckets and puts objects, and signs the requests."""

import datetime
import hashlib
import hmac
import http.client
import urllib.parse


def _escape(text, safe="-_.~"):
    return urllib.parse.quote(text, safe=safe)


class S3Client:
    """One connection to one server, for one thread."""

    def __init__(self, host, port, access_key, secret_key, region="us-east-1"):
        self.host = f"{host}:{port}"
        self.access_key = access_key
        self.secret_key = secret_key
        self.region = region
        self.connection = http.client.HTTPConnection(host, port, timeout=60)

    def make_bucket(self, bucket):
        status, body = self._send("PUT", f"/{bucket}", b"")
        if status not in (200, 409):
            raise RuntimeError(f"bucket {bucket}: {status} {body!r}")

    def put(self, bucket, key, body):
        """Returns nothing; raises if the server refuses."""
        status, answer = self._send("PUT", f"/{bucket}/{key}", body)
        if status != 200:
            raise RuntimeError(f"{bucket}/{key}: {status} {answer!r}")

    def _send(self, method, path, body):
        target = _escape(path, safe="-_.~/")
        self.connection.request(method, target, body=body, headers=self._headers(method, target, body))
        response = self.connection.getresponse()
        return response.status, response.read()

    def _headers(self, method, target, body):
        now = datetime.datetime.now(datetime.timezone.utc)
        time, date = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
        digest = hashlib.sha256(body).hexdigest()
        signed = {"host": self.host, "x-amz-content-sha256": digest, "x-amz-date": time}
        names = ";".join(signed)
        lines = "".join(f"{name}:{value}\n" for name, value in signed.items())
        request = "\n".join([method, target, "", lines, names, digest])
        scope = f"{date}/{self.region}/s3/aws4_request"
        to_sign = "\n".join(["AWS4-HMAC-SHA256", time, scope,
                             hashlib.sha256(request.encode()).hexdigest()])
        key = ("AWS4" + self.secret_key).encode()
        for part in [date, self.region, "s3", "aws4_request"]:
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
        return signed | {
            "Authorization": f"AWS4-HMAC-SHA256 Credential={self.access_key}/{scope}, "
                             f"SignedHeaders={names}, Signature={signature}"}
