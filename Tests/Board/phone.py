"""A phone's browser: what it asks of the kit's page over HTTP. It keeps its cookie."""
import http.client
import json

# A page is asked for through the socket that systemd opened.
PORT = 80


class Browser:
    def __init__(self, host="127.0.0.1"):
        self.host, self.cookie = host, None

    def ask(self, method, path, body=None, timeout=30, **fields):
        """The status and the content of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=timeout)
        fields = {"Host": self.host, **{name.replace("_", "-"): value for name, value in fields.items()}}
        if self.cookie:
            fields["Cookie"] = self.cookie
        if body is not None:
            fields["Content-Type"] = "application/json"
        connection.request(method, path, None if body is None else json.dumps(body), fields)
        answer = connection.getresponse()
        content = answer.read()
        if answer.getheader("Set-Cookie"):
            self.cookie = answer.getheader("Set-Cookie").split(";")[0]
        connection.close()
        return answer.status, content

    def json(self, method, path, body=None, **fields):
        """The status and the object of the answer; none: it is empty."""
        status, content = self.ask(method, path, body, **fields)
        return status, json.loads(content) if content else None

    def state(self):
        """The recorder's status."""
        return self.json("GET", "/api/status")[1]
