/* SPDX-License-Identifier: Apache-2.0 */
/* What a draft says across its sections: names found, guarantees and bits of a
 * pool. Whether that is right is left to check.c. */
#include "config/draft.h"

#include <string.h>

#include "ha/ha.h"
#include "period/period.h"

#define JS_BITS 53 /* of the doubles that JavaScript has */

int32_t draft_partition_bits(size_t count)
{
    for (int32_t bits = 0; bits <= HA_BITS_MAX; bits++) {
        if (count == (size_t)1 << bits)
            return bits;
    }
    return -1;
}

int32_t draft_find_backend(const struct draft *draft, const char *name)
{
    for (size_t i = 0; name != NULL && i < draft->backend_count; i++) {
        const char *other = draft->backends[i].name.text;

        if (other != NULL && strcmp(other, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

bool draft_pool_has(const struct draft *draft, const struct draft_pool *pool,
                    enum seqb_guarantee guarantee)
{
    for (size_t j = 0; j < pool->partitions.count; j++) {
        const int32_t i = draft_find_backend(draft, pool->partitions.names[j]);
        const struct seqb_backend_ops *ops =
            i < 0 ? NULL : draft->backends[i].ops;

        if (ops != NULL && ops->guarantee == guarantee)
            return true;
    }
    return false;
}

int32_t draft_find_pool(const struct draft *draft,
                        const struct draft_sequence *sequence)
{
    const char *name = sequence->pool.text;

    if (sequence->pool.line == 0)
        return draft->pool_count == 1 ? 0 : -1;
    for (size_t i = 0; name != NULL && i < draft->pool_count; i++) {
        const char *other = draft->pools[i].name.text;

        if (other != NULL && strcmp(other, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

int draft_value_bits(const struct draft_sequence *sequence)
{
    return sequence->js_safe.number != 0 ? JS_BITS : BITS_ALL;
}
