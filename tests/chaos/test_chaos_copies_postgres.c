/* SPDX-License-Identifier: Apache-2.0 */
/* Physical copies of a PostgreSQL that are put back. */

#include "copied_server.h"
#include "platform/text.h"
#include "support/server_postgres.h"
#include "support/server_postgres_copies.h"

#define DATABASE "postgres"

#define BACKEND                                                                \
    "{ name = \"one\"; engine = \"postgres\"; socket = \"%s\";"                \
    "  user = \"postgres\"; database = \"" DATABASE "\";"                      \
    "  connect_timeout = \"10s\"; }"

static void clear(struct server *server)
{
    postgres_execute(server, DATABASE,
                     "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
}

static void socket_of(const struct server *server, char *out, size_t size)
{
    (void)text_format(out, size, "%s/.s.PGSQL.%d", server_folder(server),
                      (int)server_port(server));
}

static void backend_of(const struct chaos *chaos, char *out, size_t size)
{
    assert_true(text_format(out, size, BACKEND, chaos->scene->folder));
}

int main(void)
{
    static const struct copied_kind kind = {
        .start = server_postgres,
        .start_of = server_postgres_of,
        .clear = clear,
        .gate = ".s.PGSQL.5432", /* by default */
        .socket = socket_of,
        .backend = backend_of,
        .copy_cold = postgres_copy_cold,
        .copy_backup = postgres_copy_base,
        .copy_snapshot = postgres_copy_snapshot,
        .put_back = postgres_put_back,
        .revert = postgres_put_back,
        .exchange = postgres_exchange,
        .pause = postgres_pause,
        .resume = postgres_resume,
    };

    return copied_run(&kind);
}
