"""A memory card for the scenarios: an ext4 image behind a device-mapper table, so that it can be made to fail in use."""
import glob
import os
import subprocess


def sh(command):
    """Runs a shell command and returns its output."""
    return subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class CardDisk:
    """A fresh card with a name and a size, not mounted yet. No blocks are reserved for root."""

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
        """Returns a column of the device mapper's information."""
        return sh(f"dmsetup info -c --noheadings -o {column} {self.name}")

    def table(self, line):
        """Replaces its table, also while it is in use."""
        sh(f"dmsetup suspend --noudevsync --nolockfs --noflush {self.name} && echo '{line}' | "
           f"dmsetup load --noudevsync {self.name} && dmsetup resume --noudevsync {self.name}")

    def insert(self):
        """Mounts it at /mnt."""
        sh(f"mount -t ext4 -o noatime {self.device} /mnt")

    def pull(self):
        """Unmounts it from /mnt, even if it is in use."""
        sh("umount -l /mnt")

    @property
    def is_held(self):
        """Whether any process still has a file open on it. The kernel itself needs a moment after the last one."""
        return int(self.info("open")) > 0

    def holders(self):
        """The files that processes have open on it, as "process: path"."""
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
    """The free bytes for all users."""
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize
