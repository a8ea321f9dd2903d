/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passwords, tokens and their hashes, by libsodium. A password is what a person
 * chose: its hash is argon2id, which costs memory and tens of ms, so that
 * guessing is slow. A token is 256 random bits, which nobody guesses: a fast
 * hash is enough. All functions may be called on any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CREDENTIAL_MAX 1024 /* bytes of a password or a token */

#define CREDENTIAL_HASH_SIZE       128 /* of a password's hash, with its end */
#define CREDENTIAL_TOKEN_SIZE      64  /* of a token, with its end */
#define CREDENTIAL_TOKEN_HASH_SIZE 80
#define CREDENTIAL_DIGEST_SIZE     32 /* bytes, which are no text */

/* The hash of a password, "$argon2id$..."; false if memory is short. */
bool credential_hash(const char *password, size_t length,
                     char out[CREDENTIAL_HASH_SIZE]);

/* Whether it is a hash of that kind, and asks for no more than 256 MiB and 16
 * passes. */
bool credential_is_hash(const char *hash);

/* Whether the password is the hash's. It takes as long as the hash says, tens
 * of ms by default, and its memory, 19 MiB by default. False if memory is
 * short, too. */
bool credential_fits(const char *hash, const char *password, size_t length);

/* A hash that no password is known for, at the usual cost: who is unknown is
 * refused as slowly as a wrong password. */
extern const char credential_nobody[];

/* A new token, and its hash, "blake2b:...". */
void credential_token_make(char token[CREDENTIAL_TOKEN_SIZE],
                           char hash[CREDENTIAL_TOKEN_HASH_SIZE]);

/* The digest that the hash of a token holds. False: it is no such hash. */
bool credential_token_read(const char *hash,
                           unsigned char out[CREDENTIAL_DIGEST_SIZE]);

/* The same of a token itself. */
void credential_token_digest(const char *token, size_t length,
                             unsigned char out[CREDENTIAL_DIGEST_SIZE]);

/* A digest under a random key of this process: what was seen before is known
 * again, and not kept. */
void credential_digest(const char *text, size_t length,
                       unsigned char out[CREDENTIAL_DIGEST_SIZE]);

/* In a time that does not depend on where they differ. */
bool credential_is_same(const unsigned char a[CREDENTIAL_DIGEST_SIZE],
                        const unsigned char b[CREDENTIAL_DIGEST_SIZE]);

/* Overwrites a secret. NULL is allowed if `size` is 0. */
void credential_wipe(void *secret, size_t size);

/* The bytes that a text of base64 says, with or without its "=" at the end.
 * False, with nothing left in `out`, if it is none, or `size` is too small. */
bool credential_base64_read(const char *text, char *out, size_t size,
                            size_t *length);
