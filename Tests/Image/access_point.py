"""The kit's own Wi-Fi, for `run`."""
import json
import pathlib
import shlex

from facts import fact

# Closes after this long without a phone.
UNUSED_SECONDS = 60
PHONE_CONFIGURATION = """ctrl_interface=/run/phone
network={
	ssid="%s"
	psk="%s"
	key_mgmt=%s
	ieee80211w=%d
}
"""
PHONE_ADDRESS = """#!/bin/sh
case $1 in
bound | renew) busybox ip address add "$ip/$mask" dev "$interface" ;;
esac
"""


def label(machine):
    """Returns name and password of the kit's own Wi-Fi, as printed on the sticker."""
    try:
        return json.loads(machine.say("sudo fieldfare label --json"))["wifi"]
    except (ValueError, KeyError):
        return {"name": "", "password": ""}


def check_access_point(bench, card, former):
    """Checks the kit's own Wi-Fi, on a radio that the kernel simulates. The phone is another radio, in a network namespace of the kit."""
    machine = bench.start(card)
    fact(machine.is_armed(), "the recorder is armed")
    in_phone = lambda command: machine.as_root(f"nsenter --net=/run/netns/phone {command}")
    put = lambda path, text: machine.as_root(f"mkdir -p {pathlib.Path(path).parent}; printf %s {shlex.quote(text)} >{path}")
    unit = "fieldfare-access-point.service"
    address = "http://10.42.0.1/"

    sticker = label(machine)
    fact(former in (None, sticker["password"]), "the kit's own Wi-Fi has the password of the first start")
    machine.as_root("modprobe mac80211_hwsim radios=2")
    fact(machine.until("nmcli -t -f DEVICE device | grep -qx wlan0", 60), "NetworkManager finds a radio")
    machine.as_root("mkdir -p /run/netns && : >/run/netns/phone && unshare --net=/run/netns/phone true")
    machine.as_root("iw phy $(cat /sys/class/net/wlan1/phy80211/name) set netns name phone")
    fact("wlan1" in in_phone("iw dev"), "  and the phone has another one")
    put(f"/run/systemd/system/{unit}.d/short.conf", f"[Service]\nExecStart=\nExecStart=/usr/libexec/fieldfare/access-point {UNUSED_SECONDS}\n")
    machine.as_root("systemctl daemon-reload")
    fact("type AP" not in machine.say("sudo iw dev wlan0 info"), "its Wi-Fi is not there unasked")

    machine.press("back", "forward", seconds=3.5)
    began = machine.clock()
    is_open = machine.until("iw dev wlan0 info | grep -q 'type AP'", 120)
    fact(is_open, "back and forward, held for 3 s, open it")
    fact(machine.until("nmcli -t -f NAME,DEVICE connection show --active | grep -qx fieldfare-access-point:wlan0", 60), "  NetworkManager says so, too")
    print(f"       {machine.clock() - began:.0f} s after the buttons: " + " ".join(machine.say("sudo iw dev wlan0 info").split()))
    fact(machine.status().get("pairing") is True, "  and phones may pair")
    fact(f"ssid {sticker['name']}" in machine.say("sudo iw dev wlan0 info") and sticker["name"] == "heron07", "  it is named like the kit")

    isolated = machine.say("sudo nmcli -g 802-11-wireless.ap-isolation connection show fieldfare-access-point").split()
    fact(isolated[:1] in (["1"], ["yes"], ["true"]), f"  and its phones do not reach each other: {isolated}")

    put("/root/phone-address", PHONE_ADDRESS)
    machine.as_root("chmod 755 /root/phone-address")
    leave = lambda: machine.as_root("p=$(cat /run/phone.pid); kill $p; while kill -0 $p; do sleep 0.1; done; rm -f /run/phone.log")

    def join(password, key_management, protects_management=1):
        put("/run/phone.conf", PHONE_CONFIGURATION % (sticker["name"], password, key_management, protects_management))
        in_phone("wpa_supplicant -B -i wlan1 -D nl80211 -c /run/phone.conf -P /run/phone.pid -f /run/phone.log")

    is_in = lambda: machine.until("wpa_cli -p /run/phone -i wlan1 status | grep -q wpa_state=COMPLETED", 60)
    how = lambda: " ".join(line for line in machine.as_root("wpa_cli -p /run/phone -i wlan1 status").split("\n")
                           if line.startswith(("ssid", "key_mgmt", "pairwise", "pmf")))
    join(sticker["password"][::-1], "SAE", 2)
    fact(machine.until("grep -qE 'AUTH-REJECT|WRONG_KEY' /run/phone.log", 60), "a phone with another password is refused")
    print("       " + machine.as_root("grep -E 'AUTH-REJECT|WRONG_KEY' /run/phone.log | head -n 1"))
    leave()
    join(sticker["password"], "SAE", 2)
    fact(is_in(), f"with the password of the label a phone that knows WPA3 gets in: {how()}")
    leave()
    join(sticker["password"], "WPA-PSK")
    fact(is_in(), f"  and one that knows WPA2: {how()}")
    print("       " + machine.as_root("wpa_cli -p /run/phone -i wlan1 scan_results | grep heron07"))
    in_phone("busybox udhcpc -i wlan1 -n -q -t 10 -s /root/phone-address")
    given = in_phone("busybox ip -4 -o address show dev wlan1")
    fact("inet 10.42.0." in given, f"  it has an address: {given.split('inet ')[-1].split(' ')[0]}")
    page = in_phone(f"busybox wget -q -T 30 -O - {address}")
    fact("<title>" in page and "Fieldfare" in page, f"  and the console's page, of {len(page)} characters")
    machine.sleep(UNUSED_SECONDS + 15)
    fact(machine.say(f"systemctl is-active {unit}") == "active", "it stays while a phone is in it")
    leave()
    began = machine.clock()
    fact(machine.until(f"! systemctl --quiet is-active {unit}", 120), "once the phone has left it closes by itself")
    print(f"       {machine.clock() - began:.0f} s after the phone, for {UNUSED_SECONDS} s unused")
    said = machine.say(f"sudo journalctl -b -o cat -u {unit} | grep ^access-point: | tail -n 1")
    fact(said == f"access-point: nobody was in it for {UNUSED_SECONDS} s: closed", f"  and says why: {said}")
    fact("type AP" not in machine.say("sudo iw dev wlan0 info") and "fieldfare-access-point" not in machine.say("nmcli -t -f NAME connection show"),
         "  nothing of it is left")
    fact(machine.status().get("armed") is True, "  and the recorder is armed")
    machine.pull()
