/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that make one lessor level, or leave its marks once more. */
#pragma once

#include "ha/neighbours/call.h"

struct sync {
    struct ha_pool *pool;
    const struct seen *seen; /* by lessor: as a look just found them */
    int32_t lessor;
    bool is_level;               /* in that term; else it begins, or is begun */
    char nonce[TERM_NONCE_SIZE]; /* of the term */
    char term[TERM_SIZE];
};

/* One that another store led since its term began is not level: it was away,
 * and a copy leased in its place. */
struct sync sync_of(struct ha_pool *pool, const struct seen *seen,
                    int32_t lessor);

/* Whether all others that can be asked have its mark. */
bool sync_has_marks(const struct sync *sync);

/* The first of the others that cannot be asked, or -1. */
int32_t sync_away(const struct sync *sync);

/* Leaves the marks that are missing at those who can be asked. False, with the
 * reason, if that failed: to be tried again after another look. */
bool sync_mark_all(const struct sync *sync, struct seqb_error *err);

/* Makes it level; all others can be asked. False as above. */
bool sync_run(const struct sync *sync, struct seqb_error *err);
