"""The kit at a computer's USB socket, and a disk that reports its wear, for `run`."""
import json
import shlex

from facts import fact

ADDRESS = """#!/bin/sh
case $1 in
bound | renew)
	busybox ip address add "$ip/$mask" dev "$interface"
	echo "router=$router dns=$dns" >/root/given
	;;
esac
"""


def check_computer(bench, card):
    """The kernel simulates the socket and the computer's controller. The computer's adapter is in a network namespace of the kit."""
    machine = bench.start(card)
    fact(machine.is_armed(), "the recorder is armed")
    machine.as_root("mkdir -p /run/netns && : >/run/netns/computer && unshare --net=/run/netns/computer true")
    in_computer = lambda command: machine.as_root(f"nsenter --net=/run/netns/computer {command}")
    adapter = "grep -ls DRIVER=cdc_ncm /sys/class/net/*/device/uevent | cut -d/ -f5"
    machine.as_root("modprobe dummy_hcd")
    fact(machine.until("test -e /sys/class/net/kit-usb0", 60), "at a computer's socket the kit is a network adapter")
    fact(machine.until(f"test -n \"$({adapter})\"", 60), "  which the computer finds")
    name = machine.as_root(adapter)
    address = machine.say(f"cat /sys/class/net/{name}/address")
    fact(address.startswith("06:"), f"  as {name}, {address}")
    machine.as_root("nsenter --net=/run/netns/computer sleep infinity >/dev/null 2>&1 & p=$!; "
                    "while [ $(readlink /proc/$p/ns/net) = $(readlink /proc/self/ns/net) ]; do sleep 0.1; done; "
                    f"busybox ip link set {name} netns $p")
    machine.as_root(f"printf %s {shlex.quote(ADDRESS)} >/root/address && chmod 755 /root/address")
    in_computer(f"busybox ip link set {name} up")
    fact(machine.until("nmcli -t -f NAME,DEVICE connection show --active | grep -qx fieldfare-usb:kit-usb0", 60), "NetworkManager serves it")
    in_computer(f"busybox udhcpc -i {name} -n -q -t 10 -s /root/address")
    given = in_computer(f"busybox ip -4 -o address show dev {name}")
    fact("inet 10.43.0." in given, f"the computer has an address: {given.split('inet ')[-1].split(' ')[0]}")
    fact(machine.as_root("cat /root/given") == "router= dns=", "  and keeps its own way to the Internet")
    page = in_computer("busybox wget -q -T 30 -O - http://10.43.0.1/")
    fact("<title>" in page and "Fieldfare" in page, f"  and the console's page, of {len(page)} characters")
    fact(machine.status().get("armed") is True, "the recorder is armed all the while")

    disk = machine.say("ls /sys/block | grep nvme")
    machine.as_root("systemctl start fieldfare-storage-health.service")
    said = machine.say(f"cat /run/fieldfare-storage/{disk}.*.json")
    fact('"passed":true' in said, f"{disk} is asked how worn it is: {len(said)} characters")
    machine.as_root("systemctl restart fieldfare-recorder.service")
    fact(machine.is_armed(), "the recorder is started again")
    measured = lambda: [json.loads(line) for line in machine.say("sudo fieldfare history --json --kind measure").splitlines()]
    found = lambda: [event for event in flat(measured()) if event.get("smart_passed") == {disk: True} and disk in event.get("storage_wear_percent", {})]
    # The measurement comes a minute after the start.
    fact(machine.wait(lambda: found() != [], "the measurement", 180), f"  the history has it: {(found() or measured())[-1:]}")
    machine.pull()


def flat(values):
    """Yields all objects in nested lists and objects."""
    for value in values:
        if isinstance(value, dict):
            yield value
            yield from flat(value.values())
        elif isinstance(value, list):
            yield from flat(value)
