/* SPDX-License-Identifier: Apache-2.0 */
/* The rules between settings, all of them: what the reader cannot see in one
 * value, and what needs no file to be known. The front header of this folder.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

#include "config/settings/settings.h"
#include "config/source/source.h"

/* Adds a mistake for every rule broken. Values that were reported as wrong
 * already break none. */
void check_draft(const struct draft *draft, struct diagnostics *diagnostics);

/* --- engines.c: those built in, and those that the service brings along --- */

/* Checks a service's engines (NULL, or ended by NULL): complete, each with a
 * name of its own. SEQB_INVALID with what is wrong. */
enum seqb_status engines_check(const struct seqb_backend_ops *const *engines,
                               struct seqb_error *err);

/* Finds the engine of each backend; its `ops` stay NULL if there is none. */
void engines_resolve(struct draft *draft);

/* ": this build has a, b; the service has c" */
void engines_list(const struct draft *draft, char *out, size_t size);

/* --- check_keys.c: that no key is listed twice --- */

void check_keys(const struct draft *draft, struct diagnostics *diagnostics);

/* --- for check.c: bits of a sequence's numbers, and what their texts need ---
 */

/* `pool` is the sequence's, NULL if it was not found. */
void check_number(const struct draft *draft,
                  const struct draft_sequence *sequence,
                  const struct draft_pool *pool,
                  struct diagnostics *diagnostics);

/* --- check_daemon.c: what seqbrokerd does not serve by TLS without --- */

void check_daemon(const struct draft *draft, struct diagnostics *diagnostics);

/* --- windows: who counts in them, and neighbours that lease them --- */

/* Nothing for a pool whose partitions count as they need to. */
void check_windows(const struct draft *draft, const struct draft_pool *pool,
                   struct diagnostics *diagnostics);

/* --- who may log in --- */

void check_users(const struct draft *draft, struct diagnostics *diagnostics);

/* --- neighbours.c --- */

#define LESSORS_LEAST   2 /* each one is the others' witness */
#define LESSORS_DEFAULT 3 /* so that one of them may be down for long */

/* Once engines are resolved: a pool that names no authority has neighbours if
 * each of its partitions can, and LESSORS_DEFAULT or more lease, none on the
 * server of another one. The files of a machine count as one server. */
void neighbours_resolve(struct draft *draft);

/* A mistake for each two lessors of the pool that are one store, a warning for
 * each two on one server. */
void neighbours_compare(const struct draft *draft,
                        const struct draft_pool *pool,
                        struct diagnostics *diagnostics);

/* --- periods and ids --- */

/* `pool` is the sequence's, NULL if it was not found. */
void check_time(const struct draft *draft,
                const struct draft_sequence *sequence,
                const struct draft_pool *pool, struct diagnostics *diagnostics);

/* --- snowflakes --- */

/* Nothing for a sequence that is none. Whether its pool has a direct store that
 * leases worker ids is told with the pool. */
void check_snowflake(const struct draft *draft,
                     const struct draft_sequence *sequence,
                     struct diagnostics *diagnostics);

/* --- what an engine needs and refuses among a backend's settings --- */

/* Adds a mistake for each rule of its engine that the backend breaks; an
 * engine of the service may use every setting. */
void engine_check(const struct draft *draft,
                  const struct draft_backend *backend,
                  struct diagnostics *diagnostics);
