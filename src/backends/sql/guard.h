/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of guards (struct seqb_guard): which claims a transaction has to
 * compare, and what it means for a request or a raise what they are. An engine
 * locks and reads the claims in the transaction that the guards are of. And
 * what another incarnation than that of open means. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/backend.h>

#define SQL_GUARDS_MAX   1024 /* one for each request */
#define SQL_UNKNOWN_SIZE 256

/* A claim that guards name. */
struct sql_guarded {
    const char *name;
    bool fits; /* it stands there, and is no longer than any guard's */
    char standing[SEQB_GUARD_SIZE]; /* "" for nothing; cut if it does not fit */
};

/* The claims of a transaction, in the order of their names, in which all
 * brokers lock them. */
struct sql_guards {
    char incarnation[SEQB_INCARNATION_SIZE]; /* the store's, by the engine */
    struct sql_guarded claims[SQL_GUARDS_MAX];
    size_t count;
};

/* A guard cannot be compared: SEQB_REFUSED. The backend has no incarnation,
 * since `unknown`; "": open was not asked for it. */
enum seqb_status sql_guard_refuse(const char *where, const char *counter,
                                  const char *unknown, struct seqb_error *err);

/* SEQB_UNREACHABLE if the backend has an incarnation and it is not the one that
 * the store has `now`. */
enum seqb_status sql_incarnation_check(const struct seqb_backend *backend,
                                       const char *now, const char *where,
                                       struct seqb_error *err);

/* The same for a swap that is under way: SEQB_FENCED if it names another one
 * itself. */
enum seqb_status sql_swap_check(const struct seqb_backend *backend,
                                const struct seqb_swap *swap, const char *now,
                                const char *where, struct seqb_error *err);

/* Adds the guard's claim, unless it is there. NULL: none. */
void sql_guards_add(struct sql_guards *guards, const struct seqb_guard *guard);

/* Notes what was found under the name of claim `i`; NULL: nothing. */
void sql_guards_found(struct sql_guards *guards, size_t i, const char *text);

/* Whether the guard holds, as was found: SEQB_OK, also for NULL. Else
 * SEQB_FENCED, and guard->has_failed. `where` begins messages. */
enum seqb_status sql_guards_check(const struct sql_guards *guards,
                                  struct seqb_guard *guard, const char *where,
                                  const char *counter, struct seqb_error *err);
