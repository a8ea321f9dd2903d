/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS over a connection of hiredis, which has none before version 1: its socket
 * and its reader are used, what stands between them is ours. Errors are noted
 * in the redisContext, as hiredis notes its own.
 */
#pragma once

#include <stddef.h>

#include <hiredis/hiredis.h>
#include <openssl/types.h>

#include <seqbroker/status.h>

#include "tls/tls.h"

/* Shakes hands on a connected socket, within its time-out, with a server that
 * proves to be `host`, a name or an address. `*out` is for secure_close.
 * SEQB_INVALID: the files; SEQB_UNREACHABLE with why. */
enum seqb_status secure_open(redisContext *connection, const char *host,
                             const struct tls_client_files *files, SSL **out,
                             struct seqb_error *err);

/* As redisCommandArgv, and redisGetReply. NULL: errno is that of the socket. */
redisReply *secure_command(SSL *ssl, redisContext *connection, int argc,
                           const char **argv);
redisReply *secure_reply(SSL *ssl, redisContext *connection);

/* Tells the server; the socket stays open. NULL is allowed. */
void secure_close(SSL *ssl);
