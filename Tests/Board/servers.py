"""Servers on the board that receive takes, and a record of their network traffic."""
import gc
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request

from kit import wait_until

# The packages that deploy/install-packages servers installs for this Python.
PACKAGES = pathlib.Path(__file__).resolve().parents[2] / ".build/servers/lib" / "python{}.{}".format(*sys.version_info) / "site-packages"


class Relay:
    """A port that is forwarded to a server, with the bytes that crossed it: `sent` to the server, and `received` from it."""

    def __init__(self, port, server, crossed=lambda: None, breaks=lambda: None):
        """`crossed` is called before received bytes are forwarded. `breaks` returns after how many bytes to the server a connection
        breaks, or None."""
        self.sent = self.received = 0
        self._crossed, self._breaks = crossed, breaks
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, args=(listener, server), daemon=True).start()

    def _accept(self, listener, server):
        while True:
            client = listener.accept()[0]
            try:
                there = socket.create_connection(("127.0.0.1", server))
            except OSError:
                client.close()
                continue
            for end in (client, there):
                # Small answers are forwarded at once.
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for way in ((client, there, "sent", self._breaks()), (there, client, "received", None)):
                threading.Thread(target=self._pass, args=way, daemon=True).start()

    def _pass(self, origin, target, counter, left):
        try:
            while data := origin.recv(1 << 16):
                setattr(self, counter, getattr(self, counter) + len(data))
                if left is not None and (left := left - len(data)) < 0:
                    raise ConnectionError
                self._crossed()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            # One end has closed; this closes the other one.
            for end in (origin, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass


class SFTPServer:
    """OpenSSH's server for root, with its own keys."""

    port = 2222

    def __init__(self, folder):
        self.files = pathlib.Path(folder) / "files"
        self._keys = [pathlib.Path(folder) / name for name in ("host", "kit")]
        if not self.files.exists():
            self.files.mkdir(parents=True)
            for key in self._keys:
                subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
            os.sync()
        os.makedirs("/run/sshd", exist_ok=True)
        configuration = pathlib.Path("/run/sshd/config")
        configuration.write_text("".join(f"{line}\n" for line in (
            f"ListenAddress 127.0.0.1:{self.port}", f"HostKey {self._keys[0]}", f"AuthorizedKeysFile {self._keys[1]}.pub", "PidFile none",
            "StrictModes no", "PermitRootLogin yes", "MaxStartups 100", "Subsystem sftp internal-sftp")))
        self._log = open("/run/sshd/log", "ab")
        subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", configuration], stdout=self._log, stderr=self._log)
        wait_until(self._answers, 60)

    def _answers(self):
        try:
            return socket.create_connection(("127.0.0.1", self.port)).recv(4) == b"SSH-"
        except OSError:
            return False

    def outbox(self, port, user="root"):
        """Returns the settings of `[outbox]` for this server through a port. The keys are written for the library's user."""
        key, known = pathlib.Path("/etc/fieldfare/sftp.key"), pathlib.Path("/etc/fieldfare/sftp.known_hosts")
        key.parent.mkdir(exist_ok=True)
        shutil.copy(self._keys[1], key)
        key.chmod(0o600)
        shutil.chown(key, user, user)
        known.write_text(f"[127.0.0.1]:{port} " + self._keys[0].with_suffix(".pub").read_text())
        return {"store": "sftp", "sftp": {"url": f"sftp://root@127.0.0.1:{port}{self.files}"}}


class S3Server:
    """A bucket in memory, and a record of the uploads of parts that were begun, by a number that the scenario counts."""

    port, bucket = 9000, "recordings"

    def __init__(self):
        sys.path.insert(0, str(PACKAGES))
        import boto3
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Silent(WSGIRequestHandler):
            def log(self, *_):
                pass

        self.now, self.puts = 0, []
        application = DomainDispatcherApplication(create_backend_app)

        def counting(request, start):
            if request["REQUEST_METHOD"] == "PUT":
                part = dict(word.partition("=")[::2] for word in request["QUERY_STRING"].split("&")).get("partNumber", "1")
                self.puts.append((request["PATH_INFO"], int(part), self.now))
            return application(request, start)

        server = make_server("127.0.0.1", self.port, counting, threaded=True, request_handler=Silent)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.client = boto3.client(
            "s3", endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1", aws_access_key_id="kit", aws_secret_access_key="key")
        self.clear()

    def clear(self):
        """Empties the bucket. The server would keep individually deleted objects in memory."""
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.port}/moto-api/reset", method="POST")) as answer:
            answer.read()
        gc.collect()
        self.client.create_bucket(Bucket=self.bucket)

    def outbox(self):
        """Returns the settings of `[outbox]` for this server. The key is written for root."""
        secret = pathlib.Path("/etc/fieldfare/s3.credentials")
        secret.parent.mkdir(exist_ok=True)
        secret.write_text("access_key_id = kit\nsecret_access_key = key\n")
        secret.chmod(0o600)
        return {"store": "s3", "s3": {"endpoint": f"http://127.0.0.1:{self.port}", "bucket": self.bucket}}
