"""Walks through what people do on the pages of a running kit, with one finger on a phone. Prints a line for each task: how many taps it had and how
long it took. Prints each task that could not be done, or had more taps than it may have, and then exits with 1.

  tasks.py PORT TOKEN WEEK TASK...

WEEK says what the kit has, as JSON: `zone` (the phone's time zone), `tuesday` (a day), and the takes `loudest` (of last night) and `longest`. A
TASK is a name of a function below. They are done in the order in which they are named. FIELDFARE_PICTURES names a folder for pictures of the
pages on which a task could not be done.
"""
import json
import os
import pathlib
import sys
import time
import urllib.error

from playwright.sync_api import sync_playwright

from phone import Failure, Finger, Kit, PHONE, chromium, is_in_view, seconds, shows, stems, wait_until

TASKS = {}
pictures = os.environ.get("FIELDFARE_PICTURES")


def task(name, taps):
    """A task, and the most taps that it may have."""
    def keep(body):
        TASKS[body.__name__] = (name, taps, body)
        return body
    return keep


def expect(holds, fact):
    if not holds:
        raise Failure(fact)


def tab(page, name):
    return page.locator("#nav").get_by_text(name, exact=True)


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def row(page, stem):
    return page.locator(f".take-row[data-stem='{stem}']")


def has(kit, stem):
    """Whether the kit's list has a take."""
    try:
        kit.api("GET", f"/api/takes/{stem}")
        return True
    except urllib.error.HTTPError as error:
        expect(error.code == 404, f"{stem}: {error}")
        return False


@task("find the loudest call of last night, and send it first", 8)
def loudest(hand, kit, week):
    page, stem = hand.page, week["loudest"]
    hand.tap(tab(page, "Takes"))
    hand.tap(button(page, "Last night"))
    hand.tap(button(page, "Loudest"))
    expect(wait_until(page, lambda: stems(page)[:1] == [stem]), f"it is the first one: {stems(page)[:3]}, and not {stem}")
    own = row(page, stem)
    hand.tap(own.locator(".take-play"))
    expect(wait_until(page, lambda: own.locator(".take-play").get_attribute("aria-label").startswith("Pause")), "it is heard")
    hand.slide(own.locator(".take-link"), 140)
    expect(wait_until(page, lambda: own.locator(".take-star").get_attribute("aria-pressed") == "true"), "it has a star")
    hand.tap(button(page, "Select takes"))
    hand.tap(own.locator(".take-check input"))
    hand.tap(button(page, "Send again"))
    expect(shows(page, "1 take will be sent."), "the page says that it will be sent")
    outbox = [take["take"] for take in json.loads(kit.api("GET", "/api/outbox?limit=50"))["takes"]]
    expect(len(outbox) > 1 and outbox[0] == stem, f"it is before all others in the outbox: {outbox}")


@task("hear the last ten takes", 2)
def last_ten(hand, kit, week):
    page = hand.page
    takes = json.loads(kit.api("GET", "/api/takes?limit=10"))["takes"]
    ten = [take["take"] for take in takes]
    hand.tap(tab(page, "Takes"))
    page.locator(".take-row").first.wait_for()
    page.evaluate("""() => {
        window.heard = [];
        const title = document.querySelector('.sound-title');
        new MutationObserver(() => {
            const stem = decodeURIComponent(title.hash.split('/')[2]);
            if (heard.at(-1) !== stem) heard.push(stem);
        }).observe(title, { attributes: true, attributeFilter: ['href'] });
    }""")
    began = time.monotonic()
    hand.tap(page.locator(".take-play").first)
    heard = lambda: page.evaluate("heard")
    expect(wait_until(page, lambda: len(heard()) > 10, 120), f"another one follows the ten: {heard()}")
    expect(heard()[:10] == ten, f"they are heard, the newest one first: {heard()}, and not {ten}")
    took, length = time.monotonic() - began, sum(take["duration_seconds"] for take in takes)
    expect(took > 0.95 * length, f"they are heard whole: {length:.1f} s of sound in {took:.1f} s")


