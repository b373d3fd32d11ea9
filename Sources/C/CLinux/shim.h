#pragma once

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/ioctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

// Headers of Linux that Swift's Glibc module leaves out.
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/signalfd.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/vfs.h>

/// 1 while the kernel's clock is synchronised, 0 while it is not. Exists because `adjtimex` wants a struct whose
/// zeroing is plain in C alone.
static inline int fieldfare_clock_is_synchronised(void) {
    struct timex state = {0};
    int status = adjtimex(&state);
    return status >= 0 && status != TIME_ERROR && !(state.status & STA_UNSYNC);
}

/// The user who connected to a Unix socket (SO_PEERCRED of unix(7)); −1 where that is not known. Exists because `struct ucred` is
/// declared only with _GNU_SOURCE, which Swift does not define.
static inline long long fieldfare_peer_user(int descriptor) {
    struct { int process; unsigned user, group; } peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || length != sizeof peer) return -1;
    return peer.user;
}

/// Lets the calling thread reach the disk when no other thread wants to. What is not granted is left as it is. Exists because `syscall` is
/// variadic, and glibc has no `ioprio_set`.
static inline void fieldfare_be_idle_at_disk(void) {
    // This thread (IOPRIO_WHO_PROCESS, 0), class "idle" (3) of linux/ioprio.h.
    syscall(SYS_ioprio_set, 1, 0, 3 << 13);
}

/// The same, and lets it run when no other thread wants to.
static inline void fieldfare_be_idle(void) {
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
    fieldfare_be_idle_at_disk();
}

/// Gives a file another name that no other file has (renameat2(2) with RENAME_NOREPLACE). Exists because renameat2 is declared only with
/// _GNU_SOURCE, which Swift does not define.
static inline int fieldfare_rename_new(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1);
}

/// A pipe whose ends no child inherits: where to read, where to write. Exists because pipe2(2) is declared only with _GNU_SOURCE, which
/// Swift does not define.
static inline int fieldfare_pipe(int ends[2]) {
    return (int)syscall(SYS_pipe2, ends, O_CLOEXEC);
}

/// 1 where the kernel has a whole stretch of a file in its cache: reading it waits for no storage. 0 where it has not, or does not say: the
/// call, cachestat, is of Linux 6.5. Exists because `syscall` is variadic, and headers of older kernels do not have it.
static inline int fieldfare_is_cached(int descriptor, unsigned long long start, unsigned long long byte_count) {
    struct { unsigned long long start, byte_count; } range = {start, byte_count};
    struct { unsigned long long cached, dirty, writeback, evicted, recently_evicted; } pages = {0};
    const unsigned long long page = (unsigned long long)sysconf(_SC_PAGESIZE);
    const long number = 451;
    if (byte_count == 0 || syscall(number, descriptor, &range, &pages, 0) != 0) return 0;
    return pages.cached == (start + byte_count - 1) / page - start / page + 1;
}

/// Has a child begin without the files from a number on (posix_spawn(3) of glibc 2.34). Exists for the same reason.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

/// Gives a file blocks up to a length, without writing them (fallocate(2)). Exists because it is declared only with _GNU_SOURCE, which
/// Swift does not define.
static inline int fieldfare_allocate(int descriptor, long long byte_count) {
    return (int)syscall(SYS_fallocate, descriptor, 0, 0LL, byte_count);
}

/// Has a file read and written past the kernel's cache. Exists because fcntl is variadic, and O_DIRECT is declared only with
/// _GNU_SOURCE.
static inline int fieldfare_bypass_cache(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? flags : fcntl(descriptor, F_SETFL, flags | __O_DIRECT);
}

/// The first stretch of a file at or behind `start` that lies in one piece on its device: 1; 0 if there is none; 2 if it has no
/// place yet. Exists because `syscall` is variadic, and the request's number is a macro.
static inline int fieldfare_extent(int descriptor, long long start, long long *offset, long long *place, long long *byte_count) {
    struct { struct fiemap map; struct fiemap_extent extent; } request = {0};
    request.map.fm_start = (unsigned long long)start;
    request.map.fm_length = FIEMAP_MAX_OFFSET - request.map.fm_start;
    request.map.fm_extent_count = 1;
    if (syscall(SYS_ioctl, descriptor, _IOWR('f', 11, struct fiemap), &request) != 0) return -1;
    if (request.map.fm_mapped_extents == 0) return 0;
    if (request.extent.fe_flags & (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC)) {
        return 2;
    }
    *offset = (long long)request.extent.fe_logical;
    *place = (long long)request.extent.fe_physical;
    *byte_count = (long long)request.extent.fe_length;
    return 1;
}

/// A lock for writing of the last byte that a file could have.
static inline struct flock fieldfare_last_byte(void) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    lock.l_start = (off_t)((1ULL << (8 * sizeof lock.l_start - 1)) - 2);
    return lock;
}

/// Locks the last byte that a file could have for writing, as long as the file is open (fcntl(2)). Exists because fcntl is variadic, and
/// F_OFD_SETLK is declared only with _GNU_SOURCE.
static inline int fieldfare_claim(int descriptor) {
    struct flock lock = fieldfare_last_byte();
    return fcntl(descriptor, 37, &lock);
}

/// Whether somebody else has locked that byte for writing: 1; else 0. Exists for the same reasons.
static inline int fieldfare_is_claimed(int descriptor) {
    struct flock lock = fieldfare_last_byte();
    int result = fcntl(descriptor, 36, &lock);
    return result < 0 ? result : lock.l_type == F_WRLCK;
}
