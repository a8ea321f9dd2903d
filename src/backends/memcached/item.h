/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memcached engine's inside: its struct, the commands that it sends about
 * one item, and what the answers to a look mean. memcached.c,
 * claim.c and reserve.c are built on it.
 */
#pragma once

#include "backends/memcached/cell.h"
#include "backends/memcached/key.h"
#include "backends/memcached/link.h"
#include "backends/memcached/session.h"

#define MEMCACHED_PREFIX_SIZE  65
#define MEMCACHED_REQUESTS_MAX 1024

/* What a request found, between the two round trips of a reserve. */
struct memcached_count {
    struct memcached_cell cell;
    int64_t step; /* how far to count; 0: not at all */
};

struct memcached {
    struct seqb_backend base;
    struct memcached_link link;
    struct memcached_session session;
    int32_t timeout_ms;
    char prefix[MEMCACHED_PREFIX_SIZE];
    struct memcached_count counts[MEMCACHED_REQUESTS_MAX];
};

static inline struct memcached *memcached_of(struct seqb_backend *backend)
{
    return (struct memcached *)backend;
}

/* The engine's reserve; reserve.c. */
enum seqb_status memcached_reserve(struct seqb_backend *backend,
                                   struct seqb_request *requests, size_t n,
                                   struct seqb_error *err);

/* The engine's claims; claim.c. */
enum seqb_status memcached_claim(struct seqb_backend *backend, const char *name,
                                 const char *text, char *standing, size_t size,
                                 struct seqb_error *err);
enum seqb_status memcached_claim_many(struct seqb_backend *backend,
                                      struct seqb_claim *claims, size_t n,
                                      size_t *done, struct seqb_error *err);

/* What is stored under a key. */
struct memcached_item {
    const char *text;
    uint32_t flags; /* the client's */
    int64_t expiry; /* exptime; 0: never */
};

/* Adds a command to what is sent; false on failure or at the deadline. `store`
 * puts an item there only over the version `cas` of the item, or with 0 only if
 * there is none. */
bool memcached_add_read(struct memcached *mc, const struct memcached_key *key);
bool memcached_add_count(struct memcached *mc, const struct memcached_key *key,
                         int64_t step);
bool memcached_add_store(struct memcached *mc, const struct memcached_key *key,
                         const struct memcached_item *item, uint64_t cas);
bool memcached_add_drop(struct memcached *mc, const struct memcached_key *key);

/* Sends what was added, if it was, and reads its one answer; else the
 * connection is lost: SEQB_UNCERTAIN, SEQB_PROTOCOL. */
enum seqb_status memcached_ask(struct memcached *mc, bool is_added,
                               struct memcached_reply *reply,
                               struct seqb_error *err);

/* Of an answer that is none of those awaited: an error, or no sense. */
enum seqb_status memcached_unexpected(struct memcached *mc,
                                      const struct memcached_key *key,
                                      const struct memcached_reply *reply,
                                      struct seqb_error *err);

/* Whether a look was answered with an item; SEQB_FENCED: there is none. */
enum seqb_status memcached_answer_item(struct memcached *mc,
                                       const struct memcached_key *key,
                                       const struct memcached_reply *reply,
                                       struct seqb_error *err);

/* The same for a cell; SEQB_REFUSED: it is none. */
enum seqb_status memcached_answer_cell(struct memcached *mc,
                                       const struct memcached_key *key,
                                       const struct memcached_reply *reply,
                                       struct memcached_cell *out,
                                       struct seqb_error *err);

/* Failures that more than one call answers. */
enum seqb_status memcached_foreign(const struct memcached *mc,
                                   const struct memcached_key *key,
                                   struct seqb_error *err);
enum seqb_status memcached_resized(const struct memcached *mc,
                                   const struct memcached_key *key,
                                   struct seqb_error *err);
enum seqb_status memcached_unguarded(const struct memcached *mc,
                                     const char *counter, int64_t size,
                                     struct seqb_error *err);
