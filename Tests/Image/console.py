"""A phone that uses a kit's page, for `run`."""
import http.client
import json

from facts import fact
from updates import Updates


class Phone:
    """A phone's browser: it keeps its cookie."""

    def __init__(self, machine):
        self.machine, self.cookie = machine, None

    def ask(self, method, path, body=None):
        """Returns status and content; status 0 while nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.machine.page_port, timeout=300)
        fields = {"Host": "heron07.local"} | ({"Cookie": self.cookie} if self.cookie else {})
        if body is not None:
            fields["Content-Type"] = "application/json" if isinstance(body, dict) else "application/octet-stream"
        if isinstance(body, dict):
            body = json.dumps(body)
        try:
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()
        if given := answer.getheader("Set-Cookie"):
            self.cookie = given.split(";")[0]
        try:
            return answer.status, json.loads(content) if content else None
        except ValueError:
            return answer.status, content

    def update(self):
        """Returns state and sentences of the kit's updates."""
        status, reply = self.ask("GET", "/api/update")
        return (reply["state"], [line["text"] for line in reply["report"]]) if status == 200 else ("", [])

    def send(self, bundle):
        with open(bundle, "rb") as file:
            return self.ask("PUT", f"/api/update/{bundle.name}", file.read())


def check_console(bench, card, packages, key):
    """Pairs a phone with a kit by its buttons, and updates the kit."""
    updates = Updates(bench.folder, packages, key)
    root = card.root_digest()
    machine = bench.start(card)
    phone = Phone(machine)
    version = lambda: machine.say("dpkg-query -W -f '${Version}' fieldfare")
    boot = lambda: machine.say("cat /proc/sys/kernel/random/boot_id")
    fact(machine.is_armed(), "the recorder is armed")
    fact(machine.wait(lambda: phone.ask("GET", "/")[0] == 200, "the page"), "a phone has the page")
    fact(phone.ask("GET", "/api/update")[0] == 401, "  and learns nothing of updates")
    fact(phone.ask("POST", "/api/session", {"name": "phone"})[0] == 403, "  and cannot pair by itself")
    machine.press("play", seconds=3.5)
    code = machine.as_root("cat /var/lib/fieldfare-library/pairing-code").strip()
    fact(phone.ask("POST", "/api/session", {"name": "phone", "code": code})[0] == 201, "play, held for 3 s, and the code pair it")
    fact(machine.wait(lambda: phone.update()[0] == "idle", "the kit"), "it sees that no update is made")

    fact(phone.send(updates.bundle("0.9.5", key=bench.folder / "other.key"))[0] == 202, "it sends an update of somebody else")
    sentence = "fieldfare-0.9.5-arm64.update: is not signed with the key of this kit's image"
    refused = lambda: phone.update()[0] == "idle" and any(line.startswith(sentence) for line in phone.update()[1])
    fact(machine.wait(refused, "the refusal"), "  and receives the reason for which it is refused")
    shown = [fault["message"] for fault in machine.status().get("faults", [])]
    fact(not any(sentence in message for message in shown), f"  while the lamps do not show it: {shown}")

    shipped, first = version(), boot()
    fact(phone.send(updates.bundle("0.9.5"))[0] == 202, "it sends one that is signed")
    states = []
    seen = lambda: phone.update()[0]
    fact(machine.wait(lambda: states.append(seen()) or boot() not in ("", first), "the trial", 1000), "  the kit starts again with it")
    fact("checking" in states, f"  the phone saw that it was checked: {sorted(set(states))}")
    fact(machine.wait(lambda: phone.update() == ("idle", ["fieldfare-0.9.5-arm64.update: is in force"]), "the confirmation", 1000),
         f"  the phone, which is still paired, sees that it is in force: {phone.update()}")
    fact(version() == "0.9.5" and shipped != "0.9.5", f"  dpkg says 0.9.5, and said {shipped}")
    fact(machine.is_armed(), "  the recorder is armed")
    fact(machine.as_root("ls /var/lib/fieldfare-library/update") == "", "  what was sent is gone")
    fact(card.root_digest() == root, "  the image's own root is the same to the byte")
    machine.pull()
