/* SPDX-License-Identifier: Apache-2.0 */
/* TLS on a connected, non-blocking socket: a part of net.h's streams. OpenSSL's
 * own socket BIO would raise SIGPIPE; this one does not. */
#pragma once

#include <sys/types.h>

#include "net/net.h"

/* Prepares the handshake. The server has to prove that it is `host`, unless
 * `files` say otherwise. The errors are those of stream_open. */
enum seqb_status secure_begin(struct stream *stream, const char *host,
                              const struct tls_client_files *files,
                              struct seqb_error *err);

/* The handshake, as far as possible without waiting. */
enum secure_step {
    SECURE_DONE,
    SECURE_WAITS, /* call stream_wait with `in`, then again */
    SECURE_FAILED /* `err` says why */
};

enum secure_step secure_shake(struct stream *stream, struct seqb_error *err);

/* See stream_read and stream_write. */
ssize_t secure_read(struct stream *stream, char *to, size_t size);
ssize_t secure_write(struct stream *stream, const char *from, size_t size);

/* Whether OpenSSL holds bytes that were not read yet. The socket need not be
 * readable then. */
bool secure_holds(const struct stream *stream);

/* Sends nothing to the server. */
void secure_end(struct stream *stream);
