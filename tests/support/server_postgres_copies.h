/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of what a private PostgreSQL server has: its files, in a folder of
 * that name beside "data", and dumps of a database.
 */
#pragma once

#include "support/servers.h"

/* Copy the files: of a server that is stopped for it and started again; by
 * pg_basebackup; of one whose processes all stand still, as the snapshot of a
 * disk does. */
void postgres_copy_cold(struct server *server, const char *name);
void postgres_copy_base(struct server *server, const char *name);
void postgres_copy_snapshot(struct server *server, const char *name);

/* Puts a copy, which stays, in the place of the server's files: killed for it
 * and started again. */
void postgres_put_back(struct server *server, const char *name);

/* The copy and the files change places; in the same way. */
void postgres_exchange(struct server *server, const char *name);

/* Dumps a database's tables to a file in the server's folder; puts a dump in
 * the place of what is there, perhaps on another server. */
void postgres_dump(struct server *server, const char *database,
                   const char *file);
void postgres_restore(struct server *server, const char *database,
                      const char *path);
