/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks Redis sentinels for the master. Their answers may be outdated, so the
 * caller checks the role of the server, and asks the next sentinel if it is not
 * a master.
 */
#pragma once

#include "backends/redis/link.h"

/* A walk along options->sentinels, which asks each once. */
struct sentinel_walk {
    const struct seqb_backend_options *options;
    int64_t deadline_ms;
    size_t asked;         /* sentinels so far */
    struct address found; /* the last master named */
    char said[768];       /* the answers of those that led to no master */
};

/* Begins a walk that ends within `connect_timeout_ms`. SEQB_INVALID if the
 * options lack the sentinels or the master's name. */
enum seqb_status sentinel_begin(struct sentinel_walk *walk,
                                const struct seqb_backend_options *options,
                                struct seqb_error *err);

/* Asks the next sentinels until one names another master than the previous one
 * did; that master is then `found`. A sentinel that is down, hangs, or does not
 * know the master is skipped. False when no sentinel or no time is left. */
bool sentinel_next(struct sentinel_walk *walk);

/* The time left, ms; may be negative. */
int32_t sentinel_rest_ms(const struct sentinel_walk *walk);

/* Notes why the master found was not a master or could not be reached. */
void sentinel_reject(struct sentinel_walk *walk, const struct seqb_error *why);

/* The walk has failed with `status`; the text has the answer of each
 * sentinel. */
enum seqb_status sentinel_fail(const struct sentinel_walk *walk,
                               enum seqb_status status, struct seqb_error *err);