@task("see whether it is safe to leave", 0)
def safe(hand, kit, week):
    page = hand.page
    kit.api("POST", "/api/deck/record", {})
    try:
        page.reload()
        state, disk, left = page.locator(".state-name"), page.locator(".disk.is-safe"), page.locator(".deck-left")
        waiting = sum(store["waiting"] for store in json.loads(kit.api("GET", "/api/outbox"))["stores"])
        facts = [(state, "Recording"), (disk, "on disk up to 0:"), (left, " left"), (left, f"{waiting} to upload, paused")]
        for place, text in facts:
            expect(wait_until(page, lambda: place.count() and text in place.inner_text() and is_in_view(place)), f"{text!r} is on the first screen")
        shown, before = page.locator(".disk"), seconds(page.locator(".clock").inner_text())
        expect(wait_until(page, lambda: seconds(page.locator(".clock").inner_text()) > before + 1), "the take goes on")
        expect("is-safe" in shown.get_attribute("class"), f"and is on the disk: {shown.inner_text()}")
        faults = lambda: json.loads(kit.api("GET", "/api/status"))["faults"]
        lines = page.locator(".fault")
        expect(wait_until(page, lambda: bool(lines.count()) == bool(faults())), f"what is wrong is shown: {lines.all_inner_texts()} of {faults()}")
        expect(all(is_in_view(line) for line in lines.all()), "on the first screen, too")
    finally:
        kit.api("POST", "/api/deck/stop", {})
        kit.api("DELETE", f"/api/takes/{kit.listed()}?where=here")


@task("name three takes", 8)
def name_three(hand, kit, week):
    page = hand.page
    hand.tap(tab(page, "Takes"))
    page.locator(".take-row").first.wait_for()
    hand.tap(button(page, "Select takes"))
    titles = dict(zip(stems(page), ["Robin at dawn", "Tawny owl, far", "Wren at the weir"]))
    for stem, title in titles.items():
        own = row(page, stem)
        hand.tap(own.get_by_role("button", name="Change the title"))
        hand.type(title)
        expect(wait_until(page, lambda: own.locator(".take-title").inner_text() == title), f"the row has {title!r}")
    kept = {stem: json.loads(kit.api("GET", f"/api/takes/{stem}"))["take"]["title"] for stem in titles}
    expect(kept == titles, f"the kit has the titles: {kept}")


@task("pair a second phone", 5)
def second_phone(hand, kit, week):
    page = hand.page
    hand.tap(tab(page, "Kit"))
    hand.tap(page.get_by_role("link", name="Phones"))
    hand.tap(button(page, "Show the code"))
    code = page.locator(".facts dt:has-text('Code') + dd")
    hand.reach(code)
    other = hand.beside(kit.open_page(page.context.browser, PHONE, paired=False, has_touch=True))
    other.page.goto(kit.home)
    other.tap(other.page.get_by_label("Six digits"))
    # The kit accepts phones once the page has asked whether it does.
    expect(wait_until(other.page, button(other.page, "Pair this phone").is_enabled), "the kit accepts phones")
    other.type(code.inner_text())
    other.page.locator(".state-name").wait_for(state="attached")
    phones = json.loads(kit.api("GET", "/api/phones"))["phones"]
    expect(len(phones) == 2, f"the kit has both: {[phone['name'] for phone in phones]}")
    other.page.context.close()


@task("find out why nothing was recorded on Tuesday", 3)
def tuesday(hand, kit, week):
    page = hand.page
    hand.tap(tab(page, "Day"))
    page.locator(".calendar [aria-current]").wait_for()
    day = page.locator(f".calendar a[data-day='{week['tuesday']}']")
    if not (day.count() and day.is_visible()):
        hand.tap(button(page, "Previous month"))
    hand.tap(day)
    expect(wait_until(page, lambda: page.locator("h1").inner_text().startswith("Tuesday")), f"it is a Tuesday: {page.locator('h1').inner_text()}")
    expect(shows(page, "Nothing was recorded."), "the page says that nothing was recorded")
    why = page.locator(".day-events .is-fault")
    expect(wait_until(page, lambda: why.count() == 1), f"there is one reason: {why.all_inner_texts()}")
    expect("The storage is full" in why.inner_text() and "the day before" in why.inner_text(), f"why, and since when: {why.inner_text()}")


@task("free some space", 3)
def free_space(hand, kit, week):
    page, stem = hand.page, week["longest"]
    take = json.loads(kit.api("GET", f"/api/takes/{stem}"))["take"]
    binned = lambda: json.loads(kit.api("GET", "/api/status"))["bin_bytes"]
    before = binned()
    hand.tap(tab(page, "Takes"))
    hand.tap(button(page, "Longest"))
    expect(wait_until(page, lambda: stems(page)[:1] == [stem]), f"the longest take is the first one: {stems(page)[:3]}, and not {stem}")
    own = row(page, stem)
    expect(own.locator(".take-standing").inner_text() == "at home", f"it is safe at home: {own.inner_text()}")
    hand.slide(own.locator(".take-link"), -140)
    expect(shows(page, "1 take deleted.") and own.count() == 0, "it is deleted")
    expect(wait_until(page, lambda: not has(kit, stem)), "also from the kit's list")
    expect(wait_until(page, lambda: binned() >= before + take["bytes"]), f"its {take['bytes']} bytes are there when they are needed: {before}, {binned()}")


