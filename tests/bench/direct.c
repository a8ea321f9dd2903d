/* SPDX-License-Identifier: Apache-2.0 */
/* One number at a time, by the means that each store recommends. */
#include "bench/direct.h"

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <libpq-fe.h>
#include <mysql.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/text.h"

#define LOOPBACK "127.0.0.1"

struct direct {
    sqlite3 *sqlite;
    sqlite3_stmt *statement;
    redisContext *redis;
    PGconn *postgres;
    MYSQL *mysql;
    int memcached;
};

static struct direct *direct_new(void)
{
    struct direct *direct = calloc(1, sizeof *direct);

    if (direct == NULL)
        abort();
    direct->memcached = -1;
    return direct;
}

static void close_any(struct direct *direct)
{
    (void)sqlite3_finalize(direct->statement);
    (void)sqlite3_close(direct->sqlite);
    if (direct->redis != NULL)
        redisFree(direct->redis);
    PQfinish(direct->postgres);
    if (direct->mysql != NULL)
        mysql_close(direct->mysql);
    if (direct->memcached >= 0)
        close(direct->memcached);
    free(direct);
}

/* Frees it and answers NULL unless it could be opened. */
static struct direct *opened(struct direct *direct, bool is_open)
{
    if (is_open)
        return direct;
    close_any(direct);
    return NULL;
}

/* --- sqlite --- */

static struct direct *sqlite_start(const char *path, int32_t port)
{
    struct direct *direct = direct_new();

    (void)port;
    return opened(
        direct, sqlite3_open(path, &direct->sqlite) == SQLITE_OK &&
                    sqlite3_exec(direct->sqlite,
                                 "PRAGMA journal_mode = WAL;"
                                 "PRAGMA synchronous = FULL;"
                                 "CREATE TABLE IF NOT EXISTS direct "
                                 "(id INTEGER PRIMARY KEY, value INTEGER);"
                                 "INSERT OR IGNORE INTO direct VALUES (1, 0);",
                                 NULL, NULL, NULL) == SQLITE_OK &&
                    sqlite3_prepare_v2(
                        direct->sqlite,
                        "UPDATE direct SET value = value + 1 WHERE id = 1 "
                        "RETURNING value",
                        -1, &direct->statement, NULL) == SQLITE_OK);
}

static bool sqlite_next(struct direct *direct)
{
    const bool has_row = sqlite3_step(direct->statement) == SQLITE_ROW;

    return has_row && sqlite3_step(direct->statement) == SQLITE_DONE &&
           sqlite3_reset(direct->statement) == SQLITE_OK;
}

const struct direct_kind direct_sqlite = {"UPDATE ... RETURNING", sqlite_start,
                                          sqlite_next, close_any};

/* --- redis --- */

static struct direct *redis_start(const char *path, int32_t port)
{
    struct direct *direct = direct_new();

    (void)path;
    direct->redis = redisConnect(LOOPBACK, port);
    return opened(direct, direct->redis != NULL && direct->redis->err == 0);
}

static bool redis_next(struct direct *direct)
{
    redisReply *reply = redisCommand(direct->redis, "INCR direct");
    const bool is_number = reply != NULL && reply->type == REDIS_REPLY_INTEGER;

    if (reply != NULL)
        freeReplyObject(reply);
    return is_number;
}

const struct direct_kind direct_redis = {"INCR", redis_start, redis_next,
                                         close_any};

/* --- memcached --- */

static bool memcached_ask(struct direct *direct, const char *command)
{
    char reply[64];
    ssize_t length;

    if (send(direct->memcached, command, strlen(command), MSG_NOSIGNAL) < 0)
        return false;
    length = recv(direct->memcached, reply, sizeof reply - 1, 0);
    return length > 2 && reply[length - 1] == '\n' && reply[0] != 'E';
}

