"""WsgiDAV with extensions of Nextcloud and ownCloud: chunked uploads, and hashes of the received bytes.

    nextcloud.py PORT USER PASSWORD OPTION...

Serves ./files, and prints each request. Options:
    hash         answers X-Hash with the hash of the received bytes, like Nextcloud
    sums         stores oc:checksums of the received bytes, like ownCloud
    flip         a bit of each file flips in transit
    flipown      a bit flips in transit in each file that is sent to its own name
    quota=BYTES  accepts at most this many bytes in chunks
    limit=BYTES  refuses longer requests
    time         gives files the time of X-OC-Mtime
    nomove       does not know MOVE of files
    nocopy       does not know COPY
    drop         lets nobody list or read files
    noread       lets nobody read files
    nocondition  does not know If-None-Match
    badcondition refuses requests with If-None-Match
    overwrites   does not know Overwrite: a file with the new name is replaced
    nodelete     deletes nothing
    lose         renames the first file, or stores the first one that is sent to its own name, and answers that it is busy;
                 files of a trial do not count
    cut          stores half of the first file that is sent to its own name, and closes the connection
"""

import base64
import hashlib
import os
import shutil
import sys
import urllib.parse

from cheroot import wsgi
from wsgidav.prop_man.property_manager import PropertyManager
from wsgidav.wsgidav_app import WsgiDAVApp

port, user, password, options = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
quota = next((int(option[6:]) for option in options if option.startswith("quota=")), None)
limit = next((int(option[6:]) for option in options if option.startswith("limit=")), None)
authorization = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
files = os.path.abspath("files")
uploads = f"/remote.php/dav/uploads/{user}/"
properties = PropertyManager()
dav = WsgiDAVApp(
    {
        "provider_mapping": {"/": files},
        "property_manager": properties,
        "simple_dc": {"user_mapping": {"*": {user: {"password": password}}}},
        "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
        "logging": {"enable": False},
        "verbose": 0,
    }
)


class Received:
    """A body, hashed as it is read."""

    def __init__(self, body, path):
        self.body = body
        self.sha256 = hashlib.sha256()
        self.sha1 = hashlib.sha1()
        self.flips = "flip" in options or "flipown" in options and not path.endswith(".uploading")

    def read(self, count=-1):
        data = self.body.read(count)
        if data and self.flips:
            data = bytes([data[0] ^ 1]) + data[1:]
            self.flips = False
        self.sha256.update(data)
        self.sha1.update(data)
        return data


def keep_sum(path, sha1):
    text = f"SHA1:{sha1.hexdigest()} MD5:0 ADLER32:0"
    properties.write_property(
        urllib.parse.quote(path),
        "{http://owncloud.org/ns}checksums",
        f'<c:checksums xmlns:c="http://owncloud.org/ns"><c:checksum>{text}</c:checksum></c:checksums>',
    )


def put_together(environ, path):
    """Carries out MOVE for .file. Returns a status."""
    folder = files + os.path.dirname(path)
    target = urllib.parse.unquote(urllib.parse.urlparse(environ["HTTP_DESTINATION"]).path)
    chunks = [os.path.join(folder, name) for name in sorted(os.listdir(folder), key=int)]
    if sum(map(os.path.getsize, chunks)) != int(environ["HTTP_OC_TOTAL_LENGTH"]):
        return "400 Bad Request"
    sha1 = hashlib.sha1()
    with open(files + target, "wb") as out:
        for chunk in chunks:
            with open(chunk, "rb") as file:
                data = file.read()
                sha1.update(data)
                out.write(data)
    shutil.rmtree(folder)
    if "sums" in options:
        keep_sum(target, sha1)
    return "201 Created"


def keep_time(environ, path, headers):
    if "time" in options and "HTTP_X_OC_MTIME" in environ:
        os.utime(files + path, times=(0, int(environ["HTTP_X_OC_MTIME"])))
        headers.append(("X-OC-Mtime", "accepted"))


cuts = ["cut"] if "cut" in options else []
losses = ["lose"] if "lose" in options else []


def lost(environ, start_response):
    """Carries out a request, and answers that it did not."""
    losses.clear()
    list(dav(environ, lambda status, headers, exc_info=None: None))
    start_response("503 Service Unavailable", [("Content-Length", "0"), ("Connection", "close")])
    return []


def answer(environ, start_response):
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].encode("latin-1").decode()
    print(method, path, flush=True)
    refused = None
    if method == "MOVE" and "nomove" in options and not path.startswith(uploads):
        refused = "501 Not Implemented"
    if method == "COPY" and "nocopy" in options:
        refused = "501 Not Implemented"
    if method in ("PROPFIND", "GET") and "drop" in options:
        refused = "403 Forbidden"
    if method == "GET" and "noread" in options or method == "DELETE" and "nodelete" in options:
        refused = "403 Forbidden"
    if "badcondition" in options and "HTTP_IF_NONE_MATCH" in environ:
        refused = "400 Bad Request"
    if "nocondition" in options:
        environ.pop("HTTP_IF_NONE_MATCH", None)
    if "overwrites" in options:
        environ.pop("HTTP_OVERWRITE", None)
    if limit is not None and int(environ.get("CONTENT_LENGTH") or 0) > limit:
        refused = "413 Request Entity Too Large"
    if refused:
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start_response(refused, [("Content-Length", "0")])
        return []
    if method == "PUT" and cuts and not path.endswith(".uploading"):
        cuts.clear()
        body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        with open(files + path, "wb") as out:
            out.write(body[: len(body) // 2])
        start_response("503 Service Unavailable", [("Content-Length", "0"), ("Connection", "close")])
        return []
    if path.startswith(uploads) and environ.get("HTTP_AUTHORIZATION") == authorization:
        status = None
        if method == "MOVE" and path.endswith("/.file"):
            status = put_together(environ, path)
            target = urllib.parse.unquote(urllib.parse.urlparse(environ["HTTP_DESTINATION"]).path)
            keep_time(environ, target, [])
        folder = files + os.path.dirname(path)
        if method == "PUT" and quota is not None and os.path.isdir(folder):
            names = [os.path.join(folder, name) for name in os.listdir(folder)]
            if sum(map(os.path.getsize, names)) + int(environ["CONTENT_LENGTH"]) > quota:
                environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
                status = "507 Insufficient Storage"
        if status:
            start_response(status, [("Content-Length", "0")])
            return []
    if losses and method == "MOVE" and not path.endswith(".trial.uploading"):
        return lost(environ, start_response)
    if method != "PUT":
        return dav(environ, start_response)
    received = environ["wsgi.input"] = Received(environ["wsgi.input"], path)

    def start(status, headers, exc_info=None):
        if status.startswith("2"):
            if "hash" in options and environ.get("HTTP_X_HASH") == "sha256":
                headers.append(("X-Hash-SHA256", received.sha256.hexdigest()))
            if "sums" in options:
                keep_sum(path, received.sha1)
        return start_response(status, headers, exc_info)

    if losses and not path.endswith(".uploading"):
        return lost(environ, start_response)
    body = list(dav(environ, start))
    if os.path.isfile(files + path):
        keep_time(environ, path, [])
    return body


# A test may wait for its turn longer than the server's default limit of 10 s.
wsgi.Server(("127.0.0.1", port), answer, timeout=900).start()
