/* Counts what a thread allocates: this target's malloc and its kin stand before the C library's in a test executable,
   and hand on to it. */
#ifndef FIELDFARE_CALLOCATIONCOUNT_H
#define FIELDFARE_CALLOCATIONCOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* Calls of malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign and free by this thread so far. */
uint64_t allocation_count_of_this_thread(void);

/* False under a sanitizer, which needs those functions for itself: nothing is counted then. */
bool allocations_are_counted(void);

#endif
