/* Functions that Swift cannot express without a platform module: the thread's mode for denormal numbers, and three
   functions of libm. No system headers are used, so that this also compiles for bare targets. */
#ifndef FIELDFARE_CFLOAT_H
#define FIELDFARE_CFLOAT_H

#include <stdbool.h>
#include <stdint.h>

/* Why: MXCSR and FPCR are accessible only by instructions. Bits 15 and 6 of MXCSR are flush-to-zero and
   denormals-are-zero; bit 24 of FPCR is both. */
static inline void fieldfare_flush_denormals(void) {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
#elif defined(__aarch64__)
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"(mode | (UINT64_C(1) << 24)));
#endif
}

static inline bool fieldfare_denormals_are_flushed(void) {
#if defined(__x86_64__)
    return (__builtin_ia32_stmxcsr() & 0x8040u) == 0x8040u;
#elif defined(__aarch64__)
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return (mode & (UINT64_C(1) << 24)) != 0;
#else
    return false;
#endif
}

/* Why: a bare target lacks the Glibc module, so libm is called here. */
static inline double fieldfare_tan(double x) { return __builtin_tan(x); }
static inline double fieldfare_sin(double x) { return __builtin_sin(x); }
static inline double fieldfare_log10(double x) { return __builtin_log10(x); }

#endif
