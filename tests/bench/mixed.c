/* SPDX-License-Identifier: Apache-2.0 */
/* The sample's four stores. */
#include "bench/mixed.h"

#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/server_redis.h"
#include "support/test.h"

#define SAMPLE    "config/mixed.conf"
#define TEXT_SIZE 16384
#define POSTGRES  2 /* its partition */

static struct server *servers[MIXED];

static struct server *start_mariadb(void)
{
    struct server *server = server_mariadb(NULL);

    mariadb_execute(server, "CREATE DATABASE seqbroker; "
                            "CREATE USER seqbroker@'%%'; "
                            "GRANT ALL ON seqbroker.* TO seqbroker@'%%'; "
                            "CREATE DATABASE bench; "
                            "CREATE USER bench@'%%' IDENTIFIED BY 'bench'; "
                            "GRANT ALL ON bench.* TO bench@'%%'");
    return server;
}

static struct server *start_postgres(void)
{
    struct server *server = server_postgres(NULL);

    postgres_execute(server, "postgres", "CREATE ROLE seqbroker LOGIN");
    postgres_execute(server, "postgres", "CREATE ROLE bench LOGIN");
    postgres_execute(server, "postgres",
                     "CREATE DATABASE seqbroker OWNER seqbroker");
    postgres_execute(server, "postgres", "CREATE DATABASE bench OWNER bench");
    return server;
}

/* The sample with the ports of the private servers. */
static void sample_read(char text[static TEXT_SIZE])
{
    static const char *const ports[MIXED] = {"port = 3306", "port = 3307",
                                             "port = 5432", "port = 6379"};
    char line[512];
    FILE *file = fopen(SAMPLE, "re");

    if (file == NULL)
        fail_msg(SAMPLE " is not in the working directory");
    text[0] = '\0';
    while (fgets(line, sizeof line, file) != NULL) {
        char *at = NULL;
        size_t i = 0;

        for (; i < MIXED && at == NULL; i++)
            at = strstr(line, ports[i]);
        if (at == NULL) {
            assert_true(text_append(text, TEXT_SIZE, "%s", line));
            continue;
        }
        i--;
        assert_true(text_append(
            text, TEXT_SIZE, "%.*sport = %d%s", (int)(at - line), line,
            (int)server_port(servers[i]), at + strlen(ports[i])));
    }
    assert_int_equal(fclose(file), 0);
}

void mixed_start(struct topology *out)
{
    char text[TEXT_SIZE];

    servers[0] = start_mariadb();
    servers[1] = start_mariadb();
    servers[POSTGRES] = start_postgres();
    servers[3] = server_redis(NULL);
    sample_read(text);
    topology_write(out, text);
}

/* --- directly --- */

struct mixed_direct {
    const struct direct_kind *kinds[MIXED];
    struct direct *each[MIXED];
    size_t next;
};

struct mixed_direct *mixed_direct_new(void)
{
    static const struct direct_kind *const kinds[MIXED] = {
        &direct_mysql_insert, &direct_mysql_row, &direct_postgres,
        &direct_redis};
    struct mixed_direct *direct = calloc(1, sizeof *direct);

    assert_non_null(direct);
    for (size_t i = 0; i < MIXED; i++) {
        direct->kinds[i] = kinds[i];
        direct->each[i] = kinds[i]->open(NULL, server_port(servers[i]));
        assert_non_null(direct->each[i]);
    }
    return direct;
}

void mixed_direct_next(struct mixed_direct *direct)
{
    const size_t i = direct->next++ % MIXED;

    assert_true(direct->kinds[i]->next(direct->each[i]));
}

void mixed_direct_free(struct mixed_direct *direct)
{
    for (size_t i = 0; i < MIXED; i++)
        direct->kinds[i]->close(direct->each[i]);
    free(direct);
}

/* --- faults --- */

void mixed_pause(size_t i)
{
    if (i == POSTGRES)
        postgres_pause(servers[i]);
    else
        server_pause(servers[i]);
}

void mixed_resume(size_t i)
{
    if (i == POSTGRES)
        postgres_resume(servers[i]);
    else
        server_resume(servers[i]);
}
