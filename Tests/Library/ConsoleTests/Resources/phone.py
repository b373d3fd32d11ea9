"""A phone on the pages of a running kit, with Chromium as its browser: what the scripts beside this one share."""
import json
import time
import urllib.error
import urllib.request

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1100, "height": 800}


class Kit:
    """A running kit. `complaints` lists the errors of its pages' scripts, and the breaches of their content policy."""

    def __init__(self, port, token):
        self.home, self.token, self.complaints = f"http://127.0.0.1:{port}/", token, []

    def api(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Cookie": f"fieldfare={self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.home + path.lstrip("/"), data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def listed(self):
        """Returns the last take of the recorder, once the library has it."""
        stem = json.loads(self.api("GET", "/api/status"))["selected"]
        while True:
            try:
                self.api("GET", f"/api/takes/{stem}")
                return stem
            except urllib.error.HTTPError as error:
                if error.code != 404:
                    raise
                time.sleep(0.02)

    def open_page(self, browser, size, paired=True, host="127.0.0.1", **more):
        context = browser.new_context(viewport=size, locale="en-GB", accept_downloads=True, **more)
        if paired:
            context.add_cookies([{"name": "fieldfare", "value": self.token, "domain": host, "path": "/", "sameSite": "Strict", "httpOnly": True}])
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(error.stack or str(error)))
        page.on("console", lambda message: self.complaints.append(message.text) if "Content Security Policy" in message.text else None)
        return page


def chromium(play, *arguments):
    return play.chromium.launch(executable_path="/usr/bin/chromium", args=[
        "--no-sandbox", "--autoplay-policy=no-user-gesture-required", *arguments])


def seconds(text):
    parts = [float(part) for part in text.split(":")]
    return sum(part * 60 ** index for index, part in enumerate(reversed(parts)))


def shows(page, text, timeout=30_000):
    """Waits until a page shows a text, and returns whether it does. The machine may be busy: no wait here measures the page's speed."""
    try:
        page.get_by_text(text).first.wait_for(timeout=timeout)
        return True
    except Exception:
        return False


def wait_until(page, holds, seconds=30):
    """Waits until a condition holds, and returns whether it does."""
    for _ in range(int(seconds * 20)):
        if holds():
            return True
        page.wait_for_timeout(50)
    return False


def stems(page):
    """The takes whose rows the list shows, in its order."""
    return page.locator(".take-row").evaluate_all("rows => rows.map((row) => row.dataset.stem)")


def is_in_view(element):
    """Whether an element is on the screen, whole and not covered: a person need not scroll to see it or to tap it."""
    return element.evaluate("""one => {
        const { left, right, top, bottom, width, height } = one.getBoundingClientRect();
        const isWithin = width > 0 && height > 0 && left > -1 && top > -1 && right < innerWidth + 1 && bottom < innerHeight + 1;
        const there = isWithin && document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return Boolean(there) && (one.contains(there) || there.contains(one));
    }""")


class Failure(Exception):
    """What a person could not do, or saw otherwise than it is."""


class Finger:
    """A finger on a page that knows touch. It counts what it does: each tap, each stroke, and each text that is typed is one of `taps`; to
    scroll is one of `scrolls`."""

    def __init__(self, page):
        self.page, self.wire = page, page.context.new_cdp_session(page)
        self.count = {"taps": 0, "scrolls": 0}

    def beside(self, page):
        """The same person's finger on the page of another phone."""
        other = Finger(page)
        other.count = self.count
        return other

    @property
    def taps(self):
        return self.count["taps"]

    @property
    def scrolls(self):
        return self.count["scrolls"]

    def tap(self, element):
        """Taps an element once it can be tapped, after scrolling to it if it is not on the screen."""
        self.reach(element)
        element.tap()
        self.count["taps"] += 1

    def type(self, text):
        """Types a text into the field that has the keyboard, and then Enter."""
        if not wait_until(self.page, lambda: self.page.evaluate("document.activeElement.matches('input, textarea')")):
            raise Failure(f"no field has the keyboard for {text!r}")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")
        self.count["taps"] += 1

    def slide(self, element, by):
        """Moves an element aside, by pixels to the right."""
        self.reach(element)
        self.stroke(element.bounding_box, *self.aside(element, by))
        self.count["taps"] += 1
        # A person's finger needs longer to the next place. The page ignores the click that a browser may make of a stroke.
        self.page.wait_for_timeout(400)

    def drag(self, element, first, last):
        """Draws a line on an element between two places, as shares of its width and height."""
        self.reach(element)
        self.stroke(element.bounding_box, *([tuple(one + (other - one) * step / 6 for one, other in zip(first, last))] for step in range(7)))
        self.count["taps"] += 1

    def reach(self, element):
        element.wait_for()
        if not is_in_view(element):
            element.evaluate("one => one.scrollIntoView({ block: 'center', behavior: 'instant' })")
            self.count["scrolls"] += 1

    @staticmethod
    def aside(element, by):
        """The steps of a stroke from the middle of an element, by pixels to the right."""
        width = element.bounding_box()["width"]
        return ([(0.5 + by * step / 6 / width, 0.5)] for step in range(7))

    def stroke(self, area, first, *steps, held=lambda: None):
        """Moves fingers from step to step, and lifts them. Returns for how long the first one rested before it moved, in seconds.

        `area` returns where the element is now. A step has the place of each finger, as shares of its width and height. `held` is called
        before the fingers are lifted."""
        box, began, rested, down = area(), time.monotonic(), None, 0
        for places in (first, *steps, []):
            if not places:
                # A finger that is lifted while it moves throws the page, and the next tap would only stop it.
                self.page.wait_for_timeout(200)
                held()
            kind = "touchStart" if len(places) > down else "touchMove" if places else "touchEnd"
            points = [point(box, *place) | {"id": finger} for finger, place in enumerate(places)]
            self.wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
            if down and rested is None:
                rested = time.monotonic() - began
            down = len(places)
        return rested


def point(box, x, y):
    return {"x": box["x"] + box["width"] * x, "y": box["y"] + box["height"] * y}
