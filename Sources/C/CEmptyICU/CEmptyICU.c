#include "CEmptyICU.h"

#include <stdint.h>

/* Why: Foundation, which GRDB and others import, links in ICU with 34 MB of data for languages and calendars, which no program here uses.
   A linker that finds ICU's data by this name takes none from Foundation's static library. What needs it then fails: DateFormatter, time zones
   by name, URLs with host names in other letters than ASCII. FoundationEssentials has all that the sources here import.
   The form is that of ICU's ucmndata.h: a header, and a table of contents without entries. */
static const struct {
    struct {
        uint16_t size;
        uint8_t magic1, magic2;
    } header;
    struct {
        uint16_t size, reserved;
        uint8_t isBigEndian, charsetFamily, sizeofUChar, reservedByte;
        uint8_t dataFormat[4], formatVersion[4], dataVersion[4];
    } info;
    uint8_t padding[8];
    uint32_t entryCount, padding2[3];
} table __attribute__((aligned(16), used)) = {
    .header = {.size = 32, .magic1 = 0xda, .magic2 = 0x27},
    .info = {.size = 20, .sizeofUChar = 2, .dataFormat = {'C', 'm', 'n', 'D'}, .formatVersion = {1}},
};

/* ICU's major version is in the name: 74 in Swift 6.2, 76 in Swift 6.3. Hidden: Foundation's shared library, as in debug builds, has its own. */
#define NAME(version) \
    extern __typeof__(table) icudt##version##_dat __attribute__((alias("table"), visibility("hidden")));
NAME(74)
NAME(75)
NAME(76)
NAME(77)
NAME(78)
NAME(79)
