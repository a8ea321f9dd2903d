/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passwords, tokens and their hashes, by libsodium. A password is chosen by a
 * person: its hash is argon2id, which costs memory and tens of ms, so that
 * guessing is slow. A token is 256 random bits, which nobody can guess: a fast
 * hash is enough. Any thread may call all functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CREDENTIAL_MAX 1024 /* bytes of a password or a token */

#define CREDENTIAL_HASH_SIZE       128 /* of a password's hash, with the 0 */
#define CREDENTIAL_TOKEN_SIZE      64  /* of a token, with the final 0 */
#define CREDENTIAL_TOKEN_HASH_SIZE 80
#define CREDENTIAL_DIGEST_SIZE     32 /* bytes; a digest is not text */

/* The hash of a password, "$argon2id$..."; false if out of memory. */
bool credential_hash(const char *password, size_t length,
                     char out[CREDENTIAL_HASH_SIZE]);

/* Whether the text is such a hash, and needs at most 256 MiB and 16 passes. */
bool credential_is_hash(const char *hash);

enum credential_match {
    CREDENTIAL_WRONG,
    CREDENTIAL_RIGHT,
    CREDENTIAL_SHORT /* not compared: out of memory */
};

/* Compares a password with a hash. It takes the time and memory that the hash
 * specifies: by default tens of ms, and 19 MiB. If the salt is not
 * of 16 bytes, as that of credential_hash is, or the digest is shorter, then
 * the answer is CREDENTIAL_WRONG when out of memory, too. */
enum credential_match credential_compare(const char *hash, const char *password,
                                         size_t length);

/* A hash whose password nobody knows, at the default cost. */
extern const char credential_nobody[];

/* What checking a password against the hash costs: its KiB of memory times its
 * passes; 0 if it is malformed. */
uint64_t credential_cost(const char *hash);

/* A new token, and its hash, "blake2b:...". */
void credential_token_make(char token[CREDENTIAL_TOKEN_SIZE],
                           char hash[CREDENTIAL_TOKEN_HASH_SIZE]);

/* The digest in the hash of a token. False: it is not such a hash. */
bool credential_token_read(const char *hash,
                           unsigned char out[CREDENTIAL_DIGEST_SIZE]);

/* The digest of a token. */
void credential_token_digest(const char *token, size_t length,
                             unsigned char out[CREDENTIAL_DIGEST_SIZE]);

/* A digest under a random key of this process. It recognizes a text that was
 * seen before without keeping it. */
void credential_digest(const char *text, size_t length,
                       unsigned char out[CREDENTIAL_DIGEST_SIZE]);

/* Compares in a time that does not depend on where the digests differ. */
bool credential_is_same(const unsigned char a[CREDENTIAL_DIGEST_SIZE],
                        const unsigned char b[CREDENTIAL_DIGEST_SIZE]);

/* Overwrites a secret. NULL is allowed if `size` is 0. */
void credential_wipe(void *secret, size_t size);

/* Decodes base64, with or without "=" at the end. False if the text is invalid
 * or `size` is too small; `out` is then wiped. */
bool credential_base64_read(const char *text, char *out, size_t size,
                            size_t *length);
