#pragma once

#include <alsa/asoundlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h> // not in Swift's Glibc

/// Messages of ALSA.
struct calsa_messages {
    char text[384];
    unsigned length;
};

/// ALSA's messages on this thread since they were last cleared. Exists because Swift has no thread-local variables.
/// To be used from one Swift file only: every object file that uses it gets messages of its own.
static inline struct calsa_messages *calsa_messages(void) {
    static __thread struct calsa_messages messages;
    return &messages;
}

/// Stores a message instead of printing it. Exists because the handler's type is variadic.
static inline void calsa_note(
    const char *file, int line, const char *function, int error, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)error;
    struct calsa_messages *messages = calsa_messages();
    unsigned room = sizeof messages->text - messages->length;
    if (room < 4) return;
    int lead = messages->length ? snprintf(messages->text + messages->length, room, "; ") : 0;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(messages->text + messages->length + lead, room - lead, format, arguments);
    va_end(arguments);
    if (length < 0) length = 0;
    messages->length += lead + length;
    if (messages->length >= sizeof messages->text) messages->length = sizeof messages->text - 1;
}

/// Has a PCM that is settled, and may be running, wake who waits for it once so many frames are there: 0, or a negative error code.
/// Exists because the parameters are to be on the stack, which a macro of ALSA does: nothing is allocated.
static inline int calsa_wake_at(snd_pcm_t *pcm, snd_pcm_uframes_t frames) {
    snd_pcm_sw_params_t *parameters;
    snd_pcm_sw_params_alloca(&parameters);
    int status = snd_pcm_sw_params_current(pcm, parameters);
    if (status >= 0) status = snd_pcm_sw_params_set_avail_min(pcm, parameters, frames);
    return status < 0 ? status : snd_pcm_sw_params(pcm, parameters);
}

/// Makes ALSA store its messages, in every thread. Exists because Swift cannot pass a variadic function.
static inline void calsa_catch_messages(void) {
    snd_lib_error_set_handler(calsa_note);
}
