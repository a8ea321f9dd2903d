/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network, the cycle walk, and the keys that are derived from a secret.
 * Bytes are hashed in a fixed order, little endian, so that all machines agree.
 * A change that alters codes has to change the "1" of the contexts as well:
 * then fingerprints differ, and a start over codes of the old kind is refused.
 */
#include "number/shuffle.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include <sodium.h>

#define ROUNDS     10 /* even: both halves are changed equally often */
#define BLOCK_SIZE 16 /* bytes that a round hashes: tweak, half, round */
#define SIZE_BOUND (UINT64_C(1) << 62)

#define CONTEXT_KEY         "seqbroker shuffle 1 key"
#define CONTEXT_FINGERPRINT "seqbroker shuffle 1 fingerprint"
#define CONTEXT_SIZE        "seqbroker shuffle 1 size"

_Static_assert(SHUFFLE_KEY_SIZE == crypto_shorthash_KEYBYTES, "of SipHash");
_Static_assert(SHUFFLE_KEY_SIZE >= crypto_generichash_BYTES_MIN, "of BLAKE2b");
_Static_assert(SHUFFLE_KEY_SIZE >= crypto_generichash_KEYBYTES_MIN,
               "of BLAKE2b");

static void bytes_write(unsigned char *bytes, uint64_t value)
{
    const uint64_t little = htole64(value);

    memcpy(bytes, &little, sizeof little);
}

static uint64_t bytes_read(const unsigned char *bytes)
{
    uint64_t little;

    memcpy(&little, bytes, sizeof little);
    return le64toh(little);
}

/* These calls cannot fail, because BLAKE2b accepts all these lengths.
 * sodium_init is not needed: it only selects faster code with the same results,
 * and prepares random numbers. */
static void key_derive(const struct shuffle_key *key, const char *context,
                       const void *data, size_t length, struct shuffle_key *out)
{
    crypto_generichash_state state;

    (void)crypto_generichash_init(&state, key == NULL ? NULL : key->bytes,
                                  key == NULL ? 0 : sizeof key->bytes,
                                  sizeof out->bytes);
    (void)crypto_generichash_update(&state, (const unsigned char *)context,
                                    strlen(context));
    (void)crypto_generichash_update(&state, data, length);
    (void)crypto_generichash_final(&state, out->bytes, sizeof out->bytes);
    sodium_memzero(&state, sizeof state);
}

void shuffle_key_make(const char *secret, size_t length,
                      struct shuffle_key *out)
{
    key_derive(NULL, CONTEXT_KEY, secret, length, out);
}

void shuffle_fingerprint(const struct shuffle_key *key,
                         char out[SHUFFLE_FINGERPRINT_SIZE])
{
    struct shuffle_key hash;

    key_derive(key, CONTEXT_FINGERPRINT, "", 0, &hash);
    (void)sodium_bin2hex(out, SHUFFLE_FINGERPRINT_SIZE, hash.bytes,
                         SHUFFLE_FINGERPRINT_SIZE / 2);
}

/* The least number whose square is at least `size`. */
static uint32_t root_above(uint64_t size)
{
    uint64_t low = 1;
    uint64_t high = UINT64_C(1) << 31;

    while (low < high) {
        const uint64_t middle = (low + high) / 2;

        if (middle * middle < size)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

void shuffle_init(struct shuffle *shuffle, const struct shuffle_key *key,
                  uint64_t size)
{
    unsigned char bytes[8];

    assert(size >= 1 && size <= SIZE_BOUND);
    bytes_write(bytes, size);
    key_derive(key, CONTEXT_SIZE, bytes, sizeof bytes, &shuffle->key);
    shuffle->size = size;
    shuffle->left = root_above(size);
    shuffle->right = (uint32_t)((size + shuffle->left - 1) / shuffle->left);
}

/* hash * modulus / 2^64. With a modulus of 31 bits, the frequencies of two
 * values differ by at most 2^-33 of their share. */
static uint32_t scale(uint64_t hash, uint32_t modulus)
{
    const uint64_t low = (hash & UINT32_MAX) * modulus >> 32;

    return (uint32_t)(((hash >> 32) * modulus + low) >> 32);
}

/* By how much a round moves one half, depending on the other half. */
static uint32_t round_offset(const struct shuffle *shuffle,
                             unsigned char *block, uint32_t round,
                             uint32_t other)
{
    unsigned char hash[crypto_shorthash_BYTES];

    bytes_write(block + 8, (uint64_t)round << 32 | other);
    (void)crypto_shorthash(hash, block, BLOCK_SIZE, shuffle->key.bytes);
    return scale(bytes_read(hash),
                 round % 2 == 0 ? shuffle->left : shuffle->right);
}

/* `half` and `offset` are less than the modulus, which is at most 2^31. */
static uint32_t add(uint32_t half, uint32_t offset, uint32_t modulus)
{
    const uint32_t sum = half + offset;

    return sum >= modulus ? sum - modulus : sum;
}

static uint32_t subtract(uint32_t half, uint32_t offset, uint32_t modulus)
{
    return half >= offset ? half - offset : half + modulus - offset;
}

/* A bijection over [0, left * right). `block` begins with the tweak. */
static uint64_t network_forward(const struct shuffle *shuffle,
                                unsigned char *block, uint64_t value)
{
    uint32_t left = (uint32_t)(value / shuffle->right);
    uint32_t right = (uint32_t)(value % shuffle->right);

    for (uint32_t round = 0; round < ROUNDS; round += 2) {
        left = add(left, round_offset(shuffle, block, round, right),
                   shuffle->left);
        right = add(right, round_offset(shuffle, block, round + 1, left),
                    shuffle->right);
    }
    return (uint64_t)left * shuffle->right + right;
}

static uint64_t network_backward(const struct shuffle *shuffle,
                                 unsigned char *block, uint64_t value)
{
    uint32_t left = (uint32_t)(value / shuffle->right);
    uint32_t right = (uint32_t)(value % shuffle->right);

    for (uint32_t round = ROUNDS; round > 0; round -= 2) {
        right = subtract(right, round_offset(shuffle, block, round - 1, left),
                         shuffle->right);
        left = subtract(left, round_offset(shuffle, block, round - 2, right),
                        shuffle->left);
    }
    return (uint64_t)left * shuffle->right + right;
}

/* The walk ends, because its cycle leads back to `value`, which is less than
 * the size. It is short, because fewer than `left` values are not. */
uint64_t shuffle_forward(const struct shuffle *shuffle, uint64_t tweak,
                         uint64_t value)
{
    unsigned char block[BLOCK_SIZE];

    assert(value < shuffle->size);
    bytes_write(block, tweak);
    do {
        value = network_forward(shuffle, block, value);
    } while (value >= shuffle->size);
    return value;
}

uint64_t shuffle_backward(const struct shuffle *shuffle, uint64_t tweak,
                          uint64_t value)
{
    unsigned char block[BLOCK_SIZE];

    assert(value < shuffle->size);
    bytes_write(block, tweak);
    do {
        value = network_backward(shuffle, block, value);
    } while (value >= shuffle->size);
    return value;
}

const char *shuffle_library(void)
{
    return "libsodium " SODIUM_VERSION_STRING;
}
