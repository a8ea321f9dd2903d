/* SPDX-License-Identifier: Apache-2.0 */
/* TLS on a connected socket that does not block; see net.h, whose part it
 * is. OpenSSL's own socket BIO would raise SIGPIPE: this one does not. */
#pragma once

#include <sys/types.h>

#include "net/net.h"

/* Makes ready to shake hands with a server that proves to be `host`, unless the
 * files say that it need not. Errors as of stream_open. */
enum seqb_status secure_begin(struct stream *stream, const char *host,
                              const struct tls_client_files *files,
                              struct seqb_error *err);

/* Shakes hands as far as it goes without waiting. */
enum secure_step {
    SECURE_DONE,
    SECURE_WAITS, /* until there is something to read, as stream_wait has it */
    SECURE_FAILED /* `err` says why */
};

enum secure_step secure_shake(struct stream *stream, struct seqb_error *err);

/* As stream_read and stream_write. */
ssize_t secure_read(struct stream *stream, char *to, size_t size);
ssize_t secure_write(struct stream *stream, const char *from, size_t size);

/* Whether OpenSSL holds bytes that were not read yet: the socket need not be
 * readable for them. */
bool secure_holds(const struct stream *stream);

/* Says nothing to the server. */
void secure_end(struct stream *stream);
