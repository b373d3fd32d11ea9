/* SHA-256 (FIPS 180-4), block by block. It is in C for the processor's SHA instructions. libcrypto is not used, because it would
   need more of the recorder's memory than all of its samples. */
#ifndef FIELDFARE_CSHA256_H
#define FIELDFARE_CSHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compresses whole blocks of 64 bytes into the eight words of the state, with the faster of the functions below. */
void fieldfare_sha256_blocks(uint32_t state[8], const uint8_t *bytes, size_t block_count);

/* Works on any processor. */
void fieldfare_sha256_blocks_portable(uint32_t state[8], const uint8_t *bytes, size_t block_count);

/* Uses the SHA extensions of x86-64 or ARMv8. Returns false, without an effect, if this processor lacks them. */
bool fieldfare_sha256_blocks_by_instructions(uint32_t state[8], const uint8_t *bytes, size_t block_count);

#endif
