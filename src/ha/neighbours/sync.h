/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that make one lessor level, or leave its marks again. */
#pragma once

#include "ha/neighbours/call.h"

struct sync {
    struct ha_pool *pool;
    const struct seen *seen; /* by lessor: results of a look */
    int32_t lessor;
    bool is_level; /* in that term; else the term is to begin, or has begun */
    char nonce[TERM_NONCE_SIZE]; /* of the term */
    char term[TERM_SIZE];
};

/* A lessor is not level if another store led under its name after its term
 * began: it was away, and a copy leased in its place. */
struct sync sync_of(struct ha_pool *pool, const struct seen *seen,
                    int32_t lessor);

/* Whether all others that can be asked have its mark. */
bool sync_has_marks(const struct sync *sync);

/* The first other lessor that cannot be asked, or -1. */
int32_t sync_away(const struct sync *sync);

/* Leaves the missing marks at the others that can be asked. False, with the
 * reason, if a step failed: try again after another look. */
bool sync_mark_all(const struct sync *sync, struct seqb_error *err);

/* Makes the lessor level. All others must be reachable. False, with the reason,
 * if a step failed: try again after another look. */
bool sync_run(const struct sync *sync, struct seqb_error *err);
