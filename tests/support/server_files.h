/* SPDX-License-Identifier: Apache-2.0 */
/* Copies files of a server, which are in sub folders of its folder, and puts
 * copies back. Names are relative to the server's folder. */
#pragma once

#include "support/servers.h"

/* Copies a folder with all attributes. What exists under the name `to` is
 * removed. */
void server_files_copy(struct server *server, const char *from, const char *to);

void server_files_remove(struct server *server, const char *name);

/* Exchanges the names of two folders. */
void server_files_exchange(struct server *server, const char *one,
                           const char *other);
