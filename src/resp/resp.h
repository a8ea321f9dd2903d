/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's connection by the protocol of Redis: hiredis formats commands and
 * reads replies, the bytes go over a stream. hiredis' own connection has no
 * TLS before version 1, and bounds each read of a reply, not the whole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <hiredis/hiredis.h>

#include "net/net.h"
#include "resp/reader.h"

struct resp {
    struct stream stream;
    redisReader *reader; /* NULL: closed */
    struct reader bound; /* of the reader */
    char *out;           /* commands that wait to be sent */
    size_t out_length, out_size;
    bool lacks_memory; /* a command could not be added */
};

/* Connects as stream_open does, with its errors; an array of a reply has at
 * most `most` elements. Whatever it returns, resp_close may follow. */
enum seqb_status resp_open(struct resp *resp,
                           const struct stream_target *target,
                           int32_t budget_ms, reader_count most,
                           struct seqb_error *err);

/* Adds a command to what resp_flush sends; false when out of memory. */
bool resp_append(struct resp *resp, const char *const *argv, int argc);

/* Sends; false on failure or at the deadline. */
bool resp_flush(struct resp *resp);

/* The next reply, for freeReplyObject; NULL on failure or at the deadline. */
redisReply *resp_read(struct resp *resp);

/* Why one of these three failed. */
enum resp_failure {
    RESP_LOST,    /* there was no answer, or not in time */
    RESP_GARBLED, /* what came is no reply, or one that is too large */
    RESP_NO_MEMORY
};

#define RESP_WHY_SIZE STREAM_WHY_SIZE
enum resp_failure resp_why(const struct resp *resp,
                           char out[static RESP_WHY_SIZE]);

/* Once is enough. Says nothing to the server. */
void resp_close(struct resp *resp);
