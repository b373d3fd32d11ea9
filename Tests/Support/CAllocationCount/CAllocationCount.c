#include "CAllocationCount.h"

#include <errno.h>
#include <stddef.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || !defined(__GLIBC__)

uint64_t allocation_count_of_this_thread(void) { return 0; }
bool allocations_are_counted(void) { return false; }

#else

/* Initial-exec: reaching it must not allocate itself. */
static _Thread_local uint64_t count __attribute__((tls_model("initial-exec")));

uint64_t allocation_count_of_this_thread(void) { return count; }
bool allocations_are_counted(void) { return true; }

/* glibc's own names of what is put aside here. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count++;
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count++;
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    count++;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count++;
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    void *made = __libc_memalign(alignment, size);
    if (made == NULL) return ENOMEM;
    *block = made;
    return 0;
}

void free(void *block) {
    count++;
    __libc_free(block);
}

#endif
