/* SPDX-License-Identifier: Apache-2.0 */
/* What kinds of servers have in common whose program is mariadbd: for the files
 * server_*.c alone. */
#pragma once

#include "support/server_kind.h"

/* Makes the files of an empty server in its folder "data". */
void mariadb_install(struct server *server);

/* Of struct server_kind: `command` and `forget`. */
void mariadb_words(struct server *server, struct server_words *words);
void mariadb_forget(struct server *server);
