/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks Redis sentinels where the master is. They may be behind the truth, so
 * whoever is led to a server checks its role, and asks on if it is none.
 */
#pragma once

#include "backends/redis/link.h"

/* A walk along options->sentinels, each asked once. */
struct sentinel_walk {
    const struct seqb_backend_options *options;
    int64_t deadline_ms;
    size_t asked;         /* sentinels so far */
    struct address found; /* the last master named */
    char said[768];       /* by those that led to none */
};

/* Begins a walk that ends within `connect_timeout_ms`. SEQB_INVALID if the
 * options do not say whom to ask for what. */
enum seqb_status sentinel_begin(struct sentinel_walk *walk,
                                const struct seqb_backend_options *options,
                                struct seqb_error *err);

/* Asks on until one names a master that the one before did not: it is then
 * `found`. One that is down, hangs, or knows no such master is passed over.
 * False when none is left, or no time. */
bool sentinel_next(struct sentinel_walk *walk);

/* What is left of the time, ms; may be negative. */
int32_t sentinel_rest_ms(const struct sentinel_walk *walk);

/* The master found was none, or not to be reached: `why`. */
void sentinel_reject(struct sentinel_walk *walk, const struct seqb_error *why);

/* The walk is over: the failure, `status`, with what each of them said. */
enum seqb_status sentinel_fail(const struct sentinel_walk *walk,
                               enum seqb_status status, struct seqb_error *err);