static struct direct *memcached_start(const char *path, int32_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct direct *direct = direct_new();
    const int on = 1;

    (void)path;
    direct->memcached = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(direct->memcached, IPPROTO_TCP, TCP_NODELAY, &on,
                     sizeof on);
    return opened(direct,
                  connect(direct->memcached, (const struct sockaddr *)&address,
                          sizeof address) == 0 &&
                      memcached_ask(direct, "set direct 0 0 1\r\n0\r\n"));
}

static bool memcached_next(struct direct *direct)
{
    return memcached_ask(direct, "incr direct 1\r\n");
}

const struct direct_kind direct_memcached = {"incr", memcached_start,
                                             memcached_next, close_any};

/* --- postgres --- */

static bool postgres_ask(struct direct *direct, const char *sql)
{
    PGresult *result = PQexec(direct->postgres, sql);
    const ExecStatusType status = PQresultStatus(result);

    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static struct direct *postgres_start(const char *path, int32_t port)
{
    struct direct *direct = direct_new();
    char text[192];

    (void)path;
    (void)text_format(text, sizeof text,
                      "host=" LOOPBACK " port=%d dbname=bench user=bench "
                      "options='-c client_min_messages=warning' "
                      "password=bench",
                      (int)port);
    direct->postgres = PQconnectdb(text);
    return opened(direct,
                  postgres_ask(direct, "CREATE TABLE IF NOT EXISTS direct "
                                       "(id int PRIMARY KEY, value bigint)") &&
                      postgres_ask(direct, "INSERT INTO direct VALUES (1, 0) "
                                           "ON CONFLICT DO NOTHING"));
}

static bool postgres_next(struct direct *direct)
{
    return postgres_ask(direct,
                        "UPDATE direct SET value = value + 1 WHERE id = 1 "
                        "RETURNING value");
}

const struct direct_kind direct_postgres = {
    "UPDATE ... RETURNING", postgres_start, postgres_next, close_any};

/* --- mysql --- */

static bool mysql_ask(struct direct *direct, const char *sql)
{
    return mysql_query(direct->mysql, sql) == 0;
}

static struct direct *mysql_start(int32_t port, const char *table,
                                  const char *row)
{
    struct direct *direct = direct_new();

    direct->mysql = mysql_init(NULL);
    return opened(direct,
                  direct->mysql != NULL &&
                      mysql_real_connect(direct->mysql, LOOPBACK, "bench",
                                         "bench", "bench", (unsigned)port, NULL,
                                         0) != NULL &&
                      mysql_ask(direct, table) && mysql_ask(direct, row));
}

static struct direct *mysql_row_start(const char *path, int32_t port)
{
    (void)path;
    return mysql_start(port,
                       "CREATE TABLE IF NOT EXISTS direct_row "
                       "(id INT PRIMARY KEY, value BIGINT) ENGINE = InnoDB",
                       "INSERT IGNORE INTO direct_row VALUES (1, 0)");
}

static bool mysql_row_next(struct direct *direct)
{
    return mysql_ask(direct, "UPDATE direct_row "
                             "SET value = LAST_INSERT_ID(value + 1) "
                             "WHERE id = 1") &&
           mysql_insert_id(direct->mysql) > 0;
}

const struct direct_kind direct_mysql_row = {
    "UPDATE, LAST_INSERT_ID", mysql_row_start, mysql_row_next, close_any};

static struct direct *mysql_insert_start(const char *path, int32_t port)
{
    (void)path;
    return mysql_start(port,
                       "CREATE TABLE IF NOT EXISTS direct_insert ("
                       "id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, "
                       "at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP) "
                       "ENGINE = InnoDB",
                       "INSERT INTO direct_insert () VALUES ()");
}

static bool mysql_insert_next(struct direct *direct)
{
    return mysql_ask(direct, "INSERT INTO direct_insert () VALUES ()") &&
           mysql_insert_id(direct->mysql) > 0;
}

const struct direct_kind direct_mysql_insert = {
    "INSERT, id", mysql_insert_start, mysql_insert_next, close_any};
