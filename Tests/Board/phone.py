"""A phone's browser: its HTTP requests to the kit's page. It keeps its cookie."""
import http.client
import json

# Requests go through the socket that systemd opened.
PORT = 80


class Browser:
    def __init__(self, host="127.0.0.1"):
        self.host, self.cookie = host, None

    def ask(self, method, path, body=None, timeout=30, **fields):
        """Returns the status and the content of the answer."""
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
        """Returns the status and the object of the answer, or None if it is empty."""
        status, content = self.ask(method, path, body, **fields)
        return status, json.loads(content) if content else None

    def state(self):
        return self.json("GET", "/api/status")[1]
