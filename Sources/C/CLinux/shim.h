#pragma once

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/ioctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

// Linux headers that Swift's Glibc module leaves out.
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

/// Returns 1 while the kernel's clock is synchronised, else 0. Exists because `adjtimex` takes a struct that is simple to zero only in C.
static inline int fieldfare_clock_is_synchronised(void) {
    struct timex state = {0};
    int status = adjtimex(&state);
    return status >= 0 && status != TIME_ERROR && !(state.status & STA_UNSYNC);
}

/// The user who connected to a Unix socket (SO_PEERCRED of unix(7)), or −1 if unknown. Exists because `struct ucred` is declared only with
/// _GNU_SOURCE, which Swift does not define.
static inline long long fieldfare_peer_user(int descriptor) {
    struct { int process; unsigned user, group; } peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || length != sizeof peer) return -1;
    return peer.user;
}

/// Gives the calling thread idle priority for the disk. A refusal is ignored. Exists because `syscall` is variadic, and glibc has no
/// `ioprio_set`.
static inline void fieldfare_be_idle_at_disk(void) {
    // This thread (IOPRIO_WHO_PROCESS, 0), class "idle" (3) of linux/ioprio.h.
    syscall(SYS_ioprio_set, 1, 0, 3 << 13);
}

/// Gives the calling thread idle priority for the disk and the processor.
static inline void fieldfare_be_idle(void) {
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
    fieldfare_be_idle_at_disk();
}

/// Renames a file, and fails if the new name exists (renameat2(2) with RENAME_NOREPLACE). Exists because renameat2 is declared only with
/// _GNU_SOURCE, which Swift does not define.
static inline int fieldfare_rename_new(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1);
}

/// Makes a pipe whose ends no child inherits: first the reading end, then the writing end. Exists because pipe2(2) is declared only with
/// _GNU_SOURCE, which Swift does not define.
static inline int fieldfare_pipe(int ends[2]) {
    return (int)syscall(SYS_pipe2, ends, O_CLOEXEC);
}

/// Returns 1 if a whole range of a file is in the kernel's cache, so that reading it does not wait for the storage. Returns 0 if it is not
/// or if that is unknown: the call, cachestat, needs Linux 6.5. Exists because `syscall` is variadic, and headers of older kernels lack the
/// call.
static inline int fieldfare_is_cached(int descriptor, unsigned long long start, unsigned long long byte_count) {
    struct { unsigned long long start, byte_count; } range = {start, byte_count};
    struct { unsigned long long cached, dirty, writeback, evicted, recently_evicted; } pages = {0};
    const unsigned long long page = (unsigned long long)sysconf(_SC_PAGESIZE);
    const long number = 451;
    if (byte_count == 0 || syscall(number, descriptor, &range, &pages, 0) != 0) return 0;
    return pages.cached == (start + byte_count - 1) / page - start / page + 1;
}

/// Starts a child without the descriptors from a number upwards (posix_spawn(3) of glibc 2.34). Exists because it is declared only with
/// _GNU_SOURCE.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

/// Allocates blocks of a file up to a length, without writing them (fallocate(2)). Exists because it is declared only with _GNU_SOURCE,
/// which Swift does not define.
static inline int fieldfare_allocate(int descriptor, long long byte_count) {
    return (int)syscall(SYS_fallocate, descriptor, 0, 0LL, byte_count);
}

/// Makes reads and writes of a file bypass the kernel's cache. Exists because fcntl is variadic, and O_DIRECT is declared only with
/// _GNU_SOURCE.
static inline int fieldfare_bypass_cache(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 ? flags : fcntl(descriptor, F_SETFL, flags | __O_DIRECT);
}

/// Finds the first extent of a file at or after `start`. Returns 1, or 0 if there is no extent, or 2 if it has no place on the device yet.
/// Exists because `syscall` is variadic, and the request's number is a macro.
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

/// A write lock on the last possible byte of a file.
static inline struct flock fieldfare_last_byte(void) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    lock.l_start = (off_t)((1ULL << (8 * sizeof lock.l_start - 1)) - 2);
    return lock;
}

/// Locks the last possible byte of a file for writing, until the file is closed (fcntl(2)). Exists because fcntl is variadic, and
/// F_OFD_SETLK is declared only with _GNU_SOURCE.
static inline int fieldfare_claim(int descriptor) {
    struct flock lock = fieldfare_last_byte();
    return fcntl(descriptor, 37, &lock);
}

/// Returns 1 if another process or open file has locked that byte for writing, else 0. Exists for the same reasons.
static inline int fieldfare_is_claimed(int descriptor) {
    struct flock lock = fieldfare_last_byte();
    int result = fcntl(descriptor, 36, &lock);
    return result < 0 ? result : lock.l_type == F_WRLCK;
}
