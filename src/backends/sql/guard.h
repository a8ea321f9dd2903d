/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of guards (struct seqb_guard): which claims a transaction must
 * compare, and what their texts mean for a request or a raise. The engine locks
 * and reads the claims in the transaction that the guards protect. Also: what
 * an incarnation that differs from that of open means. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/backend.h>

#define SQL_GUARDS_MAX   1024 /* one for each request */
#define SQL_UNKNOWN_SIZE 256

/* A claim that a guard names. */
struct sql_guarded {
    const char *name;
    bool fits; /* the claim exists, and is not longer than any guard's */
    char standing[SEQB_GUARD_SIZE]; /* "" for nothing; cut if it does not fit */
};

/* The claims of a transaction, sorted by name, which is the order in which all
 * brokers lock them. */
struct sql_guards {
    char incarnation[SEQB_INCARNATION_SIZE]; /* the store's, set by the
                                                engine */
    struct sql_guarded claims[SQL_GUARDS_MAX];
    size_t count;
};

/* Answers SEQB_REFUSED: a guard cannot be compared since the backend has no
 * incarnation. `unknown` is the reason; "": open was not asked for one. */
enum seqb_status sql_guard_refuse(const char *where, const char *counter,
                                  const char *unknown, struct seqb_error *err);

/* SEQB_UNREACHABLE if the backend has an incarnation and the store's current
 * one, `now`, differs from it. */
enum seqb_status sql_incarnation_check(const struct seqb_backend *backend,
                                       const char *now, const char *where,
                                       struct seqb_error *err);

/* As sql_incarnation_check, within a swap; SEQB_FENCED if the swap itself names
 * another incarnation. */
enum seqb_status sql_swap_check(const struct seqb_backend *backend,
                                const struct seqb_swap *swap, const char *now,
                                const char *where, struct seqb_error *err);

/* Adds the guard's claim, unless it was added already. NULL: no guard. */
void sql_guards_add(struct sql_guards *guards, const struct seqb_guard *guard);

/* Notes the text found under the name of claim `i`; NULL: none. */
void sql_guards_found(struct sql_guards *guards, size_t i, const char *text);

/* Checks the guard against what was found: SEQB_OK, also for NULL. Otherwise
 * SEQB_FENCED, and guard->has_failed is set. `where` begins messages. */
enum seqb_status sql_guards_check(const struct sql_guards *guards,
                                  struct seqb_guard *guard, const char *where,
                                  const char *counter, struct seqb_error *err);
