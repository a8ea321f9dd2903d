/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mysql-row on a Galera cluster that refuses a statement: a lock that another
 * client holds (error 1205), a node that is no longer Primary (error 1047), and
 * a transaction that another node aborted, which is answered without an error.
 * Nothing is granted, and the error says why.
 */
#include "contract/galera_fixture.h"

#include <string.h>
#include <unistd.h>

#include "backends/mysql/mysql.h"
#include "platform/text.h"

#define FIRST 10

/* The statement that fails, whose status is that of the call or of the
 * request. */
static void must_get(struct fixture *f, enum seqb_status expected,
                     const char *words)
{
    struct seqb_request request = {.counter = ORDER,
                                   .want = 1,
                                   .limit = (int64_t)1 << 50,
                                   .window = SEQB_NO_WINDOW};
    struct seqb_error err = {.text = ""};
    enum seqb_status status = f->ops->reserve(f->backend, &request, 1, &err);
    const char *text = err.text;

    if (status == SEQB_OK) {
        status = request.status;
        text = request.error.text;
    }
    if (status != expected || strstr(text, words) == NULL)
        fail_msg("%s: %s", seqb_status_name(status), text);
}

/* The server gives the wait up after a second, the call after a minute. The
 * pool asks once more after SEQB_AGAIN. */
TEST_SKIPPABLE(PREPARED, lock_of_another_client_leaves_another_try)
{
    f->options.timeout_ms = 1000;
    must_open(f);
    must_take(f, FIRST, 0);
    ((struct mysql *)f->backend)->link.timeout_ms = 60000;
    TELL(f, "BEGIN; SELECT * FROM seqb_counters WHERE name = '" ORDER
            "' FOR UPDATE");
    must_get(f, SEQB_AGAIN, "error 1205: Lock wait timeout exceeded");
    TELL(f, "ROLLBACK");
    must_take(f, 1, FIRST);
}

TEST_SKIPPABLE(PREPARED, node_that_is_no_longer_primary_says_so)
{
    must_open(f); /* node 0 is the first of its hosts */
    must_take(f, FIRST, 0);
    mariadb_execute(galera_nodes[0],
                    "SET GLOBAL wsrep_provider_options = 'gmcast.isolate=1'");
    galera_await(galera_nodes[0], "wsrep_cluster_status", "non-Primary");
    must_get(f, SEQB_UNREACHABLE, "error 1047");
    must_open_at(f, &hosts_other);
    must_take(f, 1, FIRST);
    mariadb_execute(galera_nodes[0],
                    "SET GLOBAL wsrep_provider_options = 'gmcast.isolate=0'");
    cluster_await();
}

/* That it found no row would mean that there is none. A node answers so now and
 * then; SELECT INTO always has no result. */
TEST_SKIPPABLE(PREPARED, query_without_a_result_is_of_an_aborted_transaction)
{
    struct mysql_link *link;

    must_open(f);
    link = &((struct mysql *)f->backend)->link;
    assert_ok(mysql_link_begin(link, &f->err));
    mysql_link_add(link, "SELECT 1 INTO @one");
    assert_status(mysql_link_run(link, SEQB_UNREACHABLE, &f->err),
                  SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "the transaction was aborted"));
}

/* The write sets that node 0 says that it is behind. */
static int64_t behind_ask(struct fixture *f)
{
    struct seqb_details details = {.node = ""};
    const char *count = details.replicas + strlen("here ");
    int64_t behind;

    assert_done(f->ops->describe(f->backend, &details, &f->err), f->err);
    assert_memory_equal(details.replicas, "here ", strlen("here "));
    assert_true(text_to_int64(count, strcspn(count, " "), &behind));
    return behind;
}

/* A probe does not wait until the node has caught up. */
TEST_SKIPPABLE(PREPARED, node_that_is_behind_says_how_far)
{
    f->options.timeout_ms = 5000;
    must_open(f);
    must_take(f, FIRST, 0);
    TELL(f, "CREATE TABLE held (id INT PRIMARY KEY);"
            "FLUSH TABLES held WITH READ LOCK");
    for (int i = 0; i < 10; i++)
        mariadb_execute(galera_nodes[1], "INSERT INTO %s.held VALUES (%d)",
                        f->database, i);
    while (behind_ask(f) == 0)
        usleep(2000);
    TELL(f, "UNLOCK TABLES");
    cluster_await();
    while (behind_ask(f) > 0)
        usleep(2000);
    must_take(f, 1, FIRST);
}

TEST_BEFORE_ALL(without_sigpipe);
