/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of recently verified credentials, as digests under a key of this
 * process. A connection pool, or an HTTP client that sends its password with
 * each request, then costs one password hash instead of many. Pure. Private to
 * this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "credential/credential.h"

#define REMEMBERED_MAX 128
#define REMEMBERED_MS  INT64_C(600000) /* then the password is hashed again */

struct remembered_one {
    unsigned char digest[CREDENTIAL_DIGEST_SIZE];
    int64_t until_ms; /* 0: free */
};

/* A zeroed cache is empty. */
struct remembered {
    struct remembered_one all[REMEMBERED_MAX];
};

bool remembered_has(const struct remembered *remembered,
                    const unsigned char digest[CREDENTIAL_DIGEST_SIZE],
                    int64_t now_ms);

/* Replaces an entry that has expired, or the one that expires first. */
void remembered_add(struct remembered *remembered,
                    const unsigned char digest[CREDENTIAL_DIGEST_SIZE],
                    int64_t now_ms);
