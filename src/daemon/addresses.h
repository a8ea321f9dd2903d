/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of the server: sockets, TLS and HTTP. */
#pragma once

#include <seqbroker/status.h>

struct server;
struct server_options;

/* Whether a start could take the addresses, as far as that is known without a
 * socket: it binds and changes nothing. SEQB_INVALID. */
enum seqb_status addresses_check(const struct server_options *options,
                                 struct seqb_error *err);

/* Binds the addresses, as far as that is possible before the broker is open.
 * The server has its loop and its access. SEQB_INVALID, SEQB_NO_MEMORY. */
enum seqb_status addresses_take(struct server *server, struct seqb_error *err);
