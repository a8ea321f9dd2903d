/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mysql-row on a Galera cluster of three nodes, which the tests share: two
 * nodes never grant a number twice, and a cluster that may have gone back is
 * another store. Each test leaves all three nodes synced.
 */
#include "contract/galera_fixture.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"

TEST_SKIPPABLE(PREPARED, nodes_of_one_cluster_are_one_store)
{
    struct seqb_details details = {.node = ""};
    char origin[SEQB_ORIGIN_SIZE];

    must_open(f);
    must_take(f, 10, 0);
    assert_non_null(strstr(f->backend->domain, "galera"));
    assert_ok(f->ops->describe(f->backend, &details, &f->err));
    assert_string_equal(details.role, "Synced");
    assert_string_equal(details.quorum, "Primary, 3 nodes");
    assert_non_null(strstr(details.replicas, " write sets behind, paused "));
    assert_string_equal(details.tls, "none");
    assert_string_not_equal(details.node, "");
    (void)text_copy(origin, sizeof origin, f->backend->origin);
    must_open_at(f, &hosts_other);
    assert_string_equal(f->backend->origin, origin);
    must_take(f, 10, 10);
    must_open_at(f, &hosts_all);
    must_take(f, 1, 20);
}

/* --- reads --- */

struct reader {
    struct fixture *f;
    struct seqb_backend *backend;
    pthread_t thread;
    char standing[64];
    struct seqb_error err;
    enum seqb_status status;
    atomic_bool has_ended;
};

static void *reader_run(void *argument)
{
    struct reader *reader = argument;

    reader->status =
        reader->f->ops->claim(reader->backend, "c", NULL, reader->standing,
                              sizeof reader->standing, &reader->err);
    atomic_store(&reader->has_ended, true);
    return NULL;
}

/* Until the reader's query waits at its node, or was answered. */
static void reader_await(struct reader *reader)
{
    char waiting[MARIADB_ASK_SIZE] = "0";

    while (!atomic_load(&reader->has_ended) && strcmp(waiting, "0") == 0) {
        usleep(2000);
        mariadb_ask(galera_nodes[1], waiting,
                    "SELECT COUNT(*) FROM information_schema.PROCESSLIST "
                    "WHERE DB = '%s' AND COMMAND <> 'Sleep' "
                    "AND TIME_MS > 300",
                    reader->f->database);
    }
}

/* A node whose applying is held up has what was before. */
TEST_SKIPPABLE(PREPARED, claim_is_read_as_another_node_left_it)
{
    const struct seqb_swap swap = {.name = "c", .expected = "", .text = "new"};
    char standing[64];
    struct reader reader = {.f = f};

    must_open(f);
    f->options.endpoints = hosts_other.list;
    reader.backend = must_open_other(f);
    mariadb_execute(galera_nodes[1], "FLUSH TABLES WITH READ LOCK");
    assert_ok(
        f->ops->swap(f->backend, &swap, standing, sizeof standing, &f->err));
    assert_ok(
        thread_start(&reader.thread, "reader", reader_run, &reader, NULL));
    reader_await(&reader);
    mariadb_execute(galera_nodes[1], "UNLOCK TABLES");
    pthread_join(reader.thread, NULL);
    f->ops->close(reader.backend);
    assert_ok(reader.status);
    assert_string_equal(reader.standing, "new");
    cluster_await();
}

/* --- nodes that are not used --- */

TEST_SKIPPABLE(PREPARED, servers_without_galera_are_no_cluster)
{
    struct server *plain = server_mariadb(NULL);
    char address[ADDRESS_SIZE];
    const char *const list[] = {address, hosts_all.list[0], NULL};

    (void)text_format(address, sizeof address, "127.0.0.1:%d",
                      (int)server_port(plain));
    mariadb_execute(plain,
                    "CREATE USER seq IDENTIFIED BY '" PASSWORD "';"
                    "CREATE DATABASE %s; GRANT ALL ON %s.* TO seq",
                    f->database, f->database);
    f->options.endpoints = list;
    must_not_open(f, SEQB_UNSAFE, "is no node of a Galera cluster");
    server_free(plain);
}

TEST_SKIPPABLE(PREPARED, galera_without_hosts_is_refused)
{
    f->options.endpoints = NULL;
    f->options.host = "127.0.0.1";
    f->options.port = server_port(galera_nodes[0]);
    must_not_open(f, SEQB_UNSAFE, "wsrep_on = ON");
}

TEST_SKIPPABLE(PREPARED, autoinc_takes_no_hosts)
{
    f->ops = &backend_mysql_autoinc;
    must_not_open(f, SEQB_INVALID, "mysql-row");
}

TEST_SKIPPABLE(PREPARED, host_without_a_port_is_refused)
{
    const char *const list[] = {"127.0.0.1", NULL};

    f->options.endpoints = list;
    must_not_open(f, SEQB_INVALID, "is no host:port");
}

/* Neither by whoever it is, nor by a node of that name. */
TEST_SKIPPABLE(PREPARED, nodes_without_tls_are_not_spoken_to_in_clear)
{
    f->options.tls = SEQB_TLS_REQUIRE;
    must_not_open(f, SEQB_REFUSED, "the server has no tls");
    f->options.tls = SEQB_TLS_VERIFY;
    must_not_open(f, SEQB_UNREACHABLE, "the server does not support it");
}

