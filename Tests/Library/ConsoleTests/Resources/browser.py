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

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from phone import DESK, Finger, Kit, PHONE, chromium, point, seconds, shows, wait_until

port, token, folder, password = sys.argv[1:5]
pictures = pathlib.Path(sys.argv[5]) if len(sys.argv) > 5 else None
kit = Kit(port, token)
home, api, listed, open_page = kit.home, kit.api, kit.listed, kit.open_page
failures = []
UPRIGHT, ACROSS = {"width": 360, "height": 640}, {"width": 640, "height": 360}
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}


def expect(holds, fact):
    """Records whether a fact holds, and returns that."""
    if not holds:
        failures.append(fact)
        print("NOT SO:", fact, flush=True)
    return bool(holds)


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


# axe measures what is seen of a target. One that is partly behind a bar at the edge of the screen is whole after a scroll.
IS_LARGE_BEHIND_A_BAR = """(selector) => {
    const one = document.querySelector(selector);
    const { left, right, top, bottom, width, height } = one.getBoundingClientRect();
    const isBar = (other) => other && other !== document.body && (/fixed|sticky/.test(getComputedStyle(other).position) || isBar(other.parentElement));
    const corners = [[left + 1, top + 1], [right - 1, top + 1], [left + 1, bottom - 1], [right - 1, bottom - 1]];
    const covers = corners.map(([x, y]) => document.elementFromPoint(x, y)).filter((cover) => cover && !one.contains(cover) && !cover.contains(one));
    return width >= 24 && height >= 24 && covers.length > 0 && covers.every(isBar);
}"""

# The texts that reach over the right edge, and their elements.
TOO_WIDE = """(() => {
    const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
    while (texts.nextNode()) {
        range.selectNodeContents(texts.currentNode);
        if (range.getBoundingClientRect().right > innerWidth) found.push(`${texts.currentNode.parentElement.className}: ${texts.currentNode.textContent.slice(0, 60)}`);
    }
    return found.slice(0, 5);
})()"""


def look(page, name):
    """Checks WCAG 2.2 AA and that nothing is wider than the window, and takes a screenshot."""
    result = Axe().run(page, options=RULES)
    for violation in result.response["violations"]:
        nodes = [node["target"] for node in violation["nodes"]]
        if violation["id"] == "target-size":
            nodes = [[one] for (one,) in nodes if not page.evaluate(IS_LARGE_BEHIND_A_BAR, one)]
        if nodes:
            expect(False, f"{name}: axe: {violation['id']}: {violation['help']}: {nodes[:3]}")
    width, room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    expect(width <= room, f"{name}: {width} pixels wide, of {room}: {page.evaluate(TOO_WIDE) if width > room else ''}")
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=pictures / f"{name}.png")


def has_thumbs(page, names, size):
    """Expects that exactly these buttons are at the bottom, within a window of this size, and not covered."""
    page.set_viewport_size(size)
    shown = lambda: page.evaluate("""[...document.querySelectorAll('.thumb')].filter((one) => !one.hidden).map((one) => {
        const { left, right, top, bottom } = one.getBoundingClientRect();
        const isFree = one.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
        return [one.querySelector('.press-label').textContent, isFree && left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight];
    })""")
    expect(wait_until(page, lambda: shown() == [[name, True] for name in names]), f"{names} are on a screen of {size}: {shown()}")


