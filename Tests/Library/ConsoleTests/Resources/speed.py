"""Measures the library's page in Chromium with a phone's screen. A count that is too high is a failure. Times depend on the machine: they
are printed with their aims, as lines that begin with "figure:".

  speed.py PORT COOKIE NEWEST COUNT

COOKIE is that of a paired phone, as NAME=VALUE. COUNT is the number of takes. NEWEST is the stem of the newest one, whose columns are
computed. It and some older takes have sound. Prints each failure, and then exits with 1.
"""
import statistics
import sys

from playwright.sync_api import sync_playwright

port, cookie, newest, count = sys.argv[1:]
home = f"http://127.0.0.1:{port}/"
failures = []
PHONE = {"width": 360, "height": 740}
# A slow machine may need minutes for what takes seconds elsewhere.
PATIENCE_MS = 1_800_000
RUNS = 3
FRAMES = 180
MOST_BYTES = 40_000
MOST_ELEMENTS = 300
# In each frame on average. What moves is drawn on a canvas, or moved by a transform; the rows of a list come and go.
MOST_LAYOUTS, MOST_STYLES = 2, 3

FIRST_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"

# Moves something in each of some frames. Returns for each frame the time of the main thread, in milliseconds: from the first callback until
# the frame's scripts, styles, layout and painting are done, as a message is delivered after them.
MOVE = """(frames) => new Promise((done) => {
  const move = (%s);
  const spent = [];
  let count = 0;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data: began }) => {
    spent.push(performance.now() - began);
    if (spent.length === frames) done(spent);
  };
  const next = () => {
    // This comes first, so that the next frame's callbacks of the page run after this one.
    if (count + 1 < frames) requestAnimationFrame(next);
    port2.postMessage(performance.now());
    move(count, frames);
    count += 1;
  };
  requestAnimationFrame(next);
})"""

# Zooms around the middle: in for the first half, then out.
ZOOM = """(count, frames) => {
  const area = document.querySelector('.wave-touch');
  const { left, top, width, height } = area.getBoundingClientRect();
  area.dispatchEvent(new WheelEvent('wheel', {
    deltaY: count < frames / 2 ? -60 : 60, clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true }));
}"""

SCROLL = "() => scrollBy(0, 40)"

# Scrolls on with each frame, as fast as the takes come, until the last one is there. Counts the most elements that the page had.
THROUGH = """(count) => {
  window.most = Math.max(window.most ?? 0, document.querySelectorAll('*').length);
  if (document.querySelector(`.take-row[aria-posinset="${count}"]`)) return true;
  scrollTo(0, document.documentElement.scrollHeight);
  return false;
}"""

# Measures from the next tap until a condition holds.
AFTER_TAP = """() => {
  let tapped = null;
  window.reaction = null;
  addEventListener('pointerdown', (event) => { tapped = event.timeStamp; }, { capture: true, once: true });
  const look = () => {
    if (tapped !== null && (%s)) window.reaction = performance.now() - tapped;
    else requestAnimationFrame(look);
  };
  look();
}"""

# The page's player is no element of the document.
WATCH_SOUND = """(() => {
  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function () {
    window.player = this;
    return play.call(this);
  };
})()"""

IS_HEARD = "window.player && !window.player.paused && window.player.currentTime > 0"

# All is fetched, and painted: the colours in the middle of the picture are not those of its empty ground alone.
IS_PAINTED = """(() => {
  const canvas = document.querySelector('.spectrum-canvas');
  if (canvas?.getAttribute('aria-busy') !== 'false' || !canvas.height) return false;
  const { data } = canvas.getContext('2d').getImageData(canvas.width >> 1, 0, 1, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size > 2;
})()"""


def expect(holds, fact):
    if not holds:
        failures.append(fact)
        print("NOT SO:", fact, flush=True)


def figure(name, value, aim=""):
    print(f"figure: {name}: {value}{f' (aim: {aim})' if aim else ''}", flush=True)


def open_phone(browser):
    """A page of the paired phone that has loaded nothing yet, and its DevTools connection."""
    context = browser.new_context(viewport=PHONE, device_scale_factor=2, has_touch=True, locale="en-GB")
    name, _, value = cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "domain": "127.0.0.1", "path": "/"}])
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page, context.new_cdp_session(page)


def transferred(events, moment):
    """The bytes of all answers, with their heads, up to a moment by the clock of the events."""
    counts = {}
    for name, event in events:
        if event["timestamp"] > moment:
            continue
        request = event["requestId"]
        if name == "Network.responseReceived":
            counts[request] = event["response"]["encodedDataLength"]
        elif name == "Network.dataReceived":
            counts[request] = counts.get(request, 0) + event["encodedDataLength"]
        elif name == "Network.loadingFinished":
            counts[request] = event["encodedDataLength"]
    return round(sum(counts.values()))


def first_paint(browser, slow_down=1, bytes_a_second=-1):
    """The milliseconds until the deck is first painted, from a cold cache, and the bytes that had come by then."""
    page, wire = open_phone(browser)
    events = []
    for name in ("requestWillBeSent", "responseReceived", "dataReceived", "loadingFinished"):
        wire.on(f"Network.{name}", lambda event, name=name: events.append((f"Network.{name}", event)))
    wire.send("Network.enable")
    wire.send("Network.emulateNetworkConditions", {
        "offline": False, "latency": 0, "downloadThroughput": bytes_a_second, "uploadThroughput": bytes_a_second})
    wire.send("Emulation.setCPUThrottlingRate", {"rate": slow_down})
    page.goto(home, wait_until="commit")
    page.wait_for_function(FIRST_PAINT, polling=100)
    milliseconds = page.evaluate(FIRST_PAINT)
    page.wait_for_load_state("load")
    began = next(event["timestamp"] for name, event in events if name == "Network.requestWillBeSent")
    page.context.close()
    return milliseconds, transferred(events, began + milliseconds / 1000)


