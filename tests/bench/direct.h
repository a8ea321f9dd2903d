/* SPDX-License-Identifier: Apache-2.0 */
/* The stores asked directly for one number at a time, each by its own client
 * library and a connection of its own: what the engines are compared with. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct direct;

/* A store's direct use: `path` is SQLite's file, `port` a server's on
 * loopback. SQL servers: the database "bench" of the user "bench", whose
 * password is "bench". */
struct direct_kind {
    const char *what; /* "INSERT, id", for the table */
    struct direct *(*open)(const char *path, int32_t port);
    bool (*next)(struct direct *direct); /* one number; false on failure */
    void (*close)(struct direct *direct);
};

extern const struct direct_kind direct_sqlite;    /* UPDATE, FULL */
extern const struct direct_kind direct_redis;     /* INCR */
extern const struct direct_kind direct_memcached; /* incr */
extern const struct direct_kind direct_postgres;  /* UPDATE ... RETURNING */
extern const struct direct_kind direct_mysql_row; /* UPDATE, LAST_INSERT_ID */
extern const struct direct_kind direct_mysql_insert; /* INSERT, id */
extern const struct direct_kind direct_etcd;         /* put, its revision */
