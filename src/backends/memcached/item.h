/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The internals of the memcached engine: its struct, the commands that it sends
 * about one item, and the meaning of the answers to a read. memcached.c,
 * claim.c and reserve.c are built on it.
 */
#pragma once

#include "backends/memcached/cell.h"
#include "backends/memcached/key.h"
#include "backends/memcached/link.h"
#include "backends/memcached/session.h"

#define MEMCACHED_PREFIX_SIZE  65
#define MEMCACHED_REQUESTS_MAX 1024

/* The state of a request between the two round trips of a reserve. */
struct memcached_count {
    struct memcached_cell cell;
    int64_t step; /* the increment; 0: none is sent */
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

/* Adds a command to the buffer; false on failure or at the deadline. `store`
 * writes an item only if the existing item has version `cas`, or with 0 only if
 * there is no item. */
bool memcached_add_read(struct memcached *mc, const struct memcached_key *key);
bool memcached_add_count(struct memcached *mc, const struct memcached_key *key,
                         int64_t step);
bool memcached_add_store(struct memcached *mc, const struct memcached_key *key,
                         const struct memcached_item *item, uint64_t cas);
bool memcached_add_drop(struct memcached *mc, const struct memcached_key *key);

/* Sends what was added, if `is_added`, and reads its single answer. On failure
 * the connection is lost: SEQB_UNCERTAIN, SEQB_PROTOCOL. */
enum seqb_status memcached_ask(struct memcached *mc, bool is_added,
                               struct memcached_reply *reply,
                               struct seqb_error *err);

/* The status of an answer that was not expected: that of an error reply, or
 * SEQB_PROTOCOL. */
enum seqb_status memcached_unexpected(struct memcached *mc,
                                      const struct memcached_key *key,
                                      const struct memcached_reply *reply,
                                      struct seqb_error *err);

/* Whether the answer to a read is an item; SEQB_FENCED: there is none. */
enum seqb_status memcached_answer_item(struct memcached *mc,
                                       const struct memcached_key *key,
                                       const struct memcached_reply *reply,
                                       struct seqb_error *err);

/* As memcached_answer_item, for a cell; SEQB_REFUSED: the item is not a
 * cell. */
enum seqb_status memcached_answer_cell(struct memcached *mc,
                                       const struct memcached_key *key,
                                       const struct memcached_reply *reply,
                                       struct memcached_cell *out,
                                       struct seqb_error *err);

/* Failures of more than one call. */
enum seqb_status memcached_foreign(const struct memcached *mc,
                                   const struct memcached_key *key,
                                   struct seqb_error *err);
enum seqb_status memcached_resized(const struct memcached *mc,
                                   const struct memcached_key *key,
                                   struct seqb_error *err);
enum seqb_status memcached_unguarded(const struct memcached *mc,
                                     const char *counter, int64_t size,
                                     struct seqb_error *err);
