#pragma once

#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

// Headers of Linux that Swift's Glibc module leaves out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/timex.h>

/// 1 while somebody disciplines the kernel's clock, 0 while nobody does. Exists because `adjtimex` wants a struct whose
/// zeroing is plain in C alone.
static inline int fieldfare_clock_is_synchronised(void) {
    struct timex state = {0};
    int status = adjtimex(&state);
    return status >= 0 && status != TIME_ERROR && !(state.status & STA_UNSYNC);
}

/// Lets the calling thread run, and reach the disk, when nobody else wants to. What is not granted is left as it is. Exists
/// because `syscall` is variadic, and glibc has no `ioprio_set`.
static inline void fieldfare_be_idle(void) {
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
    // This thread (IOPRIO_WHO_PROCESS, 0), class "idle" (3) of linux/ioprio.h.
    syscall(SYS_ioprio_set, 1, 0, 3 << 13);
}
