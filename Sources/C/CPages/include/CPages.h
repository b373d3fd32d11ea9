/* The files of the library's page: Sources/Library/Console/Pages. */
#ifndef FIELDFARE_CPAGES_H
#define FIELDFARE_CPAGES_H

#include <stddef.h>

struct fieldfare_page {
    /* The file's name; ends with a zero byte. */
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

size_t fieldfare_page_count(void);

/* The file of an index below the count. */
struct fieldfare_page fieldfare_page_at(size_t index);

#endif
