"""Updates of the kit, for `run`."""
import json
import pathlib
import shutil
import subprocess
import time

from emulated_kit import BOOT_SECONDS
from facts import fact

project = pathlib.Path(__file__).resolve().parent.parent.parent


class Updates:
    """Bundles of the image's packages, under other versions."""

    def __init__(self, folder, packages, key):
        self.folder, self.packages, self.key = folder, packages, key
        subprocess.run(["minisign", "-G", "-W", "-p", folder / "other.pub", "-s", folder / "other.key"], check=True,
                       stdout=subprocess.DEVNULL)

    def bundle(self, version, key=None, starts=True):
        packages = self.folder / "packages"
        shutil.rmtree(packages, ignore_errors=True)
        packages.mkdir()
        for name in ("fieldfare", "fieldfare-library"):
            tree = self.folder / "tree"
            shutil.rmtree(tree, ignore_errors=True)
            package, = self.packages.glob(f"{name}_*_arm64.deb")
            former = package.name.split("_")[1]
            subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
            control = tree / "DEBIAN/control"
            control.write_text(control.read_text().replace(former, version))
            if name == "fieldfare" and not starts:
                (tree / "usr/bin/fieldfare-recorder").write_text("#!/bin/sh\nexit 1\n")
            subprocess.run(["dpkg-deb", "-z1", "--root-owner-group", "-b", tree, packages / f"{name}_{version}_arm64.deb"],
                           check=True, stdout=subprocess.DEVNULL)
        made = subprocess.run([project / "deploy/update", "--packages", packages, "--key", key or self.key, "--output", self.folder],
                              check=True, capture_output=True, text=True).stdout
        return pathlib.Path(made.splitlines()[-1])


