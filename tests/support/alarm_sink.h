/* SPDX-License-Identifier: Apache-2.0 */
/* A server of HTTP on a free port of loopback that keeps what is posted to it,
 * by a thread of its own. One connection at a time. */
#pragma once

#include <stddef.h>

#define SINK_HANG 0 /* in place of a status: never answers */

struct sink;

/* How it answers. */
struct sink_options {
    const char *certificate; /* a file; NULL: no TLS */
    const char *key;
    const char *answer; /* the body of each answer; NULL: none */
};

/* It answers 200. NULL if it cannot be had. */
struct sink *sink_open(const struct sink_options *options);
void sink_close(struct sink *sink);

int sink_port(const struct sink *sink);

/* From now on it answers with that status, or SINK_HANG. */
void sink_answer(struct sink *sink, int status);

/* The next request is answered so, those behind it as before. */
void sink_answer_once(struct sink *sink, int status);

/* Waits until `count` bodies have come in all, and returns the last of them. It
 * lives until the close. It is a hang if they never come. */
const char *sink_wait(struct sink *sink, size_t count);

/* How many have come. */
size_t sink_count(struct sink *sink);
