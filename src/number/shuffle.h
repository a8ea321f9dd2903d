/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A keyed bijection over [0, size). It lets numbers be written as codes that
 * show neither how many there were nor which are neighbours. Codes are unique
 * by construction, and nothing is stored. It is a generalized Feistel network
 * over two moduli whose product is just above the size, with cycle walking
 * (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002); its
 * rounds are SipHash-2-4 of libsodium. It obscures, and is no encryption: small
 * domains can be searched by brute force. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHUFFLE_KEY_SIZE         16
#define SHUFFLE_SECRET_MIN       16 /* bytes of the secret that makes a key */
#define SHUFFLE_SECRET_MAX       1024
#define SHUFFLE_FINGERPRINT_SIZE 17 /* 16 hex digits and a final 0 */

struct shuffle_key {
    unsigned char bytes[SHUFFLE_KEY_SIZE];
};

/* The bijection for one key and one size. Constant once made: any thread may
 * use it. */
struct shuffle {
    struct shuffle_key key; /* derived for this size */
    uint64_t size;
    uint32_t left; /* the two moduli */
    uint32_t right;
};

/* Derives the key from a secret. The secret cannot be computed from the key. */
void shuffle_key_make(const char *secret, size_t length,
                      struct shuffle_key *out);

/* Identifies a key without revealing it: 64 bits of a hash, in hex. */
void shuffle_fingerprint(const struct shuffle_key *key,
                         char out[SHUFFLE_FINGERPRINT_SIZE]);

/* `size` is 1 ... 2^62. */
void shuffle_init(struct shuffle *shuffle, const struct shuffle_key *key,
                  uint64_t size);

/* The bijection and its inverse; `value` is less than the size. Every tweak,
 * which may be any number, selects another bijection. */
uint64_t shuffle_forward(const struct shuffle *shuffle, uint64_t tweak,
                         uint64_t value);
uint64_t shuffle_backward(const struct shuffle *shuffle, uint64_t tweak,
                          uint64_t value);

const char *shuffle_library(void); /* "libsodium 1.0.18" */
