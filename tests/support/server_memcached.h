/* SPDX-License-Identifier: Apache-2.0 */
/* A private memcached. */
#pragma once

#include "support/servers.h"

/* A memcached on its port, or on its unix socket alone if `args` begin with
 * "-s"; without TLS if they begin with "-Z", which is for a further "-l";
 * `args` (NULL, or ended by NULL) are further arguments, at most 16. Answers
 * when it returns. */
struct server *server_memcached(const char *const *args);

/* An administrator's command, without its end of line, over a connection of
 * its own. `out` is all that is answered, lines ended by \r\n. */
void memcached_execute(struct server *server, const char *command, char *out,
                       size_t size);

/* A connection to it; the caller's to close. -1 if there is none. */
int memcached_connect(const struct server *server);