TEST_SKIPPABLE(PREPARED, desynced_node_is_passed_over)
{
    struct hosts alone;

    must_open(f);
    must_take(f, 1, 0);
    hosts_set(&alone, 0, 1);
    mariadb_execute(galera_nodes[0], "SET GLOBAL wsrep_desync = ON");
    f->options.endpoints = alone.list;
    must_not_open(f, SEQB_UNREACHABLE, "Donor/Desynced");
    must_open_at(f, &hosts_all);
    must_take(f, 1, 1);
    mariadb_execute(galera_nodes[0], "SET GLOBAL wsrep_desync = OFF");
    cluster_await();
}

TEST_SKIPPABLE(PREPARED, node_without_quorum_is_refused)
{
    static const char *const options[] = {"pc.ignore_quorum", "pc.ignore_sb"};
    struct hosts alone;

    hosts_set(&alone, 0, 1);
    f->options.endpoints = alone.list;
    for (size_t i = 0; i < COUNT_OF(options); i++) {
        mariadb_execute(galera_nodes[0],
                        "SET GLOBAL wsrep_provider_options = '%s=yes'",
                        options[i]);
        must_not_open(f, SEQB_UNSAFE, options[i]);
        mariadb_execute(galera_nodes[0],
                        "SET GLOBAL wsrep_provider_options = '%s=no'",
                        options[i]);
    }
    must_open_at(f, &hosts_all);
}

/* --- nodes that end --- */

TEST_SKIPPABLE(PREPARED, killed_node_leaves_the_others_as_the_same_store)
{
    char origin[SEQB_ORIGIN_SIZE];
    struct seqb_request request;
    int64_t since_ms;

    must_open(f);
    must_take(f, 10, 0);
    (void)text_copy(origin, sizeof origin, f->backend->origin);
    server_kill(galera_nodes[0]);
    since_ms = clock_now_ms();
    assert_true(take(f, ORDER, 1, &request) != SEQB_OK);
    while (fixture_open(f) != SEQB_OK || take(f, ORDER, 1, &request) != SEQB_OK)
        continue;
    print_message("a node was killed: numbers again after %lld ms\n",
                  (long long)(clock_now_ms() - since_ms));
    assert_true(request.block.first > 10);
    assert_string_equal(f->backend->origin, origin);
    server_start(galera_nodes[0]);
    cluster_await();
}

TEST_SKIPPABLE(PREPARED, rolling_restart_is_the_same_store)
{
    char origin[SEQB_ORIGIN_SIZE];

    must_open(f);
    must_take(f, 10, 0);
    (void)text_copy(origin, sizeof origin, f->backend->origin);
    for (size_t i = 0; i < GALERA_NODES; i++) {
        struct hosts hosts;

        server_shut_down(galera_nodes[i], SIGTERM);
        server_start(galera_nodes[i]);
        cluster_await();
        hosts_set(&hosts, i, GALERA_NODES);
        must_open_at(f, &hosts);
        assert_string_equal(f->backend->origin, origin);
    }
    must_take(f, 1, 10);
}

TEST_SKIPPABLE(PREPARED, minority_grants_nothing)
{
    struct hosts alone;
    struct seqb_request request;

    hosts_set(&alone, 0, 1);
    must_open_at(f, &alone);
    must_take(f, 10, 0);
    server_pause(galera_nodes[1]);
    server_pause(galera_nodes[2]);
    assert_true(take(f, ORDER, 1, &request) != SEQB_OK);
    galera_await(galera_nodes[0], "wsrep_cluster_status", "non-Primary");
    assert_true(take(f, ORDER, 1, &request) != SEQB_OK);
    must_not_open(f, SEQB_UNREACHABLE, "non-Primary");
    server_resume(galera_nodes[1]);
    server_resume(galera_nodes[2]);
    cluster_await();
    must_open(f);
    assert_ok(take(f, ORDER, 1, &request));
    assert_true(request.block.first > 10);
}

/* --- clusters that went back --- */

/* Node 2 misses what is granted from now on. */
TEST_STATE(ON_CLUSTER,
           cluster_begun_again_from_a_node_that_was_behind_is_another_store)
{
    struct fixture *f = cluster_prepare(state);
    char origin[SEQB_ORIGIN_SIZE];
    struct seqb_request request;
    int64_t raised;

    must_open(f);
    must_take(f, 10, 0);
    (void)text_copy(origin, sizeof origin, f->backend->origin);
    server_shut_down(galera_nodes[2], SIGTERM);
    must_open(f);
    must_take(f, 10, 10);
    server_kill(galera_nodes[0]);
    server_kill(galera_nodes[1]);
    galera_bootstrap(galera_nodes[2]);
    galera_drop_files(galera_nodes[0]);
    galera_drop_files(galera_nodes[1]);
    server_start(galera_nodes[0]);
    server_start(galera_nodes[1]);
    cluster_await();
    must_open(f);
    assert_true(strcmp(f->backend->origin, origin) != 0);
    assert_status(take(f, ORDER, 1, &request), SEQB_FENCED);
    raised = must_raise(f, 20, 1000);
    assert_true(raised >= 20);
    must_take(f, 1, raised);
}

TEST_SKIPPABLE(PREPARED, dump_that_is_put_back_is_another_store)
{
    struct seqb_request request;
    char origin[SEQB_ORIGIN_SIZE];

    must_open(f);
    must_take(f, 10, 0);
    (void)text_copy(origin, sizeof origin, f->backend->origin);
    mariadb_dump_database(galera_nodes[1], f->database, "dump");
    must_take(f, 10, 10);
    mariadb_restore_database(galera_nodes[1], f->database, "dump");
    assert_true(take(f, ORDER, 1, &request) != SEQB_OK);
    must_open(f);
    assert_true(strcmp(f->backend->origin, origin) != 0);
    assert_status(take(f, ORDER, 1, &request), SEQB_FENCED);
}

TEST_BEFORE_ALL(without_sigpipe);
