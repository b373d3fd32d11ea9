"""A front end like Google's for a storage emulator on this machine: a token endpoint that verifies signatures, access tokens,
preconditions (ifGenerationMatch), pages of lists, and interrupted uploads.

    google.py PORT EMULATOR_PORT

It writes service-account.json into the current folder. POST /control with JSON changes its behaviour, GET /control returns a report.
"""

import base64
import http.client
import json
import os
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

port, emulator = int(sys.argv[1]), int(sys.argv[2])
email = "kit@project.iam.gserviceaccount.com"
token_uri = f"http://127.0.0.1:{port}/token"
key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
kept = 256 << 10

lock = threading.Lock()
tokens = {}  # access token -> when it ends
needed = {}  # upload_id -> the generation that must be there
settings = {"page": 1000, "expires_in": 3600, "skew": 0, "token": None, "flip": False, "cut": None, "cuts": 1, "fail": []}
report = {"grants": 0, "received": 0, "ranges": []}


def write_key_file():
    file = {
        "type": "service_account",
        "client_email": email,
        "private_key_id": "key-1",
        "private_key": key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode(),
        "token_uri": token_uri,
    }
    with open(os.open("service-account.json", os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
        json.dump(file, out)


def decode(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def grant(form):
    """RFC 7523. Returns a status and an answer."""
    if form.get("grant_type") != ["urn:ietf:params:oauth:grant-type:jwt-bearer"]:
        return 400, {"error": "unsupported_grant_type", "error_description": "Invalid grant_type"}
    header, claims, signature = form["assertion"][0].split(".")
    try:
        key.public_key().verify(decode(signature), f"{header}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        return 400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
    header, claims = json.loads(decode(header)), json.loads(decode(claims))
    now = time.time() + settings["skew"]
    if header["alg"] != "RS256" or header["kid"] != "key-1" or claims["iss"] != email or claims["aud"] != token_uri:
        return 400, {"error": "invalid_grant", "error_description": "Invalid JWT."}
    if not claims["iat"] - 300 < now < claims["exp"] or claims["exp"] - claims["iat"] > 3600:
        text = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values."
        return 400, {"error": "invalid_grant", "error_description": text}
    if claims["scope"] != "https://www.googleapis.com/auth/devstorage.read_write":
        return 400, {"error": "invalid_scope"}
    with lock:
        report["grants"] += 1
        token = f"ya29.{report['grants']}"
        tokens[token] = time.time() + settings["expires_in"]
    return 200, {"access_token": token, "expires_in": settings["expires_in"], "token_type": "Bearer"}


def ask(method, path, body=None, headers={}):
    """The emulator's answer: status, headers, body."""
    connection = http.client.HTTPConnection("127.0.0.1", emulator)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), content


def generation(bucket, name):
    status, _, body = ask("GET", f"/storage/v1/b/{bucket}/o/{urllib.parse.quote(name, safe='')}")
    return int(json.loads(body)["generation"]) if status == 200 else 0


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, content, headers={}):
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "date", "server", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def refuse(self, status, reason, message, headers={}):
        self.reply(status, {"error": {"code": status, "message": message, "errors": [{"reason": reason}]}}, headers)

    def body(self):
        """The body. It is shorter than its length if the connection ends early, or is cut here: after "cut" bytes of all chunks,
        for "cuts" requests."""
        length = int(self.headers.get("Content-Length") or 0)
        body = bytearray()
        while len(body) < length:
            with lock:
                cut = settings["cut"]
                if cut is not None and report["received"] + len(body) >= cut:
                    settings["cuts"] -= 1
                    if settings["cuts"] == 0:
                        settings["cut"] = None
                    break
            try:
                piece = self.rfile.read1(min(1 << 16, length - len(body)))
            except OSError:
                piece = b""
            if not piece:
                break
            body += piece
        return bytes(body), length

    def answer(self):
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query)
        body, length = self.body()
        if len(body) < length and "upload_id" not in query:
            # The emulator would wait for the rest, and serve no other client.
            self.close_connection = True
            return
        if url.path == "/control":
            if body:
                change = json.loads(body)
                with lock:
                    if change.pop("revoke", None):
                        tokens.clear()
                    settings.update(change)
            return self.reply(200, report)
        if url.path == "/token":
            if settings["token"]:
                return self.refuse(settings["token"]["status"], "", "", settings["token"]["headers"])
            return self.reply(*grant(urllib.parse.parse_qs(body.decode())))
        for failure in settings["fail"]:
            if failure["method"] == self.command and failure["times"] > 0:
                failure["times"] -= 1
                return self.refuse(
                    failure["status"], failure.get("reason", ""), failure.get("message", ""), failure.get("headers", {}))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "authorization")}
        headers["Host"] = self.headers["Host"]
        if "upload_id" in query:
            return self.chunk(query["upload_id"][0], body, length, headers)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if tokens.get(token, 0) < time.time():
            return self.refuse(401, "authError", "Invalid Credentials")
        bucket = url.path.split("/b/")[1].split("/")[0]
        if self.command in ("POST", "DELETE") and "ifGenerationMatch" in query:
            name = query["name"][0] if "name" in query else urllib.parse.unquote(url.path.split("/o/")[1])
            if generation(bucket, name) != int(query["ifGenerationMatch"][0]):
                return self.refuse(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")
        status, sent, content = ask(self.command, self.path, body or None, headers)
        if status == 404 and not content:
            what = "The specified bucket does not exist." if bucket != "recordings" else f"No such object: {url.path}"
            return self.refuse(404, "notFound", what)
        if status == 200 and url.path.endswith("/o") and self.command == "GET":
            content = self.page(json.loads(content), query)
        if "Location" in sent:
            upload = urllib.parse.parse_qs(urllib.parse.urlsplit(sent["Location"]).query)["upload_id"][0]
            needed[upload] = (bucket, query["name"][0], int(query["ifGenerationMatch"][0]))
        self.reply(status, content, sent)

    def page(self, found, query):
        size = min(settings["page"], int(query.get("maxResults", ["1000"])[0]))
        start = int(query.get("pageToken", ["0"])[0])
        items = found.get("items", [])
        page = {"kind": "storage#objects", "items": items[start : start + size]}
        if start + size < len(items):
            page["nextPageToken"] = str(start + size)
        return json.dumps(page).encode()

    def chunk(self, upload, body, length, headers):
        with lock:
            report["received"] += len(body)
            report["ranges"].append(self.headers.get("Content-Range", ""))
        if self.command == "PUT" and upload in needed:
            bucket, name, expected = needed[upload]
            if generation(bucket, name) != expected:
                return self.refuse(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")
        if len(body) < length:
            # Google keeps whole multiples of this length.
            whole = len(body) // kept * kept
            start = int(self.headers["Content-Range"].split()[1].split("-")[0])
            total = self.headers["Content-Range"].split("/")[1]
            if whole:
                range = {"Content-Range": f"bytes {start}-{start + whole - 1}/{total}"}
                ask("PUT", self.path, body[:whole], range)
            self.close_connection = True
            return
        if settings["flip"] and body:
            body = body[:-1] + bytes([body[-1] ^ 1])
        status, sent, content = ask(self.command, self.path, body, headers)
        self.reply(status, content, sent)

    do_GET = do_POST = do_PUT = do_DELETE = answer


write_key_file()
ThreadingHTTPServer(("127.0.0.1", port), Front).serve_forever()
