/* SHA-256 as FIPS 180-4 defines it, block by block. In C for the processor's SHA instructions; without libcrypto, which would take
   more of the recorder's memory than all of its samples do. */
#ifndef FIELDFARE_CSHA256_H
#define FIELDFARE_CSHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compresses whole blocks of 64 bytes into the eight words of the state, by the fastest of the functions below. */
void fieldfare_sha256_blocks(uint32_t state[8], const uint8_t *bytes, size_t block_count);

/* The same on any processor. */
void fieldfare_sha256_blocks_portable(uint32_t state[8], const uint8_t *bytes, size_t block_count);

/* The same by the SHA extensions of x86-64 or ARMv8; false: this processor has none, and nothing was done. */
bool fieldfare_sha256_blocks_by_instructions(uint32_t state[8], const uint8_t *bytes, size_t block_count);

#endif
