/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP server on a free port of loopback that keeps what is posted to it. It
 * has its own thread and serves one connection at a time. */
#pragma once

#include <stddef.h>

#define SINK_HANG 0 /* instead of a status: never answers */

struct sink;

/* How the server answers. */
struct sink_options {
    const char *certificate; /* a file; NULL: no TLS */
    const char *key;
    const char *answer; /* the body of each answer; NULL: empty */
};

/* Starts the server; it answers 200. NULL if it cannot start. */
struct sink *sink_open(const struct sink_options *options);
void sink_close(struct sink *sink);

int sink_port(const struct sink *sink);

/* From now on it answers with that status, or not at all (SINK_HANG). */
void sink_answer(struct sink *sink, int status);

/* It answers the next request with that status, and later ones as before. */
void sink_answer_once(struct sink *sink, int status);

/* Waits until `count` bodies in all have arrived, and returns the last of them,
 * which lives until sink_close. The test hangs if they never arrive. */
const char *sink_wait(struct sink *sink, size_t count);

/* The same, with the headers of the request before its body. */
const char *sink_wait_request(struct sink *sink, size_t count);

/* The number of bodies that have arrived. */
size_t sink_count(struct sink *sink);
