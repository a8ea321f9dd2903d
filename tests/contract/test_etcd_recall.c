/* SPDX-License-Identifier: Apache-2.0 */
/* Takes from counters of an etcd that are written without being read. */
#include <string.h>

#include "backends/backends.h"
#include "backends/etcd/etcd.h"
#include "contract/etcd_fixture.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/server_etcd.h"
#include "support/test.h"

#define MANY 100

/* Takes a value of each of many counters, each of which must be the next one.
 * Returns the number of transactions. */
static int64_t take_of_many(const struct server *server,
                            struct seqb_backend *backend, int64_t expected)
{
    static char names[MANY][SEQB_COUNTER_SIZE];
    struct seqb_request requests[MANY];
    const int64_t before = etcd_transactions(server);
    struct seqb_error err;

    for (int i = 0; i < MANY; i++) {
        (void)text_format(names[i], sizeof names[i], "main/0/key%d", i);
        requests[i] = (struct seqb_request){.counter = names[i],
                                            .want = 1,
                                            .limit = ETCD_TEST_LIMIT,
                                            .window = SEQB_NO_WINDOW};
    }
    assert_done(backend_etcd.reserve(backend, requests, MANY, &err), err);
    for (int i = 0; i < MANY; i++) {
        assert_ok(requests[i].status);
        assert_int_equal(requests[i].block.first, expected);
    }
    return etcd_transactions(server) - before;
}

TEST_SKIPPABLE(
    STARTED, counters_that_nobody_else_writes_are_taken_from_in_one_transaction)
{
    for (int i = 1; i <= ETCD_TAKES_UNTIL_KNOWN; i++)
        (void)take_of_many(f->server, f->backend, i);
    assert_int_equal(take_of_many(f->server, f->backend, 3), 1);
    assert_int_equal(take_of_many(f->server, f->backend, 4), 1);
}

/* Some of the counters of a call changed since this connection wrote them. */
TEST_SKIPPABLE(KNOWN, counter_that_another_broker_took_from_is_read_again)
{
    struct seqb_backend *other = etcd_open(&f->options);

    for (int i = 0; i < 10; i++) {
        int64_t first;

        assert_ok(etcd_take(other, &first));
        assert_int_equal(first, f->last + 1);
        assert_ok(etcd_take(f->backend, &f->last));
        assert_int_equal(f->last, first + 1);
    }
    backend_etcd.close(other);
}

/* Two brokers that take turns read before they write: a write that fails would
 * only cost another round trip. */
TEST_SKIPPABLE(KNOWN, shared_counter_is_read_first)
{
    struct seqb_backend *other = etcd_open(&f->options);
    int64_t before = 0;

    for (int i = 0; i < 10; i++) {
        if (i == 1)
            before = etcd_transactions(f->server);
        assert_ok(etcd_take(other, &f->last));
        assert_ok(etcd_take(f->backend, &f->last));
    }
    assert_int_equal(etcd_transactions(f->server) - before, 9 * 2 * 2);
    backend_etcd.close(other);
}

/* The note is what is left of a counter whose row is deleted. */
TEST_SKIPPABLE(KNOWN, known_counter_that_passes_its_note_writes_a_new_one)
{
    int64_t first;

    assert_ok(etcd_take_many(f->backend, 40000, &first));
    assert_ok(etcd_take_many(f->backend, 40000, &first));
    assert_int_equal(first, f->last + 40001);
    etcd_forget(f->server, "seqbroker/counter/" ETCD_TEST_COUNTER);
    assert_ok(etcd_take(f->backend, &f->last));
    assert_true(f->last >= first + 40000);
}

/* A read that finds its connection closed makes another one. */
TEST_SKIPPABLE(KNOWN, known_counter_is_not_taken_from_by_another_connection)
{
    struct seqb_request request = {.counter = ETCD_TEST_COUNTER,
                                   .want = 1,
                                   .limit = ETCD_TEST_LIMIT,
                                   .window = SEQB_NO_WINDOW};

    etcd_of(f->backend)->link.grpc.connections++;
    assert_fails(backend_etcd.reserve(f->backend, &request, 1, &failure),
                 SEQB_UNREACHABLE, "): the connection was lost: open it again");
}

/* The copy has the row as the broker left it: only the term tells. */
TEST_SKIPPABLE(KNOWN, known_counter_is_not_taken_from_in_a_copy)
{
    enum seqb_status status;

    server_kill(f->server);
    etcd_copy_out(f->server);
    etcd_copy_back(f->server);
    server_start(f->server);
    status = etcd_take(f->backend, &f->last);
    assert_true(status == SEQB_UNCERTAIN || status == SEQB_UNREACHABLE);
    assert_int_equal(etcd_take(f->backend, &f->last), SEQB_UNREACHABLE);
}

/* The other call on the connection saw the term of the copy. */
TEST_SKIPPABLE(KNOWN,
               known_counter_is_not_taken_from_after_another_term_was_seen)
{
    const struct seqb_raise raise = {
        .counter = "main/0/other", .floor = 1, .limit = ETCD_TEST_LIMIT};

    server_kill(f->server);
    server_start(f->server);
    assert_int_equal(backend_etcd.raise(f->backend, &raise, &f->last, NULL),
                     SEQB_UNREACHABLE);
    assert_int_equal(etcd_take(f->backend, &f->last), SEQB_UNREACHABLE);
}

/* The connection to a follower outlives an election; only the term tells. The
 * known counter of `other` is first written, that of `backend` is left as it
 * is. */
TEST(counters_are_not_taken_from_after_an_election)
{
    const struct seqb_raise raise = {
        .counter = "main/0/other", .floor = 1, .limit = ETCD_TEST_LIMIT};
    struct server *members[ETCD_MEMBERS];
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    struct seqb_backend *other;
    int64_t last;
    int leader;

    server_etcd_cluster(members);
    leader = etcd_leader(members);
    options = etcd_options(members[(leader + 1) % ETCD_MEMBERS]);
    backend = etcd_open_known(&options, &last);
    options.prefix = "other";
    other = etcd_open_known(&options, &last);
    server_kill(members[leader]);
    (void)etcd_leader(members);
    assert_int_equal(etcd_take(other, &last), SEQB_UNCERTAIN);
    assert_int_equal(backend_etcd.raise(backend, &raise, &last, NULL),
                     SEQB_UNREACHABLE);
    assert_int_equal(etcd_take(backend, &last), SEQB_UNREACHABLE);
    backend_etcd.close(other);
    backend_etcd.close(backend);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_free(members[i]);
}

/* The base has another epoch: data was put back, and another broker saw it. */
TEST_SKIPPABLE(KNOWN, known_counter_of_another_epoch_is_not_taken_from)
{
    char base[SEQB_ORIGIN_SIZE + 16];

    assert_true(
        text_format(base, sizeof base, "0 %s#0000000a", f->backend->origin));
    etcd_put(f->server, "seqbroker/counter/", base);
    assert_int_equal(etcd_take(f->backend, &f->last), SEQB_UNREACHABLE);
}

/* A broker that opened the store after a leader was elected, or after data was
 * put back, has written another run. */
TEST_SKIPPABLE(KNOWN, known_counter_of_another_run_is_not_taken_from)
{
    etcd_put(f->server, "seqbroker/run", "2.1");
    assert_int_equal(etcd_take(f->backend, &f->last), SEQB_UNREACHABLE);
}

TEST_BEFORE_ALL(without_sigpipe);
