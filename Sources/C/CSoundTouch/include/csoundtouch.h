#ifndef CSOUNDTOUCH_H
#define CSOUNDTOUCH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Why: SoundTouch is C++. Its errors are exceptions, which end here.

/// A change of tempo with the pitch kept, for interleaved frames of floating point numbers.
typedef struct csoundtouch csoundtouch;

/// The most channels that there can be.
extern const unsigned csoundtouch_most_channels;

/// Makes one, to be given to `csoundtouch_free`; NULL when memory is short or an argument is out of range.
///
/// The sound is cut into sequences, each of which is put where it fits the one before it within a seek window, and
/// cross-faded. A sequence is at least two overlaps long; an overlap is at least 16 frames, and a multiple of 8.
csoundtouch *csoundtouch_make(unsigned channels, double tempo, int sequence_frames, int seek_frames,
                              int overlap_frames);

/// Frees it; NULL is allowed.
void csoundtouch_free(csoundtouch *stretch);

/// Discards all sound within.
void csoundtouch_clear(csoundtouch *stretch);

/// Adds frames. False: memory is short.
bool csoundtouch_put(csoundtouch *stretch, const double *samples, size_t frames);

/// Takes up to `room` frames that are finished; returns how many.
size_t csoundtouch_take(csoundtouch *stretch, double *samples, size_t room);

#ifdef __cplusplus
}
#endif

#endif
