"""A small S3 service on 127.0.0.1 with the behaviour of other services.

    s3quirks.py PORT OPTION...

Prints each request and its host. Options:
    host      the bucket is only in the host's name, as at Alibaba and Tencent
    denies    the same, and a bucket in the path gets the answer for a missing right
    lock      a bucket with Object Lock: each body needs its MD5, and x-amz-checksum headers are unknown (Backblaze B2)
    putonly   the key may only write
    noread    the key may send HEAD but not read objects; an ETag is not an MD5, as for encrypted objects
    nocond    conditions are unknown, and refused
    heedless  conditions are ignored
    parts     the condition of an upload in parts is ignored
    form      an ETag has the form of an MD5, and is not one
    flip      a bit of the first file flips in transit, and the file cannot be deleted
    lose      the first file is stored, and its answer is lost
    busy      the first file is not stored, and the service reports this
"""

import base64
import hashlib
import http.server
import sys
import threading
import urllib.parse

port, options = int(sys.argv[1]), set(sys.argv[2:])
objects, uploads, guard = {}, {}, threading.Lock()
NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        print(self.command, self.path, self.headers.get("Host"), status, flush=True)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def fail(self, status, code, message=""):
        text = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>"
        self.reply(status, b"" if self.command == "HEAD" else text.encode())

    def document(self, name, content):
        self.reply(200, f"<?xml version='1.0'?><{name} {NAMESPACE}>{content}</{name}>".encode())

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        path = urllib.parse.unquote(url.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.command == "PUT" and "busy" in options and not path.endswith(".trial"):
            options.remove("busy")
            return self.fail(503, "SlowDown")
        if options & {"host", "denies"}:
            if not headers["host"].startswith("recordings."):
                if "denies" in options:
                    return self.fail(403, "AccessDenied", "Access Denied")
                return self.fail(403, "SecondLevelDomainForbidden", "Please use virtual hosted style to access.")
            key = path[1:]
        else:
            key = path.split("/", 2)[2] if path.count("/") > 1 else ""
        if "lock" in options:
            if any(name.startswith(("x-amz-checksum", "x-amz-sdk")) for name in headers):
                return self.fail(400, "InvalidArgument", "Unsupported header 'x-amz-checksum-sha256' received.")
            if self.command in ("PUT", "POST") and "uploads" not in query:
                if "content-md5" not in headers:
                    return self.fail(
                        400, "InvalidRequest", "Content-MD5 HTTP header is required for Put requests with Object Lock")
                if base64.b64decode(headers["content-md5"]) != hashlib.md5(body).digest():
                    return self.fail(400, "BadDigest")
        if "nocond" in options and "if-none-match" in headers:
            return self.fail(501, "NotImplemented", "If-None-Match")
        if "putonly" in options and self.command in ("GET", "HEAD", "DELETE"):
            return self.fail(403, "AccessDenied", "Access Denied")
        with guard:
            self.carry_out(key, query, headers, body)

    def carry_out(self, key, query, headers, body):
        def tag(content):
            return f'"{hashlib.md5(b"" if "form" in options else content + bytes("noread" in options)).hexdigest()}"'

        if self.command == "GET" and not key:
            found = "".join(
                f"<Contents><Key>{name}</Key><Size>{len(value[0])}</Size></Contents>" for name, value in objects.items())
            name = "ListMultipartUploadsResult" if "uploads" in query else "ListBucketResult"
            return self.document(name, "<IsTruncated>false</IsTruncated>" + ("" if "uploads" in query else found))
        if self.command == "POST" and "uploads" in query:
            name = f"upload{len(uploads)}"
            uploads[name] = ({k: v for k, v in headers.items() if k.startswith("x-amz-meta")}, {})
            return self.document("InitiateMultipartUploadResult", f"<UploadId>{name}</UploadId>")
        if "uploadId" in query:
            name = query["uploadId"][0]
            if name not in uploads:
                return self.fail(404, "NoSuchUpload")
            if self.command == "PUT":
                uploads[name][1][int(query["partNumber"][0])] = body
                return self.reply(200, ETag=tag(body))
            if self.command == "POST":
                metadata, parts = uploads.pop(name)
                if headers.get("if-none-match") == "*" and key in objects and not options & {"heedless", "parts"}:
                    return self.fail(412, "PreconditionFailed")
                hashes = b"".join(hashlib.md5(parts[number]).digest() for number in sorted(parts))
                etag = f'"{hashlib.md5(hashes).hexdigest()}-{len(parts)}"'
                objects[key] = (b"".join(parts[number] for number in sorted(parts)), etag, metadata)
                return self.document("CompleteMultipartUploadResult", f"<ETag>{etag}</ETag>")
            return self.document("ListPartsResult", "<IsTruncated>false</IsTruncated>")
        if self.command == "PUT":
            if headers.get("if-none-match") == "*" and key in objects and "heedless" not in options:
                return self.fail(412, "PreconditionFailed")
            if "flip" in options and "flipped" not in options and not key.endswith(".trial"):
                options.add("flipped")
                body = bytes([body[0] ^ 1]) + body[1:]
            objects[key] = (body, tag(body), {k: v for k, v in headers.items() if k.startswith("x-amz-meta")})
            if "lose" in options and "lost" not in options and not key.endswith(".trial"):
                options.add("lost")
                self.close_connection = True
                return self.connection.close()
            return self.reply(200, ETag=tag(body))
        if self.command == "DELETE":
            if "flip" in options:
                return self.fail(403, "AccessDenied")
            objects.pop(key, None)
            return self.reply(204)
        if key not in objects:
            return self.fail(404, "NoSuchKey")
        if "noread" in options and self.command == "GET":
            return self.fail(403, "AccessDenied", "Access Denied")
        content, etag, metadata = objects[key]
        self.reply(200, content, ETag=etag, Content_Length=str(len(content)), **metadata)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer


http.server.ThreadingHTTPServer(("127.0.0.1", port), Server).serve_forever()