@task("make a clip of 3 s", 5)
def clip(hand, kit, week):
    page = hand.page
    hand.tap(tab(page, "Takes"))
    hand.tap(page.locator(".take-link").first)
    picture, boxing = page.locator(".wave-touch"), button(page, "Box")
    expect(wait_until(page, lambda: page.locator(".spectrum-canvas").get_attribute("aria-busy") == "false", 60), "the picture is drawn")
    length = seconds(page.locator(".play-time").inner_text().split("/")[1].strip())
    hand.tap(boxing)
    # The browser makes the click of a tap after the tap has ended.
    expect(wait_until(page, lambda: boxing.get_attribute("aria-pressed") == "true"), "a drag is to draw a box")
    share = 3 / length
    hand.drag(picture, (0.5 - share / 2, 0.2), (0.5 + share / 2, 0.2))
    expect(wait_until(page, lambda: "–" in page.locator(".range-text").inner_text()), "a part is selected")
    with page.expect_download() as download:
        hand.tap(button(page, "Download clip"))
    made = length_of(pathlib.Path(download.value.path()).read_bytes())
    expect(abs(made - 3) < 0.1, f"it has {made:.2f} s")


def length_of(wave):
    """The length of a WAV file's sound, in seconds."""
    at, chunks = 12, {}
    while at + 8 <= len(wave):
        size = int.from_bytes(wave[at + 4:at + 8], "little")
        chunks[wave[at:at + 4]] = wave[at + 8:at + 8 + size]
        at += 8 + size + size % 2
    return len(chunks[b"data"]) / int.from_bytes(chunks[b"fmt "][8:12], "little")


@task("set the clock", 1)
def clock(hand, kit, week):
    page, asked = hand.page, []

    # A simulated kit does not set the clock of this machine. Another one would, and would answer with its status.
    def set_clock(route):
        asked.append(route.request.post_data_json["time"])
        route.fulfill(json=json.loads(kit.api("GET", "/api/status")))

    page.route("**/api/deck/clock", set_clock)
    # The phone's clock is an hour ahead of the kit's.
    page.add_init_script("""{
        const { now } = Date;
        const ahead = 3_600_000;
        globalThis.Date = class extends Date {
            constructor(...parts) { super(...(parts.length ? parts : [now() + ahead])); }
            static now() { return now() + ahead; }
        };
    }""")
    page.reload()
    expect(shows(page, "The clock "), "the page says that the clock is wrong")
    hand.tap(button(page, "Set from phone"))
    expect(shows(page, "The kit’s clock was set."), "the page says that it was set")
    away = page.evaluate("asked => asked.map((time) => Math.abs(Date.now() - Date.parse(time)) / 1000)", asked)
    expect(len(away) == 1 and away[0] < 60, f"to the phone's time: {asked}, {away} s ago")


def walk(name, kit, browser, week):
    """Does a task, on the page of a phone that was just opened. Prints its line, and returns whether it was done in few taps."""
    what, most, body = TASKS[name]
    began = time.monotonic()
    hand = Finger(kit.open_page(browser, PHONE, has_touch=True, timezone_id=week["zone"]))
    problem = None
    try:
        hand.page.goto(kit.home)
        hand.page.locator(".state-name").wait_for(state="attached")
        body(hand, kit, week)
        if hand.taps > most:
            problem = f"MORE THAN {most} TAPS"
    except Exception as error:
        problem = f"NOT DONE: {error}"
        if pictures:
            hand.page.screenshot(path=f"{pictures}/task-{name}.png")
    print(f"{what}: {hand.taps} taps, {hand.scrolls} scrolls, {time.monotonic() - began:.1f} s{f': {problem}' if problem else ''}", flush=True)
    hand.page.context.close()
    return not problem


def main():
    port, token, week, *names = sys.argv[1:]
    kit = Kit(port, token)
    with sync_playwright() as play:
        browser = chromium(play)
        done = [walk(name, kit, browser, json.loads(week)) for name in names]
        browser.close()
    if kit.complaints:
        print("NOT SO: no error of a script, no breach of the content policy:", kit.complaints[:3])
    sys.exit(0 if done and all(done) and not kit.complaints else 1)


main()
