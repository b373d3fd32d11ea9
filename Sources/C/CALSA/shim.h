#pragma once

#include <alsa/asoundlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h> // not in Swift's Glibc

struct calsa_messages {
    char text[384];
    unsigned length;
};

/// ALSA's messages on this thread since the last clearing. Exists because Swift has no thread-local variables. Use it from one
/// Swift file only, because each object file that uses it gets its own messages.
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

/// Sets how many frames must be available before a configured PCM, which may be running, wakes its waiter. Returns 0 or a negative
/// error code. Exists because the parameters must be on the stack, so that nothing is allocated, and ALSA does that with a macro.
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
