#include "CReferenceFilter.h"

void reference_filter(
    const reference_section *sections, int section_count, double *restrict state, int channels,
    double *restrict samples, long frames) {
    for (long frame = 0; frame < frames; frame++) {
        double *row = samples + frame * channels;
        for (int k = 0; k < section_count; k++) {
            const reference_section c = sections[k];
            double *restrict s1 = state + (long)(2 * k) * channels;
            double *restrict s2 = s1 + channels;
            for (int channel = 0; channel < channels; channel++) {
                const double x = row[channel];
                const double y = c.b0 * x + s1[channel];
                s1[channel] = c.b1 * x - c.a1 * y + s2[channel];
                s2[channel] = c.b2 * x - c.a2 * y;
                row[channel] = y;
            }
        }
    }
}
