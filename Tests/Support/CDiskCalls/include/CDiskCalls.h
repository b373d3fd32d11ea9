/* Finds calls that may wait for a disk on a thread that must not wait. In a test executable, open, read, fsync and
   similar functions of this target replace those of the C library: they make the system call and check the caller.

   A call is a fault on one of Swift's shared threads and on an event loop, unless code of a test is on the stack. */
#ifndef FIELDFARE_CDISKCALLS_H
#define FIELDFARE_CDISKCALLS_H

#include <stdbool.h>

/* False under a sanitizer, which replaces these functions itself, and for an executable without symbols. */
bool disk_calls_are_watched(void);

/* Notes faults until `stop_watching_disk_calls` has been called equally often.
   - modules: the modules of tests, separated by spaces. Modules whose name ends in Tests are always included. */
void watch_disk_calls(const char *modules);
void stop_watching_disk_calls(void);

/* The number of faults with different stacks so far. */
int disk_fault_count(void);

/* One line with the call and its path, then one line for each mangled name on the stack, innermost first. */
const char *disk_fault(int number);

/* The demangled name of a Swift symbol, which the caller must free. NULL for other symbols. */
char *demangled_name(const char *symbol);

#endif
