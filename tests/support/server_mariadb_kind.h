/* SPDX-License-Identifier: Apache-2.0 */
/* What all kinds of servers with the program mariadbd share. For the files
 * server_*.c alone. */
#pragma once

#include "support/server_kind.h"

/* Makes the files of an empty server in its folder "data". */
void mariadb_install(struct server *server);

/* `command` and `forget` of struct server_kind. */
void mariadb_words(struct server *server, struct server_words *words);
void mariadb_forget(struct server *server);
