#include <zlib.h>

// Exists because deflateInit2 is a macro. 15 is the largest window, and 16 more selects a gzip
// header (zlib.h, "deflateInit2").
static inline int fieldfare_deflate_init_gzip(z_stream *stream) {
    return deflateInit2(stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
