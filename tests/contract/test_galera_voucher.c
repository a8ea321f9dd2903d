/* SPDX-License-Identifier: Apache-2.0 */
/* What a session of a Galera node is set to, and when a node that has the
 * cluster's history may give it to another one. */
#include "contract/galera_fixture.h"

#include <string.h>

#include "backends/mysql/mysql.h"
#include "platform/text.h"

/* What administrators set for all sessions, and what a probe leaves. */
TEST_SKIPPABLE(PREPARED, session_neither_repeats_nor_splits_nor_reads_early)
{
    struct seqb_details details = {.node = ""};
    struct mysql_link *link;

    mariadb_execute(galera_nodes[0], "SET GLOBAL wsrep_sync_wait = 0, "
                                     "GLOBAL wsrep_dirty_reads = ON, "
                                     "GLOBAL wsrep_retry_autocommit = 4, "
                                     "GLOBAL wsrep_trx_fragment_size = 100");
    must_open(f);
    assert_done(f->ops->describe(f->backend, &details, &f->err), f->err);
    link = &((struct mysql *)f->backend)->link;
    assert_ok(mysql_link_begin(link, &f->err));
    mysql_link_add(link, "SELECT CONCAT_WS(' ', @@wsrep_sync_wait, "
                         "@@wsrep_dirty_reads, @@wsrep_retry_autocommit, "
                         "@@wsrep_trx_fragment_size)");
    assert_ok(mysql_link_run(link, SEQB_UNREACHABLE, &f->err));
    assert_true(mysql_link_row(link));
    assert_string_equal(mysql_link_text(link, 0), "5 OFF 0 0");
    mariadb_execute(galera_nodes[0], "SET GLOBAL wsrep_dirty_reads = OFF, "
                                     "GLOBAL wsrep_retry_autocommit = 1, "
                                     "GLOBAL wsrep_trx_fragment_size = 0");
}

/* Node 1 has applied what the others wrote: it would end a statement there that
 * meets one of these writes. */
static void vouchers_expect(const struct fixture *f, const char *count)
{
    char found[MARIADB_ASK_SIZE];

    mariadb_ask(galera_nodes[1], found,
                "SET STATEMENT wsrep_sync_wait = 15 FOR "
                "SELECT COUNT(*) FROM %s.seqb_incarnation",
                f->database);
    assert_string_equal(found, count);
}

/* Only node 1 has made its table again, as a dump that is restored there alone
 * does. It could be older data. */
TEST_SKIPPABLE(PREPARED, node_whose_tables_were_made_again_gets_no_history)
{
    char origin[SEQB_ORIGIN_SIZE];
    struct seqb_request request;

    must_open(f);
    must_take(f, 10, 0);
    (void)text_copy(origin, sizeof origin, f->backend->origin);
    vouchers_expect(f, "1");
    mariadb_execute(galera_nodes[1],
                    "USE %s; SET SESSION wsrep_on = OFF;"
                    "CREATE TABLE made LIKE seqb_counters;"
                    "INSERT INTO made SELECT * FROM seqb_counters;"
                    "DROP TABLE seqb_counters;"
                    "RENAME TABLE made TO seqb_counters;"
                    "SET SESSION wsrep_on = ON",
                    f->database);
    must_open_at(f, &hosts_other);
    assert_string_not_equal(f->backend->origin, origin);
    assert_status(take(f, ORDER, 1, &request), SEQB_FENCED);
}

/* Tables that are made until the second is over would have the same date. The
 * clock of node 1 is before the date of its tables. */
TEST_SKIPPABLE(PREPARED, node_whose_tables_are_of_this_second_gets_no_history)
{
    must_open(f);
    must_take(f, 10, 0);
    mariadb_execute(galera_nodes[1],
                    "DELETE FROM %s.seqb_incarnation;"
                    "SET GLOBAL init_connect = 'SET timestamp = 1000000000'",
                    f->database);
    must_open(f);
    vouchers_expect(f, "0");
    mariadb_execute(galera_nodes[1], "SET GLOBAL init_connect = ''");
    must_open(f);
    vouchers_expect(f, "1");
    must_take(f, 1, 10);
}

TEST_BEFORE_ALL(without_sigpipe);
