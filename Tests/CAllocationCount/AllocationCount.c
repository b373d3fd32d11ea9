#include "AllocationCount.h"

#include <stddef.h>

static __thread long count;
static __thread int counting;

void allocation_count_start(void) {
    count = 0;
    counting = 1;
}

long allocation_count_stop(void) {
    counting = 0;
    return count;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HAS_OTHER_ALLOCATOR
#endif
#endif

#ifndef HAS_OTHER_ALLOCATOR
// The executable's symbols come before the C library's, which keeps its own under these names.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size) {
    count += counting;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count += counting;
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count += counting;
    return __libc_realloc(memory, size);
}

void free(void *memory) {
    count += counting;
    __libc_free(memory);
}
#endif
