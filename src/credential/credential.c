/* SPDX-License-Identifier: Apache-2.0 */
/* The programs' use of libsodium; see credential.h. */
#include "credential/credential.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#define TOKEN_BEGIN    "seqb_"
#define TOKEN_BYTES    32
#define TOKEN_HASH     "blake2b:"
#define PASSWORD_BEGIN "$argon2id$v=19$"

/* The second of OWASP's choices for argon2id: 19 MiB, 2 passes, 1 lane. */
#define MEMORY_BYTES ((size_t)19456 * 1024)
#define PASSES       2

/* Limits for hashes that others made: the cost of a login. */
#define MEMORY_MAX_KIB 262144
#define PASSES_MAX     16

const char credential_nobody[] =
    "$argon2id$v=19$m=19456,t=2,p=1$69z9TiS9qJBJgkzPLPp/"
    "sw$oUl8rm1zQYU6EApAJ9HfF6lhwJIrFcT6ZMY3WaW6DBs";

uint64_t credential_cost(const char *hash)
{
    const char *memory = strstr(hash, "$m=");
    const char *passes = memory != NULL ? strstr(memory, ",t=") : NULL;

    return passes != NULL
               ? strtoull(memory + 3, NULL, 10) * strtoull(passes + 3, NULL, 10)
               : 0;
}

