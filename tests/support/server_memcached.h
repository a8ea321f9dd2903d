/* SPDX-License-Identifier: Apache-2.0 */
/* A private memcached. */
#pragma once

#include "support/servers.h"

/* Listens on its port, or only on its unix socket if `args` begin with "-s". If
 * they begin with "-Z", its port still has no TLS; addresses of a further "-l"
 * have it. `args` are at most 16 further arguments (NULL, or ended by NULL). On
 * return, it answers. */
struct server *server_memcached(const char *const *args);

/* Sends an administrator's command, without its end of line, over a separate
 * connection. `out` gets the whole answer, lines ended by \r\n. */
void memcached_execute(struct server *server, const char *command, char *out,
                       size_t size);

/* Connects to it; the caller closes the socket. -1 on failure. */
int memcached_connect(const struct server *server);
