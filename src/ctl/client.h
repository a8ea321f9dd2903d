/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl's side of a connection to the daemon: one request, one answer, and
 * fields of an answer by name. What goes wrong is told on stderr here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "ctl/ctl.h"
#include "resp/resp.h"

#define CLIENT_ELEMENTS_MAX 4000000 /* of an answer's array */

struct client {
    struct resp connection;
    int64_t timeout_s;
    bool is_one_of_several;
    char socket[4096]; /* a path, HOST:PORT or tls://HOST:PORT */
};

/* Connects; CTL_UNREACHABLE or CTL_USAGE after having said why. */
enum ctl_exit client_open(const struct ctl_options *options,
                          struct client *out);

/* Takes one that did not open. */
void client_close(struct client *client);

/* Sends the words and waits for the answer, which is for freeReplyObject.
 * An error that was answered is told and CTL_FAILED. */
enum ctl_exit client_call(struct client *client, size_t words,
                          const char *const *word, redisReply **out);

/* All three for one answer; `*out` is NULL unless it came. */
enum ctl_exit client_ask(const struct ctl_options *options, size_t words,
                         const char *const *word, redisReply **out);

/* Waits until the daemon closes the connection; CTL_FAILED after having said
 * that it did not in time. */
enum ctl_exit client_await_end(struct client *client);

/* Says that an answer makes no sense, and why: "has no number". CTL_FAILED. */
enum ctl_exit reply_refuse(const char *command, const char *what);

/* The value of a name in a map (RESP2: name, value, name, value ...), NULL if
 * it has none. Owned by the map. */
const redisReply *reply_field(const redisReply *map, const char *name);

/* The same as text, and as a number; "" and 0 if absent or of another type. */
const char *reply_text(const redisReply *map, const char *name);
int64_t reply_integer(const redisReply *map, const char *name);

/* The same if it is an array, NULL if it is anything else. */
const redisReply *reply_array(const redisReply *map, const char *name);