with sync_playwright() as play:
    browser = chromium(play, "--host-resolver-rules=MAP heron07.local 127.0.0.1")

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
    page.get_by_role("button", name="Pair with password").click()
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
    spectrum = page.locator(".spectrum-live canvas")
    spectrum.wait_for()
    drawn = """canvas => {
      const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      return [pixels.slice(0, canvas.width).filter((pixel) => pixel).length, new Set(pixels).size];
    }"""
    columns = spectrum.evaluate(drawn)[0]
    expect(wait_until(page, lambda: spectrum.evaluate(drawn)[0] > max(10, columns)), f"the live spectrogram grows from {columns} columns")
    expect(wait_until(page, lambda: spectrum.evaluate(drawn)[1] > 20), f"and is no single colour: {spectrum.evaluate(drawn)}")
    lanes = [page.locator("canvas.live").nth(place).bounding_box() for place in range(2)]
    expect(len({(lane["x"], lane["width"]) for lane in lanes}) == 1, f"waveform and spectrogram have the same places: {lanes}")
    expect(spectrum.get_attribute("aria-label").endswith("0 to 12 kHz"), "it ends at 12 kHz")
    page.get_by_role("button", name="All frequencies").click()
    expect(spectrum.get_attribute("aria-label").endswith("0 to 24 kHz"), "or at half the rate")
    page.get_by_role("button", name="All frequencies").click()
    look(page, "deck-phone")
    for size in (UPRIGHT, ACROSS, PHONE):
        has_thumbs(page, ["Record", "Stop"], size)
    page.get_by_role("button", name="Record", exact=True).click()
    expect(shows(page, "The last second is on the disk."), "it says that the last second is on the disk")
    expect(shows(page, "on disk up to 0:0"), "and how much of the take is")
    for size in (UPRIGHT, ACROSS, PHONE):
        has_thumbs(page, ["Mark", "Stop"], size)
    widths = set()

    def moves():
        widths.add(page.evaluate("document.querySelector('.meter-rms').style.transform"))
        return len(widths) > 3

    expect(wait_until(page, moves), f"the meter moves: {len(widths)} lengths")
    page.get_by_label("Marker note").fill("wren")
    page.get_by_role("button", name="Mark").click()
    expect(wait_until(page, lambda: page.get_by_label("Marker note").input_value() == ""), "a marker is set")
    clock = page.locator(".clock")
    shown = seconds(clock.text_content())
    expect(wait_until(page, lambda: seconds(clock.text_content()) > max(2, shown)), f"the clock runs: {clock.text_content()}")
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
    expect(shows(cut, " s ago"), "and how old the values are")
    cut.get_by_role("button", name="Record", exact=True).click()
    expect(shows(cut, "The kit is not reachable: nothing was done."), "a button says that it did nothing")
    look(cut, "away-phone")
    api("POST", "/api/deck/record", {})
    network.join()
    expect(shows(cut, "The last second is on the disk."), "it shows what happened meanwhile")
    expect(wait_until(cut, lambda: not cut.get_by_text("The kit is not reachable").is_visible() and cut.locator(".is-old").count() == 0),
           "and no more what was")
    expect(wait_until(cut, lambda: not cut.locator("#banner").is_visible()), "and says no more that the connection is lost")
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
    expect(shows(cut, "Records by itself"), "and is shown by itself when it can be loaded, also long after the connection is back")
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
    page.wait_for_function("() => document.querySelector('.wave-canvas').width > 100")
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

    # Fingers in the picture: a pinch zooms and moves neither playhead nor sound, and a box becomes a region with a label.
    touch = open_page(browser, PHONE, has_touch=True)
    touch.goto(home + f"#/takes/{take}")
    drawn = lambda: touch.locator(".spectrum-canvas").get_attribute("aria-busy") == "false"
    touch.locator(".wave-canvas").wait_for()
    expect(wait_until(touch, drawn, 60), f"the spectrogram is drawn: {touch.locator('.spectrum-state').text_content()!r}")
    fingers = Finger(touch)

    def picture():
        """Where the picture is now: a line above it comes and goes."""
        return touch.locator(".wave-touch").bounding_box()

    def gesture(*steps):
        """A finger that rests for half a second is a long press to the browser. If the machine was that slow, the gesture is made again."""
        for _ in range(5):
            if fingers.stroke(picture, *steps) < 0.4:
                return

    view = lambda: touch.locator(".wave-canvas").get_attribute("aria-label").split(";")[0]
    at = lambda: seconds(touch.locator(".play-time").text_content().split("/")[0].strip())
    whole = view()
    touch.touchscreen.tap(**point(picture(), 0.25, 0.5))
    expect(wait_until(touch, lambda: at() > 0), "a tap seeks")
    before = at()
    gesture([(0.45, 0.7)], *([(0.45 - step / 50, 0.7), (0.55 + step / 50, 0.7)] for step in range(11)))
    expect(wait_until(touch, lambda: view() != whole), f"a pinch zooms: {view()}")
    expect(at() == before, f"and does not move the playhead: {before}, {at()}")
    zoomed = view()
    gesture(*([(0.6 - step / 20, 0.7)] for step in range(6)))
    expect(wait_until(touch, lambda: view() not in (zoomed, whole)) and at() == before, f"a drag moves the picture, and not the playhead: {view()}")
    expect(wait_until(touch, drawn), "the finer spectrogram is drawn")
    # The browser makes the click of a tap after the tap has ended.
    boxing = touch.get_by_role("button", name="Box", exact=True)
    boxing.tap()
    expect(wait_until(touch, lambda: boxing.get_attribute("aria-pressed") == "true"), "a drag is to draw a box")
    touch.evaluate("scrollTo(0, 0)")
    gesture(*([(0.3 + step / 20, 0.5 + step / 20)] for step in range(6)))
    box = touch.locator(".range-text")
    expect(wait_until(touch, lambda: "kHz" in box.text_content()), f"a box has time and frequencies: {box.text_content()}")
    look(touch, "box-phone")
    touch.get_by_role("button", name="Label", exact=True).tap()
    expect(wait_until(touch, lambda: touch.evaluate("document.activeElement.dataset.frame ?? null") is not None), "its label has the focus")
    touch.keyboard.type("song")
    touch.keyboard.press("Enter")
    regions = lambda: [marker for marker in json.loads(api("GET", f"/api/takes/{take}"))["markers"] if "end_frame" in marker]
    if expect(wait_until(touch, lambda: [region["note"] for region in regions()] == ["song"]), f"a box is labelled as a region: {regions()}"):
        region, = regions()
        expect(region["at_frame"] < region["end_frame"] and 0 <= region.get("low_hz", -1) < region.get("high_hz", -1) <= sidecar["rate_hz"] / 2,
               f"with time and band: {region}")
        look(touch, "region-phone")
        expect(wait_until(page, lambda: "song" in notes()), f"another phone shows it: {notes()}")
        api("PATCH", f"/api/takes/{take}", {"markers": {"remove": [region["at_frame"]]}})
        expect(wait_until(page, lambda: "song" not in notes()), f"and that it was removed: {notes()}")
    touch.context.close()

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
    expect("at most 4,000 bytes" in failure.inner_text(), f"with the kit's sentence: {failure.inner_text()}")
    expect(shows(page, "The memo is not saved yet.") and len(memo.input_value()) == 4001, "and stays, as not saved")
    look(page, "refused-phone")
    page.get_by_role("button", name="Close the message").click()
    expect(wait_until(page, lambda: not failure.is_visible()), "the message can be closed")
    page.goto(home + "#/takes")
    expect(shows(page, "It is kept here until this page is closed"), "who leaves the take is told that its memo is not saved")
    page.goto(home + f"#/takes/{take}")
    memo.wait_for()
    expect(wait_until(page, lambda: len(memo.input_value()) == 4001), "and finds it again")
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
    expect(wait_until(page, lambda: json.loads(api("GET", f"/api/takes/{take}"))["take"]["memo"] == "in the rain"), "it is saved later")
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
    expect(wait_until(page, lambda: memo.input_value() == memo_of(take) and page.locator("h1").text_content() == "in the rain"), "the title stays")
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
    expect(wait_until(page, lambda: memo.input_value() == memo_of(take) == "of another phone" and not page.get_by_text("Added to the memo").is_visible()),
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
    expect(wait_until(page, lambda: page.locator("h1").text_content().startswith("Take ")), f"and no title: {page.locator('h1').text_content()}")
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

    # The kit: the gain is set while the meter shows its effect, and each setting says what it is for, and its default.
    page = open_page(browser, PHONE, timezone_id="Asia/Calcutta")
    # Here no unit writes the settings. The page shows the form as on a kit, and the kit refuses what it sends.
    def on_a_kit(route):
        if route.request.method != "GET":
            return route.continue_()
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "changeable": True})
    page.route("**/api/settings", on_a_kit)
    page.goto(home + "#/kit")
    row = lambda name: page.locator(f".set[data-name={name}]")
    row("gain").locator("summary").click()
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
    expect(wait_until(page, lambda: "20\u00a0dB" in row("gain").locator(".set-value").inner_text()), "the row has the gain in force")
    look(page, "gain-phone")
    page.get_by_role("button", name="Keep this gain").click()
    kept = page.locator("[data-key='capture.gain_db'] input").input_value()
    expect(kept == "20", f"the gain to keep is filled in: {kept}")
    api("POST", "/api/deck/gain", {"gain_db": 0})
    expect(wait_until(page, lambda: slider.input_value() == "0"), "another phone's gain is shown")
    row("gain").locator("summary").click()
    row("name").locator("summary").click()
    page.get_by_role("button", name="This phone’s: Asia/Calcutta").click()
    zone = page.get_by_label("Time zone").input_value
    expect(wait_until(page, lambda: zone() == "Asia/Calcutta"), f"the phone's own time zone is filled in: {zone()}")
    row("name").get_by_role("button", name="Save changes").click()
    expect(shows(page, "This kit’s settings can only be changed in "), "the kit's refusal is shown at the form")
    look(page, "kit-settings-phone")
    page.goto(home + "#/kit/settings")
    row("takes").locator("summary").click()
    expect(shows(page, "After a stop. Default: 1 min. Applies after a restart."), "the form says what a key is for, and its default")
    page.get_by_label("Record continues a take for").fill("700")
    row("takes").get_by_role("button", name="Save changes").click()
    wrong = page.locator("[data-key='takes.rejoin_seconds'] [role=alert]").inner_text()
    expect(wrong == "Type a number from 0 s to 10 min.", f"a wrong value has its sentence at its field: {wrong}")
    expect(page.evaluate("document.activeElement.type") == "number", "and its field has the focus")
    look(page, "settings-phone")
    page.goto(home + "#/kit/phones")
    page.get_by_role("button", name="Show the code").click()
    expect(shows(page, json.loads(api("GET", "/api/label"))["code"]), "the code that pairs another phone is shown on request")
    expect(shows(page, "this phone"), "the list says which phone this is")
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Name of this phone").fill("Anna’s tablet")
    page.get_by_role("button", name="Save the name").click()
    expect(shows(page, "Anna’s tablet"), "a phone renames itself")
    look(page, "phones-phone")
    page.goto(home + "#/kit/history")
    page.get_by_role("button", name="Week").click()
    expect(shows(page, "None in this time."), "an empty history says so")
    look(page, "history-phone")
    page.goto(home + "#/kit/service")
    look(page, "log-phone")
    page.context.close()

    # Large, dark, in German, and in Korean. Only the texts of one language are loaded.
    narrow = {"width": 320, "height": 640}
    for name, size, language in [("desk", DESK, "en-GB"), ("german", narrow, "de-DE"), ("korean", narrow, "ko-KR")]:
        page = open_page(browser, size, color_scheme="dark")
        loaded = set()
        page.on("request", lambda request, loaded=loaded: loaded.update(re.findall(r"/([a-z-]*texts)-([a-z]{2})\.js", request.url)))
        page.add_init_script(f"Object.defineProperty(navigator, 'languages', {{ get: () => ['{language}'] }})")
        for route in ["deck", "takes", f"takes/{take}", "day", "kit", "kit/settings", "kit/history", "kit/phones", "kit/hardware"]:
            page.goto(home + "#/" + route)
            page.locator("h1").first.wait_for(state="attached")
            page.wait_for_timeout(700)
            look(page, f"{route.replace(take, 'one').replace('/', '-')}-{name}")
        # The kit's page has no Korean texts.
        wanted = {(part, "en" if (part, language[:2]) == ("kit-texts", "ko") else language[:2]) for part in ["texts", "takes-texts", "kit-texts"]}
        expect(loaded == wanted, f"{name}: the texts of one language are loaded: {sorted(loaded)}")
        page.context.close()

    # In sunlight, and with large letters: each page, with everything opened, and each channel clipped.
    for name, size, set_up in [
        ("sun", PHONE, "localStorage.setItem('theme', 'sun')"),
        ("large", {"width": 390, "height": 740}, "addEventListener('DOMContentLoaded', () => { document.documentElement.style.fontSize = '200%'; })"),
    ]:
        page = open_page(browser, size)
        page.add_init_script(set_up)
        for route in ["deck", "takes", f"takes/{take}", "day", "kit", "kit/settings", "kit/history", "kit/phones", "kit/hardware"]:
            page.goto(home + "#/" + route)
            page.locator("h1").first.wait_for(state="attached")
            page.evaluate("setTimeout(() => document.querySelectorAll('details').forEach((part) => { part.open = true; }), 300); setTimeout(() => { document.querySelectorAll('.clip').forEach((sign) => { sign.hidden = false; }); document.querySelectorAll('.meters').forEach((meters) => { meters.classList.add('is-clipped'); }); }, 600)")
            page.wait_for_timeout(900)
            look(page, f"{route.replace(take, 'one').replace('/', '-')}-{name}")
            narrow = page.evaluate("[...document.querySelectorAll('.facts dd')].map((fact) => fact.clientWidth).filter((width) => width < 120)")
            expect(not narrow, f"{route}-{name}: facts are wide enough to read: {narrow}")
            cut = page.evaluate("[...document.querySelectorAll('main button, .thumb')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)")
            expect(not cut, f"{route}-{name}: no button is narrower than its text: {cut}")
        page.context.close()

    # Many takes: some are selected, the list is scrolled below the bar of actions, and the question is asked.
    for _ in range(9):
        api("POST", "/api/deck/record", {})
        api("POST", "/api/deck/stop", {})
    page = open_page(browser, PHONE)
    page.goto(home + "#/takes")
    expect(wait_until(page, lambda: page.locator(".take-row").count() == 10), f"the list has ten takes: {page.locator('.take-row').count()}")
    page.goto(home + "#/deck")
    name, about = page.locator(".deck-take-name"), page.locator(".deck-take-about")
    expect(wait_until(page, lambda: about.text_content()), "the deck shows the selected take")
    newest = name.text_content()
    page.get_by_role("button", name="Next take", exact=True).click()
    expect(shows(page, "This is the last take."), "there is none after the newest")
    page.get_by_role("button", name="Previous take", exact=True).click()
    expect(wait_until(page, lambda: name.text_content() != newest), f"back selects the one before: {name.text_content()}")
    page.get_by_role("button", name="Next take", exact=True).click()
    expect(wait_until(page, lambda: name.text_content() == newest), f"and forward the newest again: {name.text_content()}")
    page.goto(home + "#/takes")
    expect(wait_until(page, lambda: page.locator(".take-row").count() == 10), "the list has ten takes")
    page.get_by_role("button", name="Select takes").click()
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
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Filter").click()
    expect(shows(page, "Show 10 takes"), "the sheet says how many takes match")
    page.get_by_label("Sort by").select_option("Loudest")
    expect(wait_until(page, lambda: page.locator(".take-facts", has_text="dBFS").count() > 0),
           f"the loudest are first, with their peaks: {page.locator('.take-facts').all_inner_texts()}")
    page.get_by_label("With a star only").check()
    expect(shows(page, "Show 1 take"), "one has a star")
    look(page, "filter-phone")
    page.get_by_role("button", name="Show 1 take").click()
    expect(wait_until(page, lambda: page.locator(".take-row").count() == 1), "and is shown alone")
    expect(page.locator(".takes-count").text_content().startswith("1 take"), f"the count follows: {page.locator('.takes-count').text_content()}")
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("button", name="Show all").click()
    expect(wait_until(page, lambda: page.locator(".take-row").count() == 10), "all are shown again")
    page.get_by_label("Search words, numbers and days").fill("no such take")
    expect(shows(page, "No take matches."), "a search without a match says so")
    look(page, "none-phone")
    page.get_by_label("Search words, numbers and days").fill("")

    # A row plays, and the player stays while pages change.
    row = page.locator(f".take-row[data-stem='{take}']")
    row.locator(".take-play").click()
    bar, at = page.locator(".sound"), lambda: seconds(page.locator(".sound-time").text_content().split("/")[0].strip())
    expect(wait_until(page, lambda: row.locator(".take-play").get_attribute("aria-label").startswith("Pause")), "a row plays its take")
    expect(wait_until(page, lambda: bar.is_visible() and at() >= 1), "the player shows it, and its time")
    look(page, "playing-phone")
    page.locator("#nav").get_by_text("Deck").click()
    expect(shows(page, "Ready") and bar.is_visible(), "and stays on another page")
    for size in (UPRIGHT, ACROSS, PHONE):
        has_thumbs(page, ["Record", "Stop"], size)
    look(page, "deck-player-phone")
    bar.get_by_role("button", name="Pause").click()
    paused = at()
    bar.locator(".sound-title").click()
    page.locator(".wave-canvas").wait_for()
    expect(not bar.is_visible(), "the take's page has the player itself")
    place = lambda: seconds(page.locator(".play-time").text_content().split("/")[0].strip())
    expect(wait_until(page, lambda: abs(place() - paused) < 1.5), f"at the same place: {paused}, {place()}")

    # A title is edited in place, and the take's first action is its download.
    page.get_by_role("button", name="Change the title").click()
    expect(page.evaluate("document.activeElement.maxLength") == 200, "the title has the focus")
    look(page, "title-phone")
    page.keyboard.press("Control+a")
    page.keyboard.type("Wren at the weir")
    page.keyboard.press("Enter")
    expect(wait_until(page, lambda: page.locator("h1").text_content() == "Wren at the weir"), f"it is the take's: {page.locator('h1').text_content()}")
    expect(json.loads(api("GET", f"/api/takes/{take}"))["take"]["title"] == "Wren at the weir", "and the kit has it")
    page.get_by_role("button", name="Download", exact=True).click()
    expect(wait_until(page, page.locator("dialog").get_by_text("The whole take,").is_visible), "the sheet has the take's formats")
    look(page, "download-phone")
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("^MP3")).click()
    expect(download.value.suggested_filename.endswith(".mp3"), f"an MP3 is downloaded: {download.value.suggested_filename}")
    page.get_by_role("button", name="Previous take", exact=True).click()
    expect(wait_until(page, lambda: page.locator("h1").text_content() not in ("", "Wren at the weir")), "the one before in the list is shown")
    page.get_by_role("button", name="Next take", exact=True).click()
    expect(wait_until(page, lambda: page.locator("h1").text_content() == "Wren at the weir"), "and the next one")
    page.context.close()

    # A finger moves a row aside: to the right for a star, to the left to delete it, which can be undone.
    touch = open_page(browser, PHONE, has_touch=True)
    touch.goto(home + "#/takes")
    rows = touch.locator(".take-row")
    expect(wait_until(touch, lambda: rows.count() == 10), "the list has ten takes")
    finger = Finger(touch)

    def swipe(row, by):
        def held():
            if pictures:
                touch.screenshot(path=pictures / f"swipe-{'star' if by > 0 else 'delete'}-phone.png")

        link = row.locator(".take-link")
        finger.stroke(link.bounding_box, *finger.aside(link, by), held=held)

    second = rows.nth(1).get_attribute("data-stem")
    own = touch.locator(f".take-row[data-stem='{second}']")
    swipe(own, 40)
    touch.wait_for_timeout(200)
    expect(own.locator(".take-star").get_attribute("aria-pressed") == "false" and "#/takes" == touch.evaluate("location.hash"), "a short way does nothing")
    swipe(own, 140)
    expect(wait_until(touch, lambda: own.locator(".take-star").get_attribute("aria-pressed") == "true"), "to the right sets a star")
    swipe(own, -140)
    expect(shows(touch, "1 take deleted.") and own.count() == 0, "to the left deletes")
    # A finger needs this long from the row to the button. A tap at once would only stop the row's movement.
    touch.wait_for_timeout(700)
    touch.get_by_role("button", name="Undo").tap()
    expect(wait_until(touch, lambda: own.count() == 1), f"and the undo brings it back: {rows.count()} rows, {touch.locator('#notice').inner_text()}")
    touch.context.close()

    # By keyboard alone: to a take, and back and forth there.
    page = open_page(browser, DESK)
    page.goto(home + "#/takes")
    page.locator(".take-link").first.wait_for()
    stems = lambda: page.locator(".take-row").evaluate_all("rows => rows.map((row) => row.dataset.stem)")
    focused = lambda: page.evaluate("document.activeElement.closest('.take-row')?.dataset.stem ?? null")
    before = stems()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(focused() == before[1], f"j goes to the next row: {focused()}")
    page.keyboard.press("k")
    expect(focused() == before[0], f"and k back: {focused()}")
    star = page.locator(f".take-row[data-stem='{before[0]}'] .take-star")
    page.keyboard.press("s")
    expect(wait_until(page, lambda: star.get_attribute("aria-pressed") == "true"), "s sets a star")
    page.keyboard.press("Delete")
    expect(wait_until(page, lambda: stems() == before[1:] and focused() == before[1]), f"Delete deletes, and the next row has the focus: {focused()}")
    page.get_by_role("button", name="Undo").click()
    expect(wait_until(page, lambda: stems() == before), f"which can be undone: {stems()}")
    nodes = page.evaluate("document.querySelectorAll('*').length")
    expect(nodes <= 300, f"the page has at most 300 elements: {nodes}")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('take-link')"):
            break
    expect(page.evaluate("document.activeElement.classList.contains('take-link')"), "the keyboard reaches a take")
    page.keyboard.press("Enter")
    page.locator(".wave-canvas").wait_for()
    expect(wait_until(page, lambda: page.evaluate("document.activeElement.tagName") == "H1"),
           f"its heading has the focus: {page.evaluate('document.activeElement.outerHTML')[:200]}")
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
    expect(not kit.complaints, f"no error of a script, no breach of the content policy: {kit.complaints[:3]}")
    browser.close()
sys.exit(1 if failures else 0)
