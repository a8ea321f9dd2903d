/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the private servers of the engines' bench. Two mysql engines share
 * one server, each in a database of its own. */
#include "bench/stores.h"

#include <stdlib.h>

#include "backends/backends.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/server_mariadb.h"
#include "support/server_memcached.h"
#include "support/server_postgres.h"
#include "support/server_redis.h"
#include "support/test.h"

#define TIMEOUT_MS 20000

static const struct store blank = {
    .options = {.host = "127.0.0.1",
                .timeout_ms = TIMEOUT_MS,
                .connect_timeout_ms = TIMEOUT_MS,
                .auto_create = true,
                .create = true},
};

static struct store served(const struct seqb_backend_ops *ops,
                           const struct direct_kind *direct,
                           const struct server *server)
{
    struct store store = blank;

    store.ops = ops;
    store.direct = direct;
    store.options.name = ops->engine;
    store.port = server_port(server);
    store.place = "prefix";
    store.suffix = "";
    (void)text_format(store.settings, sizeof store.settings,
                      "host = \"127.0.0.1\"; port = %d;", (int)store.port);
    return store;
}

/* `suffix` also names the engine's own database. */
static struct store with_login(struct store store, const char *suffix)
{
    store.options.user = "bench";
    store.options.password = "bench";
    store.options.database = suffix;
    store.place = "database";
    store.suffix = suffix;
    (void)text_append(store.settings, sizeof store.settings,
                      "user = \"bench\"; password_env = \"BENCH_PASSWORD\";");
    return store;
}

static struct store filed(const char *folder)
{
    struct store store = blank;

    store.ops = &backend_sqlite;
    store.direct = &direct_sqlite;
    store.options.name = "sqlite";
    store.place = "path";
    store.suffix = ".db";
    (void)text_format(store.path, sizeof store.path, "%s/one.db", folder);
    return store;
}

static const char *const databases[] = {"bench", "row",    "b3row",  "b10row",
                                        "auto",  "b3auto", "b10auto"};

static struct server *start_mariadb(void)
{
    struct server *server = server_mariadb(NULL);

    mariadb_execute(server, "CREATE USER bench@'%%' IDENTIFIED BY 'bench'; "
                            "GRANT ALL ON *.* TO bench@'%%'");
    for (size_t i = 0; i < sizeof databases / sizeof databases[0]; i++)
        mariadb_execute(server, "CREATE DATABASE %s", databases[i]);
    for (int i = 0; i < STORE_PLACES; i++) {
        for (const char *c = STORE_LETTERS; *c != '\0'; c++)
            mariadb_execute(server,
                            "CREATE DATABASE %c%drow; CREATE DATABASE %c%dauto",
                            *c, i, *c, i);
    }
    return server;
}

static struct server *start_postgres(void)
{
    static const char *const names[] = {"bench", "pg", "b3pg", "b10pg"};
    struct server *server = server_postgres(NULL);

    postgres_execute(server, "postgres", "CREATE ROLE bench LOGIN");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        postgres_execute(server, "postgres", "CREATE DATABASE %s OWNER bench",
                         names[i]);
    for (int i = 0; i < STORE_PLACES; i++) {
        for (const char *c = STORE_LETTERS; *c != '\0'; c++)
            postgres_execute(server, "postgres",
                             "CREATE DATABASE %c%dpg OWNER bench", *c, i);
    }
    return server;
}

size_t stores_start(struct store stores[STORES_MAX], const char *folder)
{
    const struct server *mariadb = start_mariadb();
    size_t n = 0;

    assert_int_equal(setenv("BENCH_PASSWORD", "bench", 1), 0);
    assert_int_equal(setenv("SEQBROKER_STATE_DIR", folder, 1), 0);
    stores[n++] = filed(folder);
    stores[n++] = with_login(
        served(&backend_postgres, &direct_postgres, start_postgres()), "pg");
    stores[n++] = with_login(
        served(&backend_mysql_row, &direct_mysql_row, mariadb), "row");
    stores[n++] = with_login(
        served(&backend_mysql_autoinc, &direct_mysql_insert, mariadb), "auto");
    stores[n++] = served(&backend_redis, &direct_redis, server_redis(NULL));
    stores[n++] =
        served(&backend_memcached, &direct_memcached, server_memcached(NULL));
    for (size_t i = 0; i < n; i++) {
        (void)text_copy(stores[i].folder, sizeof stores[i].folder, folder);
        (void)text_format(stores[i].direct_path, sizeof stores[i].direct_path,
                          "%s/direct-%zu.db", folder, i);
        stores[i].options.path = stores[i].path;
        stores[i].options.table_format = "%s_code_%d";
        stores[i].options.keep_rows = 1000000;
    }
    return n;
}
