#pragma once

#include <alsa/asoundlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h> // not in Swift's Glibc

/// What ALSA had to say.
struct calsa_messages {
    char text[384];
    unsigned length;
};

/// What ALSA has had to say on this thread since it was last asked; there because Swift has no thread-local variables.
/// To be used from one Swift file only: every object file that uses it gets messages of its own.
static inline struct calsa_messages *calsa_messages(void) {
    static __thread struct calsa_messages messages;
    return &messages;
}

/// Notes a message instead of printing it; there because the handler's type is variadic.
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

/// Has ALSA's messages noted, in every thread; there because Swift cannot pass a variadic function.
static inline void calsa_catch_messages(void) {
    snd_lib_error_set_handler(calsa_note);
}
