#pragma once

/// Starts to count the calls of malloc, calloc, realloc and free that the calling thread makes.
void allocation_count_start(void);

/// Ends the count of the calling thread and returns it. Under a sanitizer, which has an allocator of its own, always 0.
long allocation_count_stop(void);
