/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memcached engine's connection: a socket with buffers, calls that end at
 * their deadline, and what error replies mean. Bytes become replies in
 * reply.h; what is asked is the engine's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#include "backends/memcached/reply.h"
#include "net/net.h"

#define MEMCACHED_PORT     11211 /* where none is given */
#define MEMCACHED_IN_SIZE  65536 /* holds what a full pipeline is answered */
#define MEMCACHED_OUT_SIZE 16384

struct memcached_link {
    struct stream stream; /* closed once answers may be outstanding: a later
                             call would take them for its own */
    bool is_garbled;      /* the failure is bytes that are no reply */
    size_t in_from;       /* in[in_from ... in_to) is not read yet */
    size_t in_to;
    size_t out_length; /* bytes waiting to be sent */
    char where[256];   /* "mc-a (memcached 10.0.0.3:11211)" */
    char in[MEMCACHED_IN_SIZE];
    char out[MEMCACHED_OUT_SIZE];
};

/*
 * Connects within `connect_timeout_ms`; then a call is under way that has what
 * is left of it. SEQB_UNREACHABLE, SEQB_INVALID, SEQB_NO_MEMORY.
 * memcached_link_close is due whatever it returns; `link` was zeroed, with the
 * stream's fd -1.
 */
enum seqb_status memcached_link_open(struct memcached_link *link,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err);

/* SEQB_UNREACHABLE if the connection was lost earlier; else a call begins
 * that must end within `budget_ms`. */
enum seqb_status memcached_link_begin(struct memcached_link *link,
                                      int32_t budget_ms,
                                      struct seqb_error *err);

/* Adds a text of at most 512 bytes, or any bytes, to what is sent; sends when
 * the buffer is full. False on failure or at the deadline. */
bool memcached_link_add(struct memcached_link *link, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool memcached_link_add_bytes(struct memcached_link *link, const char *bytes,
                              size_t length);

/* Sends what was added; false on failure or at the deadline. */
bool memcached_link_flush(struct memcached_link *link);

/* The next reply, whole; its text lives until the next call on the link. False
 * on failure or at the deadline. */
bool memcached_link_read(struct memcached_link *link,
                         struct memcached_reply *out);

/* Ends the connection after a failure of the above, and says why:
 * SEQB_PROTOCOL, or `status` if there was just no answer. */
enum seqb_status memcached_link_lose(struct memcached_link *link,
                                     enum seqb_status status,
                                     struct seqb_error *err);

/* Ends the connection after an answer that makes no sense: SEQB_PROTOCOL. */
enum seqb_status memcached_link_distrust(struct memcached_link *link,
                                         const char *asked,
                                         const struct memcached_reply *reply,
                                         struct seqb_error *err);

/*
 * The status of an error reply. After SERVER_ERROR, as when the server is out
 * of memory, the connection goes on; any other means that the server did not
 * understand, and whether a value that was sent passed for a command of its own
 * is not known: the connection is ended.
 */
enum seqb_status memcached_link_refuse(struct memcached_link *link,
                                       const char *asked,
                                       const struct memcached_reply *reply,
                                       struct seqb_error *err);

bool memcached_link_is_open(const struct memcached_link *link);

/* Once is enough; later calls answer SEQB_UNREACHABLE. Says nothing to the
 * server: in a forked child it is the parent's. */
void memcached_link_close(struct memcached_link *link);
