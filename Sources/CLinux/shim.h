#pragma once

// Headers of Linux that Swift's Glibc module leaves out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timex.h>

/// 1 while somebody disciplines the kernel's clock, 0 while nobody does. Exists because `adjtimex` wants a struct whose
/// zeroing is plain in C alone.
static inline int fieldfare_clock_is_synchronised(void) {
    struct timex state = {0};
    int status = adjtimex(&state);
    return status >= 0 && status != TIME_ERROR && !(state.status & STA_UNSYNC);
}
