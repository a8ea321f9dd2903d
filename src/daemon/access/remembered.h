/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials that were right a while ago, as digests under a key of this
 * process: a pool of connections, or HTTP's request for each number, costs one
 * hash of a password and not one each. Pure. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "credential/credential.h"

#define REMEMBERED_MAX 128
#define REMEMBERED_MS  INT64_C(600000) /* then it is reckoned again */

struct remembered_one {
    unsigned char digest[CREDENTIAL_DIGEST_SIZE];
    int64_t until_ms; /* 0: free */
};

/* Zeroed remembers nothing. */
struct remembered {
    struct remembered_one all[REMEMBERED_MAX];
};

bool remembered_has(const struct remembered *remembered,
                    const unsigned char digest[CREDENTIAL_DIGEST_SIZE],
                    int64_t now_ms);

/* In the place of one that is over, or that would be over first. */
void remembered_add(struct remembered *remembered,
                    const unsigned char digest[CREDENTIAL_DIGEST_SIZE],
                    int64_t now_ms);
