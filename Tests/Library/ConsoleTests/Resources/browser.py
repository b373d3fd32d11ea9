"""Drives Chromium through the pages of a running kit, as a person with a phone would. Prints each failed check, and then exits with 1.

  browser.py PORT TOKEN FOLDER PASSWORD [PICTURES]

FOLDER has the kit's takes, PASSWORD pairs a phone, and PICTURES is a folder for screenshots of each page.
"""
import json
import pathlib
import re
import socket
import sys
import threading
import time
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

port, token, folder, password = sys.argv[1:5]
pictures = pathlib.Path(sys.argv[5]) if len(sys.argv) > 5 else None
home = f"http://127.0.0.1:{port}/"
failures, complaints = [], []
PHONE, DESK = {"width": 360, "height": 740}, {"width": 1100, "height": 800}
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}


def expect(holds, fact):
    if not holds:
        failures.append(fact)
        print("NOT SO:", fact, flush=True)


def api(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(home + path.lstrip("/"), data, {"Cookie": f"fieldfare={token}", "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def listed():
    """Returns the last take of the recorder, once the library has it."""
    stem = json.loads(api("GET", "/api/status"))["selected"]
    while True:
        try:
            api("GET", f"/api/takes/{stem}")
            return stem
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            time.sleep(0.02)


class Network:
    """The network between a phone and the kit; it can be cut."""

    def __init__(self, target):
        self.target, self.connections, self.is_whole = target, [], True
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            phone, _ = self.listening.accept()
            if not self.is_whole:
                phone.close()
                continue
            kit = socket.create_connection(("127.0.0.1", self.target))
            self.connections += [phone, kit]
            for source, sink in ((phone, kit), (kit, phone)):
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    @staticmethod
    def carry(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def cut(self):
        self.is_whole = False
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.connections = []

    def join(self):
        self.is_whole = True


def look(page, name):
    """Checks WCAG 2.2 AA and that nothing is wider than the window, and takes a screenshot."""
    result = Axe().run(page, options=RULES)
    for violation in result.response["violations"]:
        nodes = [node["target"] for node in violation["nodes"]][:3]
        expect(False, f"{name}: axe: {violation['id']}: {violation['help']}: {nodes}")
    width, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    expect(width <= room, f"{name}: {width} pixels wide, of {room}")
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=pictures / f"{name}.png")


def open_page(browser, size, paired=True, host="127.0.0.1", **more):
    context = browser.new_context(viewport=size, locale="en-GB", accept_downloads=True, **more)
    if paired:
        context.add_cookies([{"name": "fieldfare", "value": token, "domain": host, "path": "/", "sameSite": "Strict", "httpOnly": True}])
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if "Content Security Policy" in message.text else None)
    return page


def seconds(text):
    parts = [float(part) for part in text.split(":")]
    return sum(part * 60 ** index for index, part in enumerate(reversed(parts)))


def shows(page, text, timeout=10_000):
    try:
        page.get_by_text(text).first.wait_for(timeout=timeout)
        return True
    except Exception:
        return False


def wait_until(page, holds, seconds=10):
    """Waits until a condition holds, and returns whether it does."""
    for _ in range(int(seconds * 20)):
        if holds():
            return True
        page.wait_for_timeout(50)
    return False


with sync_playwright() as play:
    browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=[
        "--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--host-resolver-rules=MAP heron07.local 127.0.0.1"])

    # A stranger sees how to pair, and nothing else.
    page = open_page(browser, PHONE, paired=False)
    page.goto(home)
    expect(shows(page, "Hold the play button"), "a stranger is told how to pair")
    look(page, "pair-phone")
    page.context.close()

    # The unencrypted page with the kit's name links to the secure one. A phone that pairs there is not known to the other.
    page = open_page(browser, PHONE, paired=False, ignore_https_errors=True)
    page.goto(f"http://heron07.local:{port}/")
    secure = page.get_by_role("link", name="Secure page")
    secure.wait_for()
    expect(not page.evaluate("isSecureContext"), "a page in the clear is not secure")
    look(page, "clear-phone")
    secure.click()
    page.wait_for_url(re.compile("^https://heron07.local:"))
    expect(shows(page, "Hold the play button"), "the link leads to the secure page")
    expect(page.evaluate("isSecureContext") and not secure.is_visible(), "which browsers trust, and which has no such link")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Pair by the password").click()
    expect(shows(page, "Ready"), "a phone pairs there")
    expect([cookie["secure"] for cookie in page.context.cookies()] == [True], "for the secure page alone")
    page.get_by_role("button", name="Listen live").click()
    expect(shows(page, "You hear the microphone."), "it listens")
    page.goto(f"http://heron07.local:{port}/")
    expect(shows(page, "Hold the play button"), "the page in the clear does not know it")
    page.context.close()

    # The deck: record, watch the meter, mark, stop.
    page = open_page(browser, PHONE)
    page.goto(home)
    expect(shows(page, "Ready"), "the deck is shown")
    look(page, "deck-phone")
    page.get_by_role("button", name="Record", exact=True).click()
    expect(shows(page, "The last second is on the disk."), "it says that the last second is on the disk")
    widths = set()
    for _ in range(30):
        widths.add(page.evaluate("document.querySelector('.meter-rms').style.transform"))
        page.wait_for_timeout(50)
    expect(len(widths) > 3, f"the meter moves: {len(widths)} lengths")
    page.get_by_label("Note of the marker").fill("wren")
    page.get_by_role("button", name="Mark").click()
    expect(page.evaluate("seconds => new Promise(done => setTimeout(() => done(true), seconds * 1000))", 1.2), "time passes")
    expect(seconds(page.locator(".clock").text_content()) > 2, f"the clock runs: {page.locator('.clock').text_content()}")
    look(page, "recording-phone")
    page.get_by_role("button", name="Stop").click()
    expect(shows(page, "Ready"), "it stops")
    take = listed()

    # The network fails and returns. The page reports this, and catches up without a reload.
    network = Network(int(port))
    cut = open_page(browser, PHONE)
    cut.route("**/listen.js", lambda route: route.abort(), times=1)
    cut.goto(f"http://127.0.0.1:{network.port}/")
    expect(shows(cut, "Ready"), "the deck is shown")
    expect(shows(cut, "Listen live"), "a part of the page that could not be loaded is loaded again")
    cut.evaluate("window.isSame = true")
    network.cut()
    expect(shows(cut, "The connection to the kit is lost"), "the page says that the connection is lost")
    api("POST", "/api/deck/record", {})
    network.join()
    expect(shows(cut, "The last second is on the disk."), "it shows what happened meanwhile")
    expect(not cut.locator("#banner").is_visible(), "and says no more that the connection is lost")
    kit_page = re.compile(r"/kit\.js")
    cut.route(kit_page, lambda route: route.abort())
    cut.locator("#nav").get_by_text("Kit").click()
    expect(shows(cut, "This page could not be shown"), "a page that could not be loaded says so")
    network.cut()
    expect(shows(cut, "The connection to the kit is lost"), "the connection is lost again")
    network.join()
    cut.locator("#banner").wait_for(state="hidden")
    cut.unroute(kit_page)
    cut.get_by_text("This page could not be shown").wait_for(state="detached")
    expect(shows(cut, "Sound cards"), "and is shown by itself when it can be loaded, also long after the connection is back")
    expect(cut.evaluate("window.isSame === true"), "without a reload")
    api("POST", "/api/deck/stop", {})
    cut.context.close()
    api("DELETE", f"/api/takes/{listed()}?where=here")

    # Addresses that a person typed.
    for strange in ["%", "takes/%zz", "nothing"]:
        page.goto(home + "#/" + strange)
        page.reload()
        expect(wait_until(page, lambda: page.locator("main h1").count() == 1), f"#/{strange} shows a page")

    # The list, and the take.
    page.goto(home + "#/takes")
    expect(shows(page, "1 take"), "the list has the take")
    page.locator(".take-link").first.wait_for()
    look(page, "takes-phone")
    page.locator(".take-link").first.click()
    page.locator(".wave-canvas").wait_for()
    page.wait_for_function("document.querySelector('.wave-canvas').width > 100")
    notes = lambda: page.locator(".places input").evaluate_all("fields => fields.map((field) => field.value)")
    expect(wait_until(page, lambda: notes() == ["wren"]), f"the marker is shown: {notes()}")
    look(page, "take-phone")

    # A tap seeks, and playback continues with the take's sound at that place.
    area = page.locator(".wave-touch").bounding_box()
    page.mouse.click(area["x"] + area["width"] * 0.5, area["y"] + area["height"] * 0.5)
    sidecar = json.loads(api("GET", f"/api/takes/{take}"))["sidecar"]
    middle = sidecar["duration_seconds"] / 2
    place = lambda: seconds(page.locator(".play-time").text_content().split("/")[0].strip())
    expect(wait_until(page, lambda: abs(place() - middle) < 0.3), f"a tap in the middle seeks to {middle:.2f} s: {place()}")

    # A marker of the finished take is set at the playhead, described, and removed. Another phone's change does not disturb the editing.
    page.get_by_role("button", name="Set a marker at the playhead").click()
    markers = lambda: [marker["note"] or "" for marker in json.loads(api("GET", f"/api/takes/{take}"))["markers"]]
    expect(wait_until(page, lambda: page.evaluate("document.activeElement.dataset.frame ?? null") is not None), "its note has the focus")
    page.keyboard.type("at the ")
    api("PATCH", f"/api/takes/{take}", {"starred": True})
    expect(wait_until(page, lambda: page.locator(".take-star").get_attribute("aria-pressed") == "true"), "another phone's star is shown")
    page.keyboard.type("weir")
    page.keyboard.press("Enter")
    expect(wait_until(page, lambda: sorted(markers()) == ["at the weir", "wren"]), f"the marker is described: {markers()}")
    expect(wait_until(page, lambda: sorted(notes()) == ["at the weir", "wren"]), f"and shown so: {notes()}")
    look(page, "take-markers-phone")
    page.locator(".places li", has=page.locator("input[data-frame]")).first.get_by_role("button", name="Remove").click()
    expect(wait_until(page, lambda: len(markers()) == 1 and notes() == markers()), f"and one is removed: {notes()}")

    # A memo, which is kept after the page is closed.
    memo = page.get_by_label("Memo")
    memo.fill("at the weir")
    memo.blur()
    written = lambda: json.loads(api("GET", f"/api/takes/{take}"))["take"]["memo"] == "at the weir"
    if not wait_until(page, written, 1):
        page.get_by_role("button", name=re.compile("Save")).first.click()
    expect(wait_until(page, written), "the memo is written")

    # A refusal is also visible until it is closed, and the text stays.
    failure = page.locator("#notice.is-failure")
    memo.fill("x" * 4001)
    memo.blur()
    expect(wait_until(page, failure.is_visible), "a memo that is too long is refused where it is seen")
    expect("at most 4000 bytes" in failure.inner_text(), f"with the kit's sentence: {failure.inner_text()}")
    expect(shows(page, "The memo is not saved yet.") and len(memo.input_value()) == 4001, "and stays, as not saved")
    look(page, "refused-phone")
    page.get_by_role("button", name="Close the message").click()
    expect(not failure.is_visible(), "the message can be closed")
    page.goto(home + "#/takes")
    expect(shows(page, "It is kept here until this page is closed"), "who leaves the take is told that its memo is not saved")
    page.goto(home + f"#/takes/{take}")
    memo.wait_for()
    expect(len(memo.input_value()) == 4001, "and finds it again")
    memo.fill("at the weir")
    memo.blur()
    expect(wait_until(page, lambda: not page.get_by_text("The memo is not saved yet.").is_visible()), "a memo as it was is saved")

    # Another phone writes a memo meanwhile. It is not lost without notice.
    memo.fill("by the mill")
    api("PATCH", f"/api/takes/{take}", {"memo": "of another phone"})
    memo.blur()
    expect(wait_until(page, failure.is_visible) and "of another phone" in failure.inner_text(), "the page says what another phone wrote")
    page.get_by_role("button", name="Save memo").click()
    expect(shows(page, "Somebody else changed the memo to: of another phone"), "and asks which one stays")
    look(page, "conflict-phone")
    expect(json.loads(api("GET", f"/api/takes/{take}"))["take"]["memo"] == "of another phone", "until then it leaves the other one")
    page.get_by_role("button", name="Save mine").click()
    written = lambda: json.loads(api("GET", f"/api/takes/{take}"))["take"]["memo"] == "by the mill"
    expect(wait_until(page, written), "who says so replaces it")
    expect(wait_until(page, lambda: not failure.is_visible()), "and what had failed is not shown any more")

    # A memo that is written without a network is saved once the network returns.
    cut = open_page(browser, PHONE)
    cut.goto(f"http://127.0.0.1:{network.port}/#/takes/{take}")
    cut.get_by_label("Memo").wait_for()
    network.cut()
    cut.get_by_label("Memo").fill("in the rain")
    cut.get_by_label("Memo").blur()
    expect(shows(cut, "Whether this was done is not known"), "a memo that cannot be sent: the page says so")
    network.join()
    expect(wait_until(page, lambda: json.loads(api("GET", f"/api/takes/{take}"))["take"]["memo"] == "in the rain", 20), "it is saved later")
    expect(wait_until(cut, lambda: not cut.get_by_text("The memo is not saved yet.").is_visible()), "and the page shows that")
    cut.context.close()

    # The phone's position: a line of the memo, only on the secure page, and only with the person's permission.
    trusted = f"https://heron07.local:{json.loads(api('GET', '/api/session'))['secure_port']}/"
    memo_of = lambda stem: json.loads(api("GET", f"/api/takes/{stem}"))["take"]["memo"]
    page.context.close()
    page = open_page(browser, PHONE, host="heron07.local", ignore_https_errors=True)
    memo, locate = page.get_by_label("Memo"), page.get_by_role("button", name="Add where I am")
    page.goto(f"http://heron07.local:{port}/#/takes/{take}")
    memo.wait_for()
    expect(locate.count() == 0, "the page in the clear offers no location")
    # Only named permissions are granted. Another permission leaves this one denied.
    page.context.grant_permissions(["clipboard-read"])
    page.goto(f"{trusted}#/takes/{take}")
    locate.click()
    expect(shows(page, "as the browser may not use it"), "a person who refuses is told so")
    look(page, "location-denied-phone")
    expect(memo_of(take) == "in the rain" == memo.input_value(), "and the memo stays")
    page.context.grant_permissions(["geolocation"])
    page.context.set_geolocation({"latitude": 48.208494, "longitude": 16.372079, "accuracy": 11.2})
    locate.click()
    expect(wait_until(page, lambda: memo_of(take) == "in the rain\ngeo:48.20849,16.37208;u=12"), f"the location is a line of the memo: {memo_of(take)!r}")
    expect(shows(page, "Added to the memo: geo:48.20849,16.37208;u=12"), "and the page says so")
    expect(memo.input_value() == memo_of(take) and page.locator("h1").text_content() == "in the rain", "the title stays")
    look(page, "location-phone")
    page.context.set_geolocation({"latitude": -33.856806, "longitude": -0.000001, "accuracy": 5})
    locate.click()
    expect(wait_until(page, lambda: memo_of(take) == "in the rain\ngeo:-33.85681,0.00000;u=5"), f"another one replaces it: {memo_of(take)!r}")
    expect(shows(page, "In the memo, in the place of geo:48.20849,16.37208;u=12: geo:-33.85681,0.00000;u=5"), "and the page has what was there")
    page.context.close()

    # The position comes late, while a person types or goes to another take. Nothing is lost, and no other take gets it.
    api("POST", "/api/deck/record", {})
    api("POST", "/api/deck/stop", {})
    other = listed()
    page = open_page(browser, PHONE, host="heron07.local", ignore_https_errors=True)
    page.add_init_script("""window.asked = [];
        navigator.geolocation.getCurrentPosition = (found, failed, options) => asked.push({ found, failed, options });""")
    page.clock.install()
    coords = {"latitude": 48.208494, "longitude": 16.372079, "accuracy": 11.2, "altitude": 171.4, "altitudeAccuracy": 20}
    line = "geo:48.20849,16.37208,171;u=20"
    answer = lambda **changes: page.evaluate("coords => asked.at(-1).found({ coords })", coords | changes)
    locate, waiting = page.get_by_role("button", name="Add where I am"), page.get_by_role("button", name="Locating …")
    page.goto(f"{trusted}#/takes/{other}")
    locate.click()
    waiting.click(force=True)
    expect(page.evaluate("asked.map(({ options }) => options)") == [{"enableHighAccuracy": True, "timeout": 60000}],
           "the browser is asked once, however often the button is tapped")
    look(page, "location-waiting-phone")
    memo = page.get_by_label("Memo")
    memo.press_sequentially("a wren ")
    answer()
    memo.press_sequentially("sings")
    expect(memo.input_value() == f"a wren sings\n{line}" and memo_of(other) is None, f"who types goes on where the cursor is: {memo.input_value()!r}")
    memo.blur()
    expect(wait_until(page, lambda: memo_of(other) == f"a wren sings\n{line}"), f"and all of it is saved: {memo_of(other)!r}")
    # A phone's keyboard composes each word. If the memo changed meanwhile, the word would appear twice.
    keyboard = page.context.new_cdp_session(page)
    compose = lambda text: keyboard.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    locate.click()
    memo.press("Control+Home")
    memo.press("End")
    compose(" lou")
    answer(latitude=1)
    compose(" loud")
    keyboard.send("Input.insertText", {"text": " loud"})
    moved = line.replace("48.20849", "1.00000")
    expect(wait_until(page, lambda: memo.input_value() == f"a wren sings loud\n{moved}"), f"a word is not torn: {memo.input_value()!r}")
    memo.blur()
    expect(wait_until(page, lambda: memo_of(other) == f"a wren sings loud\n{moved}"), f"and is saved with it: {memo_of(other)!r}")

    # The kit has saved the memo, and the answer is lost. The next text is not treated as another phone's.
    def lose(route):
        if route.request.method == "PATCH":
            api("PATCH", f"/api/takes/{other}", json.loads(route.request.post_data))
            route.abort()
        else:
            route.fallback()

    page.route(f"**/api/takes/{other}", lose)
    locate.click()
    answer()
    expect(shows(page, "Whether this was done is not known"), "an answer that is lost: the page says so")
    expect(wait_until(page, lambda: not page.get_by_text("The memo is not saved yet.").is_visible()), "and finds out that it was done")
    page.unroute(f"**/api/takes/{other}")
    locate.click()
    memo.fill(f"a wren sings\n{line}")
    page.evaluate(f"location.hash = '#/takes/{take}'")
    expect(wait_until(page, lambda: memo_of(other) == f"a wren sings\n{line}"), f"a memo is saved while its take is left: {memo_of(other)!r}")
    page.wait_for_timeout(300)
    expect(shows(page, "No location was added to the memo of a wren sings"), "who leaves the take is told that it gets none")
    memo.wait_for()
    answer(latitude=1)
    locate.click()
    page.clock.fast_forward(60_000)
    expect(shows(page, "as none came within 60 s"), "who gets none is told so")
    answer(latitude=1)
    locate.click()
    page.evaluate("asked.at(-1).failed({ code: 2 })")
    expect(shows(page, "as the phone does not know where it is"), "and why")
    expect(memo.input_value() == memo_of(take) == "in the rain\ngeo:-33.85681,0.00000;u=5" and line in memo_of(other), "neither take gets what came too late")
    locate.click()
    memo.fill("mine")
    api("PATCH", f"/api/takes/{take}", {"memo": "of another phone"})
    memo.blur()
    answer()
    expect(shows(page, "Added to the memo"), "it is added to a memo that another phone has changed")
    page.get_by_role("button", name="Save memo").click()
    page.get_by_role("button", name="Take theirs").click()
    expect(memo.input_value() == memo_of(take) == "of another phone" and not page.get_by_text("Added to the memo").is_visible(),
           "and nobody says so of the other's")
    memo.fill("ü" * 1985)
    locate.click()
    answer()
    expect(shows(page, "the memo would have 4001 bytes and may have 4000"), "a memo that has no room for it stays as it is")
    expect(memo.input_value() == "ü" * 1985, "also where it is written")
    # The page's clock has jumped, so the page assumes a lost connection, and is dimmed until it reconnects.
    page.locator("#banner").wait_for(state="hidden")
    look(page, "location-room-phone")
    memo.fill("ü" * 1984 + "x")
    memo.blur()
    locate.click()
    answer()
    expect(wait_until(page, lambda: memo_of(take) == "ü" * 1984 + "x\n" + line), "one that has room for it gets it")
    expect(wait_until(page, lambda: not page.get_by_text("The memo is not saved yet.").is_visible()), "and is saved")
    # An empty memo keeps its first line for the title.
    memo.fill("")
    memo.blur()
    expect(wait_until(page, lambda: memo_of(take) is None), "a memo is removed")
    locate.click()
    answer()
    expect(wait_until(page, lambda: memo_of(take) == f"\n{line}"), f"the location is its second line: {memo_of(take)!r}")
    expect(page.locator("h1").text_content().startswith("Take "), f"and no title: {page.locator('h1').text_content()}")
    # The position comes while the take is being deleted. The deletion can still be undone.
    held = []
    page.route(re.compile(f"/api/takes/{other}"), lambda route: held.append(route) if route.request.method in ("DELETE", "PATCH") else route.fallback())
    page.goto(f"{trusted}#/takes/{other}")
    page.get_by_role("heading", name="a wren sings").wait_for()
    locate.click()
    page.locator(".take-delete button").first.click()
    page.locator("dialog .danger").click()
    expect(wait_until(page, lambda: len(held) == 1), "the take is being deleted")
    answer(latitude=1)
    expect(wait_until(page, lambda: len(held) == 2), "and its memo saved")
    held[0].continue_()
    expect(shows(page, "1 take deleted."), "the page says that it was deleted")
    held[1].continue_()
    page.wait_for_timeout(500)
    expect(page.get_by_role("button", name="Undo").is_visible(), "and offers to undo it")
    page.context.close()
    page = open_page(browser, PHONE)
    page.goto(home + f"#/takes/{take}")
    page.locator(".wave-canvas").wait_for()

    # A clip of a selection has the take's bytes.
    with page.expect_download() as download:
        page.evaluate("path => { const link = document.createElement('a'); link.href = path; link.download = ''; document.body.append(link); link.click(); }",
                      f"/api/takes/{take}/clip?from=12000&to=36000")
    clip = pathlib.Path(download.value.path()).read_bytes()
    sound = next(pathlib.Path(folder).glob(f"*/{take}.wav")).read_bytes()
    frame = sidecar["channels"] * {"S16_LE": 2, "S24_3LE": 3}.get(sidecar["format"], 3)
    expect(clip[4096:4096 + 24000 * frame] == sound[4096 + 12000 * frame:4096 + 36000 * frame], "a clip has the take's samples, bit for bit")
    page.context.close()

    # The kit: the gain is set while the meter shows its effect, and each setting has an explanation.
    page = open_page(browser, PHONE, timezone_id="Asia/Calcutta")
    page.goto(home + "#/kit")
    slider = page.get_by_label("Gain of the card")
    slider.wait_for()
    page.locator(".meter-figure").wait_for()
    peak = lambda: page.evaluate("parseFloat(document.querySelector('.meter-figure').textContent)")
    expect(wait_until(page, lambda: peak() < -6), f"the meter shows the sound as it is: {peak()}")
    slider.focus()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    gain = lambda: json.loads(api("GET", "/api/status"))["gain_db"]
    expect(wait_until(page, lambda: gain() == 20), f"the gain is set: {gain()}")
    expect(wait_until(page, lambda: peak() > -1), f"and the meter shows it: {peak()}")
    look(page, "gain-phone")
    api("POST", "/api/deck/gain", {"gain_db": 0})
    expect(wait_until(page, lambda: slider.input_value() == "0"), "another phone's gain is shown")
    page.get_by_text("Settings", exact=True).click()
    page.get_by_text("[takes]").click()
    expect(shows(page, "Record pressed so soon after stop goes on with the same take; 0 is never. Default: 60"), "the form says what a key is for")
    page.get_by_text("[kit]").click()
    page.get_by_role("button", name="This phone’s: Asia/Calcutta").click()
    zone = page.get_by_label("time_zone").input_value()
    expect(zone == "Asia/Calcutta", f"the phone's own time zone is filled in: {zone}")
    look(page, "settings-phone")
    page.get_by_text("Log", exact=True).click()
    look(page, "log-phone")
    page.context.close()

    # Large, dark, and in German.
    for name, size, language in [("desk", DESK, "en-GB"), ("german", {"width": 320, "height": 640}, "de-DE")]:
        page = open_page(browser, size, color_scheme="dark")
        page.add_init_script(f"Object.defineProperty(navigator, 'languages', {{ get: () => ['{language}'] }})")
        for route in ["deck", "takes", f"takes/{take}", "kit"]:
            page.goto(home + "#/" + route)
            page.locator("h1").first.wait_for(state="attached")
            page.wait_for_timeout(700)
            look(page, f"{route.split('/')[0] + ('-one' if '/' in route else '')}-{name}")
        page.context.close()

    # In sunlight, and with large letters: each page, with everything opened.
    for name, size, set_up in [
        ("sun", PHONE, "localStorage.setItem('theme', 'sun')"),
        ("large", {"width": 390, "height": 740}, "addEventListener('DOMContentLoaded', () => { document.documentElement.style.fontSize = '200%'; })"),
    ]:
        page = open_page(browser, size)
        page.add_init_script(set_up)
        for route in ["deck", "takes", f"takes/{take}", "kit"]:
            page.goto(home + "#/" + route)
            page.locator("h1").first.wait_for(state="attached")
            page.evaluate("setTimeout(() => document.querySelectorAll('details').forEach((part) => { part.open = true; }), 300)")
            page.wait_for_timeout(900)
            look(page, f"{route.split('/')[0] + ('-one' if '/' in route else '')}-{name}")
            narrow = page.evaluate("[...document.querySelectorAll('.facts dd')].map((fact) => fact.clientWidth).filter((width) => width < 120)")
            expect(not narrow, f"{route}-{name}: facts are wide enough to read: {narrow}")
            cut = page.evaluate("[...document.querySelectorAll('main button')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)")
            expect(not cut, f"{route}-{name}: no button is narrower than its text: {cut}")
        page.context.close()

    # Many takes: some are selected, the list is scrolled below the bar of actions, and the question is asked.
    for _ in range(9):
        api("POST", "/api/deck/record", {})
        api("POST", "/api/deck/stop", {})
    page = open_page(browser, PHONE)
    page.goto(home + "#/takes")
    expect(wait_until(page, lambda: page.locator(".take-row").count() == 10), f"the list has ten takes: {page.locator('.take-row').count()}")
    for index in (0, 1):
        page.locator(".take-check input").nth(index).click()
    expect(shows(page, "2 selected"), "two are selected")
    look(page, "selected-phone")
    for place in (60, 100, 1000):
        page.evaluate("place => scrollTo(0, place)", place)
        look(page, f"selected-{place}-phone")
    page.get_by_role("button", name="Delete").click()
    expect(shows(page, "2 are nowhere else."), "the question says what will be left")
    look(page, "question-phone")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Filters", exact=True).click()
    look(page, "filters-phone")
    page.context.close()

    # By keyboard alone: to a take, and back and forth there.
    page = open_page(browser, DESK)
    page.goto(home + "#/takes")
    page.locator(".take-link").first.wait_for()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('take-link')"):
            break
    expect(page.evaluate("document.activeElement.classList.contains('take-link')"), "the keyboard reaches a take")
    page.keyboard.press("Enter")
    page.locator(".wave-canvas").wait_for()
    expect(wait_until(page, lambda: page.evaluate("document.activeElement.tagName") == "H1"), "its heading has the focus")
    page.keyboard.press("m")
    expect(wait_until(page, lambda: page.evaluate("document.activeElement.dataset.frame === '0'")), "m sets a marker, whose note can be typed")
    page.context.close()

    # Another phone deletes the take, and this phone's list removes it.
    page = open_page(browser, PHONE)
    page.goto(home + "#/takes")
    page.locator(".take-link").first.wait_for()
    gone = f".take-link[href='#/takes/{take}']"
    expect(wait_until(page, lambda: page.locator(gone).count() == 1), "the list has the take")
    api("DELETE", f"/api/takes/{take}?where=here")
    expect(wait_until(page, lambda: page.locator(gone).count() == 0), "and loses it")
    page.context.close()
    expect(not complaints, f"no error of a script, no breach of the content policy: {complaints[:3]}")
    browser.close()
sys.exit(1 if failures else 0)
