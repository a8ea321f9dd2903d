/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl's connection to the daemon: one request, one answer, and the fields of
 * an answer by name. Errors are reported on stderr here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "ctl/ctl.h"
#include "resp/resp.h"

#define CLIENT_ELEMENTS_MAX 4000000             /* of an answer's array */
#define CLIENT_BYTES_MAX    ((size_t)512 << 20) /* of an answer */

struct client {
    struct resp connection;
    int64_t timeout_s;
    bool is_one_of_several;
    char socket[4096]; /* a path, HOST:PORT or tls://HOST:PORT */
};

/* Connects. CTL_UNREACHABLE or CTL_USAGE, with the reason reported. */
enum ctl_exit client_open(const struct ctl_options *options,
                          struct client *out);

/* A client that was not opened is allowed. */
void client_close(struct client *client);

/* Sends the words and waits for the answer. Free it with freeReplyObject. If
 * the answer is an error, that is reported: CTL_FAILED. */
enum ctl_exit client_call(struct client *client, size_t words,
                          const char *const *word, redisReply **out);

/* client_open, client_call and client_close for one answer. `*out` is NULL
 * unless an answer came. */
enum ctl_exit client_ask(const struct ctl_options *options, size_t words,
                         const char *const *word, redisReply **out);

/* Waits until the daemon closes the connection. CTL_FAILED, reported: it did
 * not in time. */
enum ctl_exit client_await_end(struct client *client);

/* Reports that an answer makes no sense, and why: "has no number". Returns
 * CTL_FAILED. */
enum ctl_exit reply_refuse(const char *command, const char *what);

/* The value of a name in a map (RESP2: name, value, name, value ...); NULL if
 * the map does not have the name. Owned by the map. */
const redisReply *reply_field(const redisReply *map, const char *name);

/* The value as text, or as a number; "" or 0 if it is absent or of another
 * type. */
const char *reply_text(const redisReply *map, const char *name);
int64_t reply_integer(const redisReply *map, const char *name);

/* The value if it is an array; otherwise NULL. */
const redisReply *reply_array(const redisReply *map, const char *name);