def paints(browser):
    slow = [first_paint(browser, slow_down=4)[0] for _ in range(RUNS)]
    figure("first paint with a processor slowed down 4 times, median", f"{statistics.median(slow):.0f} ms", "1000 ms")
    far = [first_paint(browser, bytes_a_second=400_000 / 8) for _ in range(RUNS)]
    figure("first paint at 400 kbit/s, median", f"{statistics.median(paint for paint, _ in far):.0f} ms", "1500 ms")
    # On a machine that is busy, the paint is late, and more has come by then.
    least = min(bytes_before for _, bytes_before in far)
    figure("bytes before the first paint", least, f"{MOST_BYTES}")
    expect(least <= MOST_BYTES, f"the deck is painted from {MOST_BYTES} bytes: {least}")


def since_tap(page, element, condition):
    page.evaluate(AFTER_TAP % condition)
    element.tap()
    page.wait_for_function("() => window.reaction !== null")
    return page.evaluate("window.reaction")


def open_list(page):
    page.goto(home + "#/takes")
    page.wait_for_function("() => document.querySelectorAll('.take-row').length > 5")


def taps(browser):
    page, _ = open_phone(browser)
    page.add_init_script(WATCH_SOUND)
    open_list(page)
    # A row that plays is another one each time, so that its file is fetched for the first time.
    heard = []
    for index in range(RUNS):
        button = page.locator(".take-row .take-play").nth(index)
        heard.append(since_tap(page, button, IS_HEARD))
        button.tap()
        page.wait_for_function("() => window.player.paused")
        page.evaluate("window.player = null")
    figure("from a tap in the list to sound, median", f"{statistics.median(heard):.0f} ms", "300 ms")
    painted = []
    for _ in range(RUNS):
        painted.append(since_tap(page, page.locator(f".take-row[data-stem='{newest}'] .take-link"), IS_PAINTED))
        page.evaluate("location.hash = '#/takes'")
        page.locator(f".take-row[data-stem='{newest}']").wait_for()
    figure("from a tap in the list to the whole spectrogram, median", f"{statistics.median(painted):.0f} ms", "500 ms")
    page.context.close()


def metrics(wire):
    return {metric["name"]: metric["value"] for metric in wire.send("Performance.getMetrics")["metrics"]}


def moves(name, page, wire, move):
    """Moves for some frames, and prints what a frame costs."""
    wire.send("Performance.enable")
    before = metrics(wire)
    spent = sorted(page.evaluate(MOVE % move, FRAMES))
    after = metrics(wire)
    each = {key: (after[key] - before[key]) / FRAMES for key in ("TaskDuration", "LayoutCount", "RecalcStyleCount")}
    figure(f"{name}: main thread in a frame, median", f"{statistics.median(spent):.1f} ms", "8 ms")
    figure(f"{name}: main thread in a frame, 95th percentile", f"{spent[len(spent) * 95 // 100]:.1f} ms", "8 ms")
    figure(f"{name}: all of the main thread's tasks, for each frame", f"{1000 * each['TaskDuration']:.1f} ms")
    figure(f"{name}: layouts in a frame", f"{each['LayoutCount']:.2f}", f"{MOST_LAYOUTS}")
    figure(f"{name}: recalculated styles in a frame", f"{each['RecalcStyleCount']:.2f}", f"{MOST_STYLES}")
    expect(each["LayoutCount"] <= MOST_LAYOUTS, f"{name}: at most {MOST_LAYOUTS} layouts a frame: {each['LayoutCount']:.2f}")
    expect(each["RecalcStyleCount"] <= MOST_STYLES, f"{name}: styles at most {MOST_STYLES} times a frame: {each['RecalcStyleCount']:.2f}")


def motion(browser):
    page, wire = open_phone(browser)
    page.goto(f"{home}#/takes/{newest}")
    page.wait_for_function(f"() => {IS_PAINTED}")
    moves("zooming", page, wire, ZOOM)
    open_list(page)
    moves("scrolling", page, wire, SCROLL)
    expect(page.evaluate("scrollY > 0"), "the list is scrolled")
    page.context.close()


def elements(browser):
    page, _ = open_phone(browser)
    open_list(page)
    page.wait_for_function(THROUGH, arg=count)
    most = page.evaluate("window.most")
    figure(f"elements of the page while {count} takes are scrolled through, at most", most, f"{MOST_ELEMENTS}")
    expect(most <= MOST_ELEMENTS, f"a page with {count} takes has at most {MOST_ELEMENTS} elements: {most}")
    page.context.close()


with sync_playwright() as play:
    chromium = play.chromium.launch(executable_path="/usr/bin/chromium", args=[
        "--no-sandbox", "--autoplay-policy=no-user-gesture-required"])
    for measure in (paints, taps, motion, elements):
        measure(chromium)
    chromium.close()
sys.exit(1 if failures else 0)
