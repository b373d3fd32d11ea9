#ifndef CSOUNDTOUCH_H
#define CSOUNDTOUCH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Why: SoundTouch is C++. Its exceptions must not leave this library.

/// A change of tempo at constant pitch, for interleaved floating-point frames.
typedef struct csoundtouch csoundtouch;

extern const unsigned csoundtouch_most_channels;

/// Makes a stretch, which must be given to `csoundtouch_free`. Returns NULL if memory is short or an argument is
/// out of range.
///
/// The sound is cut into sequences. Each is placed where it best fits the previous one within a seek window, and
/// cross-faded. A sequence is at least two overlaps long. An overlap is at least 16 frames, and a multiple of 8.
csoundtouch *csoundtouch_make(unsigned channels, double tempo, int sequence_frames, int seek_frames,
                              int overlap_frames);

/// NULL is allowed.
void csoundtouch_free(csoundtouch *stretch);

/// Discards all buffered sound.
void csoundtouch_clear(csoundtouch *stretch);

/// Adds frames. Returns false if memory is short.
bool csoundtouch_put(csoundtouch *stretch, const double *samples, size_t frames);

/// Takes up to `room` finished frames. Returns their number.
size_t csoundtouch_take(csoundtouch *stretch, double *samples, size_t room);

#ifdef __cplusplus
}
#endif

#endif