def check_updates(bench, card, packages, key, randomness):
    root = card.root_digest()
    folder = bench.folder
    updates = Updates(folder, packages, key)
    version = lambda machine: machine.say("dpkg-query -W -f '${Version}' fieldfare")
    current = lambda machine: machine.say("sudo cat /data/system/current")
    reports = lambda sentence: lambda: sentence in (card.look("fieldfare-report.txt") or "")
    boot = lambda machine: machine.say("cat /proc/sys/kernel/random/boot_id")
    looks = "systemctl --quiet is-active kit-update@boot-firmware.service"

    card.drop_update(updates.bundle("0.9.1", key=folder / "other.key"))
    machine = bench.start(card)
    sentence = "fieldfare-0.9.1-arm64.update: is not signed with the key of this kit's image"
    shows = lambda sentence: lambda: any(sentence in fault["message"] for fault in machine.status().get("faults", []))
    fact(machine.wait(reports(sentence), "the refusal"), "an update of somebody else is refused in the report")
    fact(machine.wait(shows(sentence), "fault 7"), "  and on the lamps")
    fact(machine.is_armed(), "  and the recorder is armed")
    fact(machine.say("sudo ls /data/system /data/system/slots | grep -E 'current|trying|^[0-9]'") == "", "  and nothing is changed")
    shipped = version(machine)
    machine.until(f"! {looks}")

    machine.press("record")
    fact(machine.is_recording(), "an update comes while a take is recorded")
    take = machine.status().get("take")
    first = boot(machine)
    with open(updates.bundle("0.9.1"), "rb") as bundle:
        machine.run("sudo sh -c 'cd /boot/firmware && mount -o remount,rw . && rm *.update && cat >fieldfare-0.9.1-arm64.update'", bundle)
    machine.run("sudo mount -o remount,ro /boot/firmware")
    machine.run("sudo systemctl start kit-update@boot-firmware.service")
    fact(machine.until("grep -q waiting /run/fieldfare-kit/update"), "  it waits")
    machine.sleep(15)
    fact(machine.say("sudo ls /data/system | grep -E 'incoming|trying'") == "", "  and takes nothing of the card meanwhile")
    status = machine.status()
    fact(status.get("state") == "recording" and status.get("take") == take and boot(machine) == first,
         "  the take goes on")
    fact(status.get("xruns") == 0 and status.get("gaps") == 0, f"  without a gap: {status.get('xruns')} overruns, {status.get('gaps')} gaps")
    machine.press("stop")
    began = time.monotonic()
    fact(machine.wait(lambda: machine.say("sudo cat /data/system/trying") != "", "the slot", 900), "  once it has ended a slot is made of the update")
    making = time.monotonic() - began
    fact(machine.wait(lambda: boot(machine) not in ("", first), "the trial"), "  and the kit starts again")
    fact(machine.wait(lambda: current(machine).startswith("0.9.1-"), "the confirmation"), "  and the update is in force")
    print(f"       {making:.0f} and {time.monotonic() - began:.0f} s after the take, emulated; MiB of the slot: "
          + machine.as_root("du -sm /data/system/slots/*/files | cut -f1"))
    fact(version(machine) == "0.9.1" and shipped != "0.9.1", f"  dpkg says 0.9.1, and said {shipped}")
    fact(machine.is_armed(), "  the recorder is armed")
    fact(machine.wait(reports("fieldfare-0.9.1-arm64.update: is in force"), "the report"), "  the report says so")
    fact(card.root_digest() == root, "  the image's own root is the same to the byte")
    takes = json.loads(machine.say("sudo fieldfare takes --json") or "{}").get("takes", [])
    fact(any(entry["take"] == take and entry["duration_seconds"] > 15 for entry in takes), "  and the take is there as a whole")
    machine.pull()

    card.drop_update(updates.bundle("0.9.2", starts=False))
    machine = bench.start(card)
    began = time.monotonic()
    sentence = "fieldfare-0.9.2-arm64.update: the recorder was not armed 120 s after the start of the trial"
    fact(machine.wait(reports(sentence), "the rolling back", 2 * BOOT_SECONDS),
         "an update whose recorder does not start is rolled back, and the report says it")
    fact(machine.wait(lambda: not machine.say("ls /run/kit/trial") and machine.status().get("armed") is True, "the former version"),
         "  the recorder is armed again")
    print(f"       {time.monotonic() - began:.0f} s from power on, emulated")
    fact(version(machine) == "0.9.1" and current(machine).startswith("0.9.1-"), "  with the former version")
    fact(machine.until(f"! {looks}") and machine.say("sudo ls /data/system | grep trying") == "", "  and it is not tried again")
    fact(shows(sentence)(), "  the lamps show it")
    machine.pull()

    card.drop_update(updates.bundle("0.9.3"))
    armed = 'fieldfare status --json | grep -q \\"armed\\":true'
    for phase in ["making", "making", "making", "made", "trial", "confirming"]:
        machine = bench.start(card)
        step = {
            "making": "(test -e /data/system/trying || ls -d /data/system/slots/*.new)",
            "made": "test -s /data/system/trying",
            "confirming": "grep -q ^0.9.3 /run/kit/slot",
        }.get(phase)
        if step:
            fact(machine.wait(lambda: machine.until(f"{step} && {armed}", 120), f"the step {phase}"), "it boots to an armed recorder")
        seconds = randomness.uniform(0, {"making": 0.6 * making, "made": 3, "trial": 40, "confirming": 3}[phase])
        print(f"       power cut {seconds:.1f} s into {phase}, {time.monotonic() - machine.began:.0f} s after power on", flush=True)
        time.sleep(seconds)
        machine.pull()
    machine = bench.start(card)
    fact(machine.wait(lambda: current(machine).startswith("0.9.3-"), "the last update"), "after all cuts the update is in force")
    fact(machine.is_armed() and version(machine) == "0.9.3", "  the recorder is armed with it")
    fact(machine.until(f"! {looks}") and machine.say("sudo ls /data/system/slots | wc -l") == "1", "  the former slot is gone")
    fact(card.root_digest() == root, "  the image's own root is the same to the byte")
    machine.pull()
