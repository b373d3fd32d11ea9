"""A USB microphone that is pulled during a take and comes back: the recorder's reports, and which microphone each part or following take
was recorded from.

Each microphone's frame numbers begin at its own step, so that a part shows its source.
"""
import time

from kit import command, expect, figure, wait_until
from panel import press
from usbmic import RATE, Microphone, all_runs, in_faults

BACK_WITHIN = 4
STEP = 10_000_000
# As many bytes per frame as two 16-bit channels.
MONO = {"channels": 1, "bits": 32}


def begin(recorder):
    """Begins a take and lets it run for a while. Returns the press."""
    pressed = press("record")
    recorder.wait_state("recording")
    time.sleep(2.5)
    return pressed


def pull(recorder, mic):
    """Unplugs the microphone during a take, which waits for it."""
    when = mic.pull()
    status = recorder.wait(lambda status: in_faults(status))
    figure("fault 1 after it was pulled", time.monotonic() - when, "s")
    expect(status["state"] == "recording" and in_faults(status), f"recording, with fault 1: {status['faults']}")
    time.sleep(1)


def come_back(recorder, what, **where):
    """Plugs in a microphone with which the take continues."""
    mic = Microphone(**where)
    mic.wait_card()
    status = recorder.wait(lambda status: not in_faults(status), BACK_WITHIN + 16)
    figure(f"{what}: the take goes on after", time.monotonic() - mic.plugged, "s")
    expect(status["state"] == "recording" and not in_faults(status), f"{what}: the take goes on: {status['faults']}")
    time.sleep(2)
    return mic


def end(recorder, what, parts, sources):
    """Stops. Each part must end with unbroken sound of the expected microphone."""
    press("stop")
    recorder.wait(lambda status: status["state"] != "recording", 20)
    take = recorder.take()
    expect(len(take.sidecar["parts"]) == parts, f"{what}: {parts} parts: {[part['frames'] for part in take.sidecar['parts']]}")
    captured = [run for run in all_runs(take) if run.number]
    found = [run.number // STEP for run in captured]
    expect(found == sources, f"{what}: each part is one run of its microphone's sound: {found}, of {sources}")
    expect({gap["cause"] for gap in take.sidecar["gaps"]} <= {"card-lost"}, f"{what}: gaps {take.sidecar['gaps']}")
    return take


def wait_refused(recorder, what, seconds=4):
    """Expects that the take gets no frames for some seconds."""
    frames = recorder.status()["frames"]
    time.sleep(seconds)
    status = recorder.status()
    expect(status["state"] == "recording" and in_faults(status) and status["frames"] - frames < 100,
           f"{what}: the take waits for its own: {status['state']} {status['faults']}, {status['frames'] - frames} more frames")


def expect_places(what, take, places):
    """Expects that the sidecar and `show` name the port of each part."""
    parts = take.sidecar["parts"]
    found = [part.get("port") or "" for part in parts]
    expect(all(port.endswith(f"-{place + 1}") for port, place in zip(found, places, strict=True)), f"{what}: the ports {found}, of {places}")
    cards = [part.get("card") for part in parts]
    expect(all(cards), f"{what}: each part names its card: {cards}")
    _, shown, _ = command("show", take.stem)
    changes = sum(before != after for before, after in zip(places, places[1:]))
    expect(shown.count(", instead of ") == changes, f"{what}: show says {changes} changes: {shown}")


def come_back_changed(recorder, first):
    """Plugs in a microphone with one channel where a take has two. The take ends, and another begins."""
    taken = recorder.status()["take"]
    mic = Microphone(first=first, **MONO)
    mic.wait_card()
    status = recorder.wait(lambda status: status["take"] not in (None, taken) and not in_faults(status), BACK_WITHIN + 16)
    figure("another take begins after", time.monotonic() - mic.plugged, "s")
    expect(status["state"] == "recording" and status["channels"] == 1 and not in_faults(status), f"another take is recorded: {status}")
    time.sleep(2)
    return mic


def end_changed(recorder, sources):
    """Stops. The take and the following one must hold the sound of the expected microphones. Returns both."""
    press("stop")
    recorder.wait_state("idle", 20)
    takes = recorder.takes(2)
    expect([take.sidecar["ended_by"] for take in takes] == ["card-lost", "stop"], f"ended by {[take.sidecar['ended_by'] for take in takes]}")
    expect([take.sidecar["channels"] for take in takes] == [2, 1], f"channels {[take.sidecar['channels'] for take in takes]}")
    found = [[run.number // STEP for run in all_runs(take) if run.number] for take in takes]
    expect(found == sources, f"each part is one run of what was sent: {found}, of {sources}")
    expect(takes[1].sidecar["frames"] > 2 * RATE, f"the second take has all since then: {takes[1].sidecar['frames']} frames")
    # The journal of a service may be late.
    sentence = "is back with 1 channel instead of 2: the sound goes on in another take"
    expect(wait_until(lambda: sentence in recorder.errors(), 10), "it is said")
    return takes
