#include "CSHA256.h"

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotated(uint32_t word, int count) { return word >> count | word << (32 - count); }

static inline uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* One round of FIPS 180-4, section 6.2.2, step 3. From round to round the caller permutes the arguments instead of moving the words. */
static inline void round_of(
    uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f, uint32_t g, uint32_t *h, uint32_t added) {
    const uint32_t t1 = *h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + (g ^ (e & (f ^ g))) + added;
    *d += t1;
    *h = t1 + (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) | (c & (a | b)));
}

/* The next word of the message schedule, stored in the place of the word 16 positions before it. */
static inline uint32_t next_word(uint32_t w[16], int t) {
    const uint32_t far = w[(t + 1) % 16], near = w[(t + 14) % 16];
    const uint32_t s0 = rotated(far, 7) ^ rotated(far, 18) ^ far >> 3;
    const uint32_t s1 = rotated(near, 17) ^ rotated(near, 19) ^ near >> 10;
    return w[t % 16] += s0 + w[(t + 9) % 16] + s1;
}

void fieldfare_sha256_blocks_portable(uint32_t state[8], const uint8_t *bytes, size_t block_count) {
    for (; block_count > 0; block_count--, bytes += 64) {
        uint32_t w[16];
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
#pragma GCC unroll 8
        for (int t = 0; t < 64; t += 8) {
            uint32_t sum[8];
#pragma GCC unroll 8
            for (int i = 0; i < 8; i++) {
                sum[i] = K[t + i] + (t < 16 ? (w[t + i] = big_endian(bytes + 4 * (t + i))) : next_word(w, t + i));
            }
            round_of(a, b, c, &d, e, f, g, &h, sum[0]);
            round_of(h, a, b, &c, d, e, f, &g, sum[1]);
            round_of(g, h, a, &b, c, d, e, &f, sum[2]);
            round_of(f, g, h, &a, b, c, d, &e, sum[3]);
            round_of(e, f, g, &h, a, b, c, &d, sum[4]);
            round_of(d, e, f, &g, h, a, b, &c, sum[5]);
            round_of(c, d, e, &f, g, h, a, &b, sum[6]);
            round_of(b, c, d, &e, f, g, h, &a, sum[7]);
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

/* These functions use instructions that not every processor has. They are called only if the processor has them. */
#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

/* Intel's "Software Developer's Manual": CPUID, leaf 7, EBX bit 29 (SHA); leaf 1, ECX bits 9 (SSSE3) and 19 (SSE4.1). */
static bool has_instructions(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 9) || !(c & 1u << 19)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 29;
}

__attribute__((target("sha,ssse3,sse4.1")))
static void instruction_blocks(uint32_t state[8], const uint8_t *bytes, size_t block_count) {
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    /* The instructions need the state as the words A, B, E, F and C, D, G, H, with the first word highest. */
    __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; block_count > 0; block_count--, bytes += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; i++) {
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + 16 * i)), order);
        }
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            const __m128i sum = _mm_add_epi32(w[i % 4], _mm_loadu_si128((const __m128i *)(K + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            if (i < 12) {
                const __m128i last = w[(i + 3) % 4];
                const __m128i between = _mm_alignr_epi8(last, w[(i + 2) % 4], 4);
                const __m128i begun = _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]), between);
                w[i % 4] = _mm_sha256msg2_epu32(begun, last);
            }
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#elif defined(__aarch64__) && defined(__linux__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <string.h>
#include <sys/auxv.h>

/* Linux, "ARM64 ELF hwcaps": HWCAP_SHA2. */
static bool has_instructions(void) { return getauxval(AT_HWCAP) & 1ul << 6; }

/* Four words of the state or of the message, with the first word lowest. */
typedef uint32_t words __attribute__((vector_size(16)));

static inline words loaded(const void *from) {
    words value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* In assembler: before version 16, clang's arm_neon.h has these only if the whole file is compiled for them. */
#if defined(__clang__)
__attribute__((target("sha2")))
#else
__attribute__((target("+sha2")))
#endif
static void instruction_blocks(uint32_t state[8], const uint8_t *bytes, size_t block_count) {
    words abcd = loaded(state), efgh = loaded(state + 4);
    for (; block_count > 0; block_count--, bytes += 64) {
        const words abcd_before = abcd, efgh_before = efgh;
        words w[4];
        for (int i = 0; i < 4; i++) {
            w[i] = loaded(bytes + 16 * i);
            __asm__("rev32 %0.16b, %0.16b" : "+w"(w[i]));
        }
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            const words sum = w[i % 4] + loaded(K + 4 * i), abcd_old = abcd;
            if (i < 12) {
                __asm__("sha256su0 %0.4s, %1.4s" : "+w"(w[i % 4]) : "w"(w[(i + 1) % 4]));
                __asm__("sha256su1 %0.4s, %1.4s, %2.4s" : "+w"(w[i % 4]) : "w"(w[(i + 2) % 4]), "w"(w[(i + 3) % 4]));
            }
            __asm__("sha256h %q0, %q1, %2.4s" : "+w"(abcd) : "w"(efgh), "w"(sum));
            __asm__("sha256h2 %q0, %q1, %2.4s" : "+w"(efgh) : "w"(abcd_old), "w"(sum));
        }
        abcd += abcd_before;
        efgh += efgh_before;
    }
    memcpy(state, &abcd, sizeof abcd);
    memcpy(state + 4, &efgh, sizeof efgh);
}

#else

static bool has_instructions(void) { return false; }

static void instruction_blocks(uint32_t state[8], const uint8_t *bytes, size_t block_count) {
    fieldfare_sha256_blocks_portable(state, bytes, block_count);
}

#endif

/* The answer is stored, because in a virtual machine CPUID causes a call to the host. Threads may compute it at the same time. */
static bool instructions_are_there(void) {
    static _Atomic int answer;
    int known = answer;
    if (known == 0) answer = known = has_instructions() ? 1 : -1;
    return known > 0;
}

bool fieldfare_sha256_blocks_by_instructions(uint32_t state[8], const uint8_t *bytes, size_t block_count) {
    if (!instructions_are_there()) return false;
    instruction_blocks(state, bytes, block_count);
    return true;
}

void fieldfare_sha256_blocks(uint32_t state[8], const uint8_t *bytes, size_t block_count) {
    if (!fieldfare_sha256_blocks_by_instructions(state, bytes, block_count)) {
        fieldfare_sha256_blocks_portable(state, bytes, block_count);
    }
}
