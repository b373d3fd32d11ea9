"""Hours in which the kit records without a person, with the power off between them, for `run`."""
import datetime
import time

from facts import fact

# The PL031's match register, in seconds since 1970.
ALARM = 0x9010004
# The kit must be unused for 600 s before it switches itself off.
PATIENCE = 1200


def iso(instant):
    return instant.strftime("%Y-%m-%dT%H:%M:%S.000000Z")


def check_schedule(bench, settings):
    """The machine cannot be switched on by its clock chip, so it is started again at the time of the alarm."""
    begin = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=5)).replace(minute=0, second=0, microsecond=0)
    end = begin + datetime.timedelta(minutes=40)
    hours = f"[schedule]\nrecord = [\"{begin:%H:%M}-{end:%H:%M}\"]\noff_between = true\n"
    card = bench.card("schedule", settings=f"{settings}\n{hours}")
    machine = bench.start(card)
    fact(machine.is_armed(), "the recorder is armed")
    status = machine.status()
    fact(status.get("scheduled") == {"from": iso(begin), "until": iso(end)}, f"its next hours: {status.get('scheduled')}, by a clock set by {status.get('clock')}")
    fact(machine.as_root("stat -c '%G %a' /dev/rtc0") == "fieldfare 660", "the recorder's group may set the clock chip's alarm")
    machine.leave()
    began, alarm = machine.clock(), 0
    while machine.is_on() and machine.clock() < began + PATIENCE:
        alarm = machine.read(ALARM) or alarm
        time.sleep(1)
    fact(not machine.is_on(), f"{machine.last_clock() - began:.0f} s after it was left it switches itself off")
    wake = begin - datetime.timedelta(minutes=2)
    fact(abs(alarm - wake.timestamp()) <= 2, f"  its alarm: {alarm - wake.timestamp():+.0f} s from {iso(wake)}")
    machine.pull()

    machine = bench.start(card, at=wake)
    fact(machine.is_recording(), "switched on by then, it records")
    status = machine.status()
    fact(machine.clock() < 120 + 300, f"  at {machine.clock():.0f} s after power on, by the kit's clock")
    machine.press("stop")
    fact(machine.wait(lambda: machine.takes() != [], "the take"), "  until it is stopped")
    shown = machine.say("sudo fieldfare takes --long 2>/dev/null; sudo cat /data/takes/*/*.json /var/lib/fieldfare/takes/*/*.json 2>/dev/null")
    fact('"started_by":"schedule"' in shown.replace(" ", ""), "  its sidecar says that the schedule began it")
    machine.sleep(15)
    fact(machine.status().get("state") == "idle", "  and no other one follows")
    ends = machine.say("sudo fieldfare history")
    fact("between the hours of its schedule" in ends, "the history says why it had been off")
    machine.pull()
