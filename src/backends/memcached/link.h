/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memcached engine's connection: a socket with buffers, calls that end at
 * their deadline, and the meaning of error replies. reply.h parses replies; the
 * engine makes the commands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#include "backends/memcached/reply.h"
#include "net/net.h"

#define MEMCACHED_PORT     11211 /* the default */
#define MEMCACHED_IN_SIZE  65536 /* holds the answers to a full pipeline */
#define MEMCACHED_OUT_SIZE 16384

struct memcached_link {
    struct stream stream; /* closed when answers may be outstanding: a later
                             call would take them for its own */
    bool is_garbled;      /* the failure was an invalid reply */
    size_t in_from;       /* in[in_from ... in_to) is not read yet */
    size_t in_to;
    size_t out_length; /* bytes to be sent */
    char where[256];   /* "mc-a (memcached 10.0.0.3:11211)" */
    char in[MEMCACHED_IN_SIZE];
    char out[MEMCACHED_OUT_SIZE];
};

/*
 * Connects within `connect_timeout_ms`; then a call is in progress that has the
 * rest of that time. SEQB_UNREACHABLE, SEQB_INVALID, SEQB_NO_MEMORY. The caller
 * must call memcached_link_close whatever it returns. `link` must be zeroed,
 * with the stream's fd -1.
 */
enum seqb_status memcached_link_open(struct memcached_link *link,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err);

/* Begins a call that must end within `budget_ms`. SEQB_UNREACHABLE if the
 * connection was lost earlier. */
enum seqb_status memcached_link_begin(struct memcached_link *link,
                                      int32_t budget_ms,
                                      struct seqb_error *err);

/* Adds a text of at most 512 bytes, or any number of bytes, to the buffer;
 * sends when the buffer is full. False on failure or at the deadline. */
bool memcached_link_add(struct memcached_link *link, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool memcached_link_add_bytes(struct memcached_link *link, const char *bytes,
                              size_t length);

/* Sends what was added; false on failure or at the deadline. */
bool memcached_link_flush(struct memcached_link *link);

/* The next complete reply; its text is valid until the next call on the link.
 * False on failure or at the deadline. */
bool memcached_link_read(struct memcached_link *link,
                         struct memcached_reply *out);

/* Closes the connection after a failure of one of the functions above, and sets
 * the reason: SEQB_PROTOCOL, or `status` if there was simply no answer. */
enum seqb_status memcached_link_lose(struct memcached_link *link,
                                     enum seqb_status status,
                                     struct seqb_error *err);

/* Closes the connection after an invalid answer: SEQB_PROTOCOL. */
enum seqb_status memcached_link_distrust(struct memcached_link *link,
                                         const char *asked,
                                         const struct memcached_reply *reply,
                                         struct seqb_error *err);

/*
 * The status of an error reply. After SERVER_ERROR, for example when the server
 * is out of memory, the connection stays open. Any other error means that the
 * server did not understand the command. It is then not known whether the
 * server took a value that was sent for a command, so the connection is closed.
 */
enum seqb_status memcached_link_refuse(struct memcached_link *link,
                                       const char *asked,
                                       const struct memcached_reply *reply,
                                       struct seqb_error *err);

bool memcached_link_is_open(const struct memcached_link *link);

/* May be called twice; later calls answer SEQB_UNREACHABLE. It sends nothing to
 * the server, because in a forked child the connection belongs to the
 * parent. */
void memcached_link_close(struct memcached_link *link);
