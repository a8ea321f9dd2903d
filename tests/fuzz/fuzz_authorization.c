/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the header Authorization, as the hash of a password or a token
 * in a topology, and as the pattern of a key and the key.
 */
#include "credential/credential.h"
#include "daemon/access/authorization.h"
#include "daemon/access/users.h"
#include "fuzz/fuzz.h"

#define INPUT_MAX 4096

static void read_header(const char *text)
{
    struct authorization got;

    if (!authorization_read(text, &got))
        return;
    require(got.secret >= got.text);
    require(got.secret + got.secret_length <= got.text + sizeof got.text);
    require(got.name_length < sizeof got.text);
    require(!got.is_token || got.name_length == 0);
    authorization_wipe(&got);
}

static void read_hashes(const char *text)
{
    unsigned char digest[CREDENTIAL_DIGEST_SIZE];

    (void)credential_token_read(text, digest);
    require(!credential_is_hash(text) || strlen(text) < CREDENTIAL_HASH_SIZE);
}

/* A pattern without * and ? is its own key. */
static void match(const char *text, size_t length)
{
    const size_t half = strlen(text) / 2;
    char pattern[INPUT_MAX + 1];

    memcpy(pattern, text, half);
    pattern[half] = '\0';
    (void)pattern_matches(pattern, text + half, length - half);
    require(pattern_matches("*", text, length));
    if (strpbrk(pattern, "*?") == NULL)
        require(pattern_matches(pattern, pattern, half));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char text[INPUT_MAX + 1];

    if (size > INPUT_MAX)
        return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    read_header(text);
    read_hashes(text);
    match(text, size);
    return 0;
}
