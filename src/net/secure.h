/* SPDX-License-Identifier: Apache-2.0 */
/* TLS on a connected, non-blocking socket: a part of net.h's streams. OpenSSL's
 * own socket BIO would raise SIGPIPE; this one does not. */
#pragma once

#include <sys/types.h>

#include "net/net.h"

/* Prepares the handshake. The server has to prove that it is the target's host,
 * unless its files say otherwise. The errors are those of stream_open. */
enum seqb_status secure_begin(struct stream *stream,
                              const struct stream_target *target,
                              struct seqb_error *err);

/* The handshake, as far as possible without waiting. */
enum secure_step {
    SECURE_DONE,
    SECURE_WAITS, /* call stream_wait with `in`, then again */
    SECURE_FAILED /* `err` says why */
};

enum secure_step secure_shake(struct stream *stream, struct seqb_error *err);

/* Whether the server agreed to the target's protocol in the handshake. */
bool secure_has_agreed(const struct stream *stream,
                       const struct stream_target *target);

/* See stream_read and stream_write. */
ssize_t secure_read(struct stream *stream, char *to, size_t size);
ssize_t secure_write(struct stream *stream, const char *from, size_t size);

/* Whether OpenSSL holds bytes that were not read yet. The socket need not be
 * readable then. */
bool secure_holds(const struct stream *stream);

/* Sends nothing to the server. */
void secure_end(struct stream *stream);
