"""The image's part for a Pi 5, for `run`: a newer kernel in its own folder. No emulator's Pi 5 can start it, but `virt` can."""
import subprocess

from facts import fact

# The lines of the default settings.
LINES = {"GPIO17", "GPIO27", "GPIO22", "GPIO23", "GPIO24", "GPIO12", "GPIO16", "GPIO13", "GPIO26"}
# The names that a Pi 5's parts report: each must have a driver.
PARTS = {
    "memory card": "of:NTCbrcm,bcm2712-sdhci",
    "processor's pins": "of:NTCbrcm,bcm2712c0-pinctrl",
    "D0's pins": "of:NTCbrcm,bcm2712d0-pinctrl",
    "processor's lines": "of:NTCbrcm,brcmstb-gpio",
    "PCI Express": "of:NTCbrcm,bcm2712-pcie",
    "interrupts": "of:NTCbrcm,bcm2712-mip",
    "chip behind the header": "pci:v00001DE4d00000001sv00000000sd00000000bc02sc00i00",
    "chip's clocks": "of:NTCraspberrypi,rp1-clocks",
    "chip's lines": "of:NTCraspberrypi,rp1-gpio",
    "USB": "of:NTCsnps,dwc3",
    "Ethernet": "of:NTCraspberrypi,rp1-gem",
    "firmware": "of:NTCraspberrypi,bcm2835-firmware",
    "Wi-Fi": "sdio:c00v02D0dA9BF",
    "watchdog": "of:NTCbrcm,bcm2712-pm",
}
# Without these there is no root.
EARLY = ["sdhci-brcmstb", "pinctrl-brcmstb-bcm2712", "gpio-brcmstb", "squashfs", "overlay"]
# Without these, there are no lines and no USB cards, even once PCI Express has started.
EARLY += ["irq-bcm2712-mip", "rp1_pci", "clk-rp1", "pinctrl-rp1"]
FOLDER = "raspberry-pi-5"


def property_of(tree, node, name):
    return subprocess.run(["fdtget", "-ts", tree, node, name], capture_output=True, text=True).stdout.split()


def check_trees(folder, boot):
    """Checks the device tree that the bootloader of a Pi 5 reads, and its variant for a D0."""
    tree, of_d0 = boot / "bcm2712-rpi-5-b.dtb", folder / "d0.dtb"
    subprocess.run(["fdtoverlay", "-i", tree, "-o", of_d0, boot / "overlays/bcm2712d0.dtbo"], check=True)
    for name, found in (("its device tree", tree), ("a D0's", of_d0)):
        header = property_of(found, "/__symbols__", "rp1_gpio")
        named = property_of(found, *header, "gpio-line-names")
        fact(len(named) == 28 and named[17] == "GPIO17" and LINES <= set(named), f"{name} names the header's lines")
    pins = property_of(of_d0, "/soc@107c000000/pinctrl@7d504100", "compatible")
    fact(pins == ["brcm,bcm2712d0-pinctrl"], f"  and has the pins of one: {pins}")


def check_pi5(bench, boot):
    check_trees(bench.folder, boot / FOLDER)
    card = bench.card("pi5")
    root = card.root_digest()
    settings = (card.look("config.txt") or "").splitlines()
    fact(settings[settings.index("[pi5]") + 1 :][:2] == [f"os_prefix={FOLDER}/", "[all]"], "config.txt sends a Pi 5 alone to its folder")
    machine = bench.start(card, boot=boot / FOLDER)
    fact(machine.is_armed(), "its kernel starts the same system until the recorder is armed")
    kernels = machine.say("ls /usr/lib/modules").split()
    fact(len(kernels) == 2 and machine.say("uname -r") in kernels, f"  {machine.say('uname -r')} of {kernels}")
    failed = machine.say("systemctl --failed --no-legend --plain | cut -d' ' -f1")
    fact(failed == "", f"  no unit failed {failed}")
    for part, alias in PARTS.items():
        driver = machine.say(f"sudo modprobe --resolve-alias '{alias}'").split()
        fact(driver != [], f"  it has a driver for a Pi 5's {part}: {' '.join(driver)}")
    early = machine.say(f"sudo lsinitramfs /boot/firmware/{FOLDER}/initrd.img")
    missing = [module for module in EARLY if f"/{module}.ko" not in early]
    fact(missing == [], f"  its initramfs has what reads the card {missing}")
    machine.press("record")
    fact(machine.is_recording(), "a press records")
    machine.sleep(20)
    machine.press("stop")
    longest = lambda: max((take["duration_seconds"] for take in machine.takes()), default=0)
    fact(machine.wait(lambda: longest() >= 19, "the take", 60), f"  a take of {longest():.1f} s")
    fact(card.root_digest() == root, "the root is the same to the byte")
    machine.pull()
