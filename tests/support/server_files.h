/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a server, which are in folders of the server's folder: for
 * whoever copies them and puts copies back. Names are relative to that one. */
#pragma once

#include "support/servers.h"

/* With all attributes; what stands in the place is removed. */
void server_files_copy(struct server *server, const char *from, const char *to);

void server_files_remove(struct server *server, const char *name);

/* Each gets the other one's name. */
void server_files_exchange(struct server *server, const char *one,
                           const char *other);
