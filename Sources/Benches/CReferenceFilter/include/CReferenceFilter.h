/* The usual implementation in C programs: sections in transposed direct form II, the channels of a frame in the
   inner loop, double precision. Only the benchmark uses it, for comparison. Compile it with -O3. */
#ifndef FIELDFARE_CREFERENCEFILTER_H
#define FIELDFARE_CREFERENCEFILTER_H

/* One section: b0 b1 b2 a1 a2, with a0 = 1. */
typedef struct {
    double b0, b1, b2, a1, a2;
} reference_section;

/* Filters `frames` frames of `channels` interleaved samples in place.
   `state` has 2 · sections · channels numbers and is kept from call to call. */
void reference_filter(
    const reference_section *sections, int section_count, double *state, int channels, double *samples, long frames);

#endif
