/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's connection by the protocol of Redis. hiredis formats commands and
 * parses replies; a stream carries the bytes. The connections of hiredis itself
 * have no TLS before version 1, and their timeout limits each read of a reply,
 * not the whole call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <hiredis/hiredis.h>

#include "net/net.h"
#include "resp/reader.h"

/* The limit of one text of a reply. */
#define RESP_TEXT_MAX (16 << 20)

/* What a reply may have at most. A server that is not a store of seqbroker, or
 * was taken over, must not use up the memory. */
struct resp_bounds {
    reader_count elements; /* of an array */
    size_t bytes;          /* of the whole reply */
};

struct resp {
    struct stream stream;
    redisReader *reader; /* NULL: closed */
    struct reader bound; /* the reader's limit */
    char *out;           /* commands that were not sent yet */
    size_t out_length, out_size;
    bool lacks_memory; /* a command could not be added */
    size_t bytes_most; /* the limit of a reply */
    size_t bytes_read; /* while the last reply was awaited */
};

/* Connects like stream_open, with its errors. resp_close may follow after any
 * status. */
enum seqb_status resp_open(struct resp *resp,
                           const struct stream_target *target,
                           int32_t budget_ms, struct resp_bounds most,
                           struct seqb_error *err);

/* Adds a command to those that resp_flush sends. False if out of memory. */
bool resp_append(struct resp *resp, const char *const *argv, int argc);

/* Sends the commands, and overwrites them: one may hold a password. False on
 * failure or at the deadline. */
bool resp_flush(struct resp *resp);

/* The next reply; free it with freeReplyObject. NULL on failure or at the
 * deadline. */
redisReply *resp_read(struct resp *resp);

/* Why resp_append, resp_flush or resp_read failed. */
enum resp_failure {
    RESP_LOST,    /* no answer came, or not in time */
    RESP_GARBLED, /* what came is not a reply, or it is too large */
    RESP_NO_MEMORY
};

#define RESP_WHY_SIZE STREAM_WHY_SIZE
enum resp_failure resp_why(const struct resp *resp,
                           char out[static RESP_WHY_SIZE]);

/* One call is enough for any connection. It sends nothing to the server. */
void resp_close(struct resp *resp);
