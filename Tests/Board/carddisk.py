"""A memory card for the scenarios: an ext4 image behind a table of the device mapper, so that it can be made to fail in use."""
import glob
import os
import subprocess


def sh(command):
    """Runs a line of shell; what it printed."""
    return subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class CardDisk:
    """A card of a name and a size, newly made, not mounted yet. None of its blocks is reserved for root."""

    def __init__(self, name, mib):
        image = f"/dev/shm/{name}.img"
        sh(f"truncate -s {mib}M {image} && mkfs.ext4 -q -m 0 -E lazy_itable_init=0 {image}")
        self.name = name
        loop = sh(f"losetup --show -f {image}")
        self.good = f"0 {mib * 2048} linear {loop} 0"
        self.failing = f"0 {mib * 2048} error"
        sh(f"echo '{self.good}' | dmsetup create --noudevsync {name}")
        self.device = f"/dev/dm-{self.info('minor')}"

    def info(self, column):
        """What the device mapper knows of it."""
        return sh(f"dmsetup info -c --noheadings -o {column} {self.name}")

    def table(self, line):
        """Gives it another table, while it is in use or not."""
        sh(f"dmsetup suspend --noudevsync --nolockfs --noflush {self.name} && echo '{line}' | "
           f"dmsetup load --noudevsync {self.name} && dmsetup resume --noudevsync {self.name}")

    def insert(self):
        """Mounts it at /mnt."""
        sh(f"mount -t ext4 -o noatime {self.device} /mnt")

    def pull(self):
        """Takes it from /mnt, whatever uses it."""
        sh("umount -l /mnt")

    @property
    def is_held(self):
        """Whether any process still has anything open on it; the kernel itself takes a moment after the last one."""
        return int(self.info("open")) > 0

    def holders(self):
        """What processes have open on it, as "process: path"."""
        found, device = [], os.stat(self.device).st_rdev
        for link in glob.glob("/proc/[0-9]*/fd/*") + glob.glob("/proc/[0-9]*/cwd"):
            try:
                path = os.readlink(link)
                if path.startswith("/") and os.stat(link).st_dev == device:
                    found.append(f"{link.split('/')[2]}: {path}")
            except OSError:
                continue
        return found


def free_bytes(path="/mnt"):
    """What is free for all users."""
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize
