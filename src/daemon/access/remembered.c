/* SPDX-License-Identifier: Apache-2.0 */
/* Digests and when they expire; see remembered.h. */
#include "daemon/access/remembered.h"

#include <string.h>

/* Compares all digests, so that the time taken does not reveal which one
 * matches. */
bool remembered_has(const struct remembered *remembered,
                    const unsigned char digest[CREDENTIAL_DIGEST_SIZE],
                    int64_t now_ms)
{
    bool has = false;

    for (int i = 0; i < REMEMBERED_MAX; i++) {
        const struct remembered_one *one = &remembered->all[i];

        if (credential_is_same(one->digest, digest) && one->until_ms > now_ms)
            has = true;
    }
    return has;
}

void remembered_add(struct remembered *remembered,
                    const unsigned char digest[CREDENTIAL_DIGEST_SIZE],
                    int64_t now_ms)
{
    struct remembered_one *spare = &remembered->all[0];

    for (int i = 1; i < REMEMBERED_MAX; i++)
        if (remembered->all[i].until_ms < spare->until_ms)
            spare = &remembered->all[i];
    memcpy(spare->digest, digest, CREDENTIAL_DIGEST_SIZE);
    spare->until_ms = now_ms + REMEMBERED_MS;
}
