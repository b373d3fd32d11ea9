#include "csoundtouch.h"

#include <soundtouch/SoundTouch.h>

#include <algorithm>
#include <memory>
#include <vector>

struct csoundtouch {
    soundtouch::SoundTouch engine;
    size_t channels;
    std::vector<soundtouch::SAMPLETYPE> samples;
};

extern "C" const unsigned csoundtouch_most_channels = SOUNDTOUCH_MAX_CHANNELS;

// SoundTouch counts in milliseconds. At this rate, which is independent of the sound's rate, a
// millisecond is one frame.
static const unsigned rate_hz = 1000;

extern "C" csoundtouch *csoundtouch_make(unsigned channels, double tempo, int sequence_frames,
                                         int seek_frames, int overlap_frames) {
    try {
        auto stretch = std::make_unique<csoundtouch>();
        stretch->channels = channels;
        stretch->engine.setSampleRate(rate_hz);
        stretch->engine.setChannels(channels);
        stretch->engine.setSetting(SETTING_SEQUENCE_MS, sequence_frames);
        stretch->engine.setSetting(SETTING_SEEKWINDOW_MS, seek_frames);
        stretch->engine.setSetting(SETTING_OVERLAP_MS, overlap_frames);
        stretch->engine.setTempo(tempo);
        // A new engine contains silence for two channels, which is the wrong amount for another number of
        // channels.
        stretch->engine.clear();
        return stretch.release();
    } catch (...) {
        return nullptr;
    }
}

extern "C" void csoundtouch_free(csoundtouch *stretch) {
    delete stretch;
}

extern "C" void csoundtouch_clear(csoundtouch *stretch) {
    stretch->engine.clear();
}

extern "C" bool csoundtouch_put(csoundtouch *stretch, const double *samples, size_t frames) {
    try {
        stretch->samples.assign(samples, samples + frames * stretch->channels);
        stretch->engine.putSamples(stretch->samples.data(), static_cast<unsigned>(frames));
        return true;
    } catch (...) {
        return false;
    }
}

extern "C" size_t csoundtouch_take(csoundtouch *stretch, double *samples, size_t room) {
    try {
        stretch->samples.resize(std::max(stretch->samples.size(), room * stretch->channels));
        const size_t frames = stretch->engine.receiveSamples(stretch->samples.data(), static_cast<unsigned>(room));
        std::copy_n(stretch->samples.data(), frames * stretch->channels, samples);
        return frames;
    } catch (...) {
        return 0;
    }
}
