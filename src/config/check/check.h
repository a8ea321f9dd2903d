/* SPDX-License-Identifier: Apache-2.0 */
/* The rules between settings, except for those that need a file: all that the
 * reader cannot see in a single value. This is the front header of the
 * folder. */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

#include "config/settings/settings.h"
#include "config/source/source.h"

/* Adds a mistake for each rule that the draft breaks. A value that was already
 * reported as wrong breaks no further rule. */
void check_draft(const struct draft *draft, struct diagnostics *diagnostics);

/* --- engines.c: built-in engines and those of the service --- */

/* Checks a service's engines (NULL, or ended by NULL): each must have the
 * functions of its class and a unique name. SEQB_INVALID, with the first fault
 * in `err`. */
enum seqb_status engines_check(const struct seqb_backend_ops *const *engines,
                               struct seqb_error *err);

/* Finds the engine of each backend. `ops` stays NULL if there is none. */
void engines_resolve(struct draft *draft);

/* Writes ": this build has a, b; the service has c" to `out`. */
void engines_list(const struct draft *draft, char *out, size_t size);

/* --- check_keys.c: no key may be listed twice --- */

void check_keys(const struct draft *draft, struct diagnostics *diagnostics);

/* --- check_number.c: bits of numbers, and settings of their texts --- */

/* `pool` is the sequence's pool, NULL if it was not found. */
void check_number(const struct draft *draft,
                  const struct draft_sequence *sequence,
                  const struct draft_pool *pool,
                  struct diagnostics *diagnostics);

/* --- check_daemon.c: certificates that seqbrokerd needs for TLS --- */

void check_daemon(const struct draft *draft, struct diagnostics *diagnostics);

/* --- check_windows.c: who counts in windows, and neighbours --- */

/* Checks `windows` = "all" and `authority` = "neighbours". Warns of a file that
 * counts directly beside servers. */
void check_windows(const struct draft *draft, const struct draft_pool *pool,
                   struct diagnostics *diagnostics);

/* --- check_users.c: users, and limits of keys --- */

void check_users(const struct draft *draft, struct diagnostics *diagnostics);

/* --- neighbours.c --- */

#define LESSORS_LEAST   2 /* each needs another one as its witness */
/* So that the pool works on while one of them is down. */
#define LESSORS_DEFAULT 3

/* Call it after engines_resolve. A pool that names no authority gets neighbours
 * if each of its partitions can be one, if LESSORS_DEFAULT or more of them
 * lease, and if no two lessors are on the same server. All files count as one
 * server. */
void neighbours_resolve(struct draft *draft);

/* Adds a mistake for each two lessors of the pool that are one store, and a
 * warning for each two on one server. */
void neighbours_compare(const struct draft *draft,
                        const struct draft_pool *pool,
                        struct diagnostics *diagnostics);

/* --- check_time.c: periods and ids --- */

/* `pool` is the sequence's pool, NULL if it was not found. */
void check_time(const struct draft *draft,
                const struct draft_sequence *sequence,
                const struct draft_pool *pool, struct diagnostics *diagnostics);

/* --- check_snowflake.c --- */

/* Does nothing if the sequence is not a snowflake. It does not check whether
 * the pool has a direct store that leases worker ids: src/lease does when it
 * starts. */
void check_snowflake(const struct draft *draft,
                     const struct draft_sequence *sequence,
                     struct diagnostics *diagnostics);

/* --- engine.c: settings that an engine needs or refuses --- */

/* Adds a mistake for each rule of its engine that the backend breaks. An engine
 * of the service may use every setting. */
void engine_check(const struct draft *draft,
                  const struct draft_backend *backend,
                  struct diagnostics *diagnostics);
