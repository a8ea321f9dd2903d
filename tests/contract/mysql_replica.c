/* SPDX-License-Identifier: Apache-2.0 */
/* Replication between two MariaDB servers. */
#include "contract/mysql_replica.h"

#include <string.h>

void replica_follow(struct server *replica, struct server *primary)
{
    mariadb_execute(primary, "CREATE USER copier IDENTIFIED BY '" PASSWORD "';"
                             "GRANT REPLICATION SLAVE ON *.* TO copier");
    mariadb_execute(replica,
                    "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', "
                    "MASTER_PORT = %d, MASTER_USER = 'copier', "
                    "MASTER_PASSWORD = '" PASSWORD "', "
                    "MASTER_USE_GTID = slave_pos; START SLAVE",
                    (int)server_port(primary));
}

void replica_catch_up(struct server *replica, struct server *primary)
{
    char position[MARIADB_ASK_SIZE];
    char result[MARIADB_ASK_SIZE];

    mariadb_ask(primary, position, "SELECT @@GLOBAL.gtid_binlog_pos");
    mariadb_ask(replica, result, "SELECT MASTER_GTID_WAIT('%s', 60)", position);
    assert_string_equal(result, "0");
}

bool answer_alike(struct fixture *f, struct server *replica, const char *query)
{
    char ours[MARIADB_ASK_SIZE];
    char theirs[MARIADB_ASK_SIZE];

    mariadb_ask(f->server, ours, "USE %s; %s", f->database, query);
    mariadb_ask(replica, theirs, "USE %s; %s", f->database, query);
    assert_string_not_equal(ours, "");
    return strcmp(ours, theirs) == 0;
}

#define DATES                                                                  \
    "SELECT GROUP_CONCAT(TABLE_NAME, CREATE_TIME + 0 ORDER BY TABLE_NAME) "    \
    "FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() "          \
    "AND TABLE_NAME IN ('seqb_claims', 'seqb_counters')"

void tables_make_alike(struct fixture *f, struct server *replica)
{
    do {
        mariadb_execute(f->server, "DROP DATABASE %s; CREATE DATABASE %s",
                        f->database, f->database);
        must_open(f);
        replica_catch_up(replica, f->server);
    } while (!answer_alike(f, replica, DATES));
}