static unsigned char process_key[crypto_generichash_KEYBYTES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* sodium_init ends the process if the system has no random numbers. */
static void begin(void)
{
    if (sodium_init() >= 0)
        crypto_generichash_keygen(process_key);
}

bool credential_hash(const char *password, size_t length,
                     char out[CREDENTIAL_HASH_SIZE])
{
    pthread_once(&once, begin);
    return crypto_pwhash_str_alg(out, password, length, PASSES, MEMORY_BYTES,
                                 crypto_pwhash_ALG_ARGON2ID13) == 0;
}

struct cost {
    unsigned memory_kib;
    unsigned passes;
};

/* Returns the salt and the digest in the hash, as text; NULL: it is no hash, or
 * it costs too much. */
static const char *cost_read(const char *hash, struct cost *cost)
{
    unsigned lanes = 0;
    int end = 0;

    if (strlen(hash) >= CREDENTIAL_HASH_SIZE ||
        sscanf(hash, PASSWORD_BEGIN "m=%9u,t=%9u,p=%9u$%n", &cost->memory_kib,
               &cost->passes, &lanes, &end) != 3)
        return NULL;
    return end > 0 && strchr(hash + end, '$') != NULL &&
                   cost->memory_kib >= 8 &&
                   cost->memory_kib <= MEMORY_MAX_KIB && cost->passes >= 1 &&
                   cost->passes <= PASSES_MAX && lanes == 1
               ? hash + end
               : NULL;
}

bool credential_is_hash(const char *hash)
{
    struct cost cost;

    return cost_read(hash, &cost) != NULL;
}

struct argon2id {
    struct cost cost;
    unsigned char salt[crypto_pwhash_SALTBYTES];
    unsigned char digest[CREDENTIAL_HASH_SIZE];
    size_t length; /* of the digest */
};

/* False if the salt or the digest has a length that crypto_pwhash does not
 * support. */
static bool argon2id_read(const char *hash, struct argon2id *out)
{
    const char *at = cost_read(hash, &out->cost);
    size_t salt_length = 0;

    return at != NULL &&
           sodium_base642bin(out->salt, sizeof out->salt, at, strlen(at), NULL,
                             &salt_length, &at,
                             sodium_base64_VARIANT_ORIGINAL_NO_PADDING) == 0 &&
           salt_length == sizeof out->salt && *at++ == '$' &&
           sodium_base642bin(out->digest, sizeof out->digest, at, strlen(at),
                             NULL, &out->length, &at,
                             sodium_base64_VARIANT_ORIGINAL_NO_PADDING) == 0 &&
           *at == '\0' && out->length >= crypto_pwhash_BYTES_MIN;
}

/* libsodium may read as many bytes as the longest hash has, so the hash is
 * copied to a buffer of that size. */
static enum credential_match verify(const char *hash, const char *password,
                                    size_t length)
{
    char whole[CREDENTIAL_HASH_SIZE] = "";

    snprintf(whole, sizeof whole, "%s", hash);
    return crypto_pwhash_str_verify(whole, password, length) == 0
               ? CREDENTIAL_RIGHT
               : CREDENTIAL_WRONG;
}

/* crypto_pwhash_str_verify fails in the same way if the password is wrong and
 * if memory is short; it leaves the same errno, too. crypto_pwhash fails only
 * if memory is short. */
enum credential_match credential_compare(const char *hash, const char *password,
                                         size_t length)
{
    unsigned char digest[CREDENTIAL_HASH_SIZE];
    struct argon2id known;
    bool is_right = false;

    pthread_once(&once, begin);
    if (!argon2id_read(hash, &known))
        return verify(hash, password, length);
    if (crypto_pwhash(digest, known.length, password, length, known.salt,
                      known.cost.passes, (size_t)known.cost.memory_kib * 1024,
                      crypto_pwhash_ALG_ARGON2ID13) != 0)
        return CREDENTIAL_SHORT;
    is_right = sodium_memcmp(digest, known.digest, known.length) == 0;
    sodium_memzero(digest, sizeof digest);
    return is_right ? CREDENTIAL_RIGHT : CREDENTIAL_WRONG;
}

void credential_token_digest(const char *token, size_t length,
                             unsigned char out[CREDENTIAL_DIGEST_SIZE])
{
    static const unsigned char purpose[] = "seqbroker token";

    pthread_once(&once, begin);
    crypto_generichash(out, CREDENTIAL_DIGEST_SIZE,
                       (const unsigned char *)token, length, purpose,
                       sizeof purpose);
}

void credential_token_make(char token[CREDENTIAL_TOKEN_SIZE],
                           char hash[CREDENTIAL_TOKEN_HASH_SIZE])
{
    unsigned char bytes[TOKEN_BYTES];
    unsigned char digest[CREDENTIAL_DIGEST_SIZE];
    char text[CREDENTIAL_TOKEN_SIZE];
    char digits[2 * CREDENTIAL_DIGEST_SIZE + 1];

    pthread_once(&once, begin);
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2base64(text, sizeof text, bytes, sizeof bytes,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    snprintf(token, CREDENTIAL_TOKEN_SIZE, TOKEN_BEGIN "%.*s",
             CREDENTIAL_TOKEN_SIZE - (int)sizeof TOKEN_BEGIN, text);
    credential_token_digest(token, strlen(token), digest);
    snprintf(hash, CREDENTIAL_TOKEN_HASH_SIZE, TOKEN_HASH "%s",
             sodium_bin2hex(digits, sizeof digits, digest, sizeof digest));
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(text, sizeof text);
}

bool credential_token_read(const char *hash,
                           unsigned char out[CREDENTIAL_DIGEST_SIZE])
{
    const size_t begins = strlen(TOKEN_HASH);
    const char *end = NULL;
    size_t length = 0;

    return strncmp(hash, TOKEN_HASH, begins) == 0 &&
           sodium_hex2bin(out, CREDENTIAL_DIGEST_SIZE, hash + begins,
                          strlen(hash + begins), NULL, &length, &end) == 0 &&
           *end == '\0' && length == CREDENTIAL_DIGEST_SIZE;
}

void credential_digest(const char *text, size_t length,
                       unsigned char out[CREDENTIAL_DIGEST_SIZE])
{
    pthread_once(&once, begin);
    crypto_generichash(out, CREDENTIAL_DIGEST_SIZE, (const unsigned char *)text,
                       length, process_key, sizeof process_key);
}

bool credential_is_same(const unsigned char a[CREDENTIAL_DIGEST_SIZE],
                        const unsigned char b[CREDENTIAL_DIGEST_SIZE])
{
    return sodium_memcmp(a, b, CREDENTIAL_DIGEST_SIZE) == 0;
}

void credential_wipe(void *secret, size_t size)
{
    sodium_memzero(secret, size);
}

bool credential_base64_read(const char *text, char *out, size_t size,
                            size_t *length)
{
    const int variant = strchr(text, '=') != NULL
                            ? sodium_base64_VARIANT_ORIGINAL
                            : sodium_base64_VARIANT_ORIGINAL_NO_PADDING;
    const char *end = NULL;

    if (sodium_base642bin((unsigned char *)out, size, text, strlen(text), NULL,
                          length, &end, variant) == 0 &&
        *end == '\0')
        return true;
    sodium_memzero(out, size);
    return false;
}
