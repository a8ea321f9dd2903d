/* SPDX-License-Identifier: Apache-2.0 */
/* Physical copies of a MariaDB that are put back. */

#include "copied_server.h"
#include "platform/text.h"
#include "support/server_mariadb.h"

#define GATE "maria"

#define BACKEND                                                                \
    "{ name = \"one\"; engine = \"mysql-row\"; socket = \"%s\";"               \
    "  user = \"root\"; database = \"seq\"; connect_timeout = \"10s\"; }"

static void clear(struct server *server)
{
    mariadb_execute(server, "DROP DATABASE IF EXISTS seq; CREATE DATABASE seq");
}

static void socket_of(const struct server *server, char *out, size_t size)
{
    (void)text_copy(out, size, server_socket(server));
}

static void backend_of(const struct chaos *chaos, char *out, size_t size)
{
    assert_true(
        text_format(out, size, BACKEND, scene_path(chaos->scene, GATE)));
}

int main(void)
{
    static const struct copied_kind kind = {
        .start = server_mariadb,
        .start_of = server_mariadb_of,
        .clear = clear,
        .gate = GATE,
        .socket = socket_of,
        .backend = backend_of,
        .copy_cold = mariadb_copy_cold,
        .copy_backup = mariadb_copy_backup,
        .copy_snapshot = mariadb_copy_snapshot,
        .put_back = mariadb_put_back,
        .revert = mariadb_revert,
        .exchange = mariadb_exchange,
        .pause = server_pause,
        .resume = server_resume,
    };

    return copied_run(&kind);
}
