/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a private PostgreSQL server: of its files, in the folder `name`
 * beside "data", and dumps of a database.
 */
#pragma once

#include "support/servers.h"

/* Copy the files. _cold stops the server meanwhile. _base uses pg_basebackup.
 * _snapshot freezes all processes meanwhile, as if the disk had a snapshot. */
void postgres_copy_cold(struct server *server, const char *name);
void postgres_copy_base(struct server *server, const char *name);
void postgres_copy_snapshot(struct server *server, const char *name);

/* Replaces the server's files by a copy, which is kept. The server is killed
 * and started again. */
void postgres_put_back(struct server *server, const char *name);

/* Exchanges the copy and the server's files in the same way. */
void postgres_exchange(struct server *server, const char *name);

/* postgres_dump dumps a database's tables to a file in the server's folder.
 * postgres_restore replaces a database's tables by a dump, which may be from
 * another server. */
void postgres_dump(struct server *server, const char *database,
                   const char *file);
void postgres_restore(struct server *server, const char *database,
                      const char *path);
