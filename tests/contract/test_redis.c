/* SPDX-License-Identifier: Apache-2.0 */
/* What else is peculiar to the redis engine: neighbours in the same store, a
 * server that refuses or hangs, passwords, one round trip for all requests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/redis_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/server_sentinel.h"
#include "support/test.h"

/* --- neighbours --- */

static char *key_dump(struct fixture *f, const char *key, size_t *length)
{
    redisReply *reply = server_ask(f->server, "DUMP %s", key);
    char *dump = malloc(reply->len);

    assert_non_null(dump);
    memcpy(dump, reply->str, reply->len);
    *length = reply->len;
    freeReplyObject(reply);
    return dump;
}

static void must_stay(struct fixture *f, const char *key, const char *dump,
                      size_t length)
{
    size_t length_now;
    char *now = key_dump(f, key, &length_now);

    assert_int_equal(length_now, length);
    assert_memory_equal(now, dump, length);
    free(now);
}

TEST_SKIPPABLE(STARTED, anothers_key_is_refused_and_stays_as_it_is)
{
    static const char *const neighbours[][9] = {
        {"SET", KEY, "41"},
        {"RPUSH", KEY, "a", "b"},
        {"SADD", KEY, "a"},
        {"ZADD", KEY, "1", "a"},
        {"XADD", KEY, "1-1", "f", "v"},
        {"HSET", KEY, "name", "value"},
        {"HSET", KEY, "w", "1", "v", "0", "hi", "1024"},
    };
    int64_t out;

    for (size_t i = 0; i < COUNT(neighbours); i++) {
        size_t length;
        char *dump;

        redis_execute(f->server, "DEL " KEY);
        server_tell_words(f->server, neighbours[i]);
        dump = key_dump(f, KEY, &length);
        must_answer(f, SEQB_REFUSED, SEQB_NO_WINDOW);
        assert_int_equal(install(f, 5, SIZE, &out), SEQB_REFUSED);
        assert_non_null(strstr(f->err.text, KEY));
        assert_int_equal(raise_to(f, INT64_MAX, &out), SEQB_REFUSED);
        must_stay(f, KEY, dump, length);
        free(dump);
    }
}

TEST_SKIPPABLE(STARTED, anothers_key_under_a_claim_is_refused)
{
    struct seqb_claim claim = {.name = "layout", .text = "x"};
    char standing[64];
    size_t length;
    size_t done;
    char *dump;

    redis_execute(f->server, "RPUSH " CLAIM_KEY " a b");
    dump = key_dump(f, CLAIM_KEY, &length);
    assert_int_equal(backend_redis.claim(f->backend, "layout", "x", standing,
                                         sizeof standing, &f->err),
                     SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, CLAIM_KEY));
    assert_int_equal(
        backend_redis.claim_many(f->backend, &claim, 1, &done, &f->err),
        SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, CLAIM_KEY));
    must_stay(f, CLAIM_KEY, dump, length);
    free(dump);
}

TEST_SKIPPABLE(STARTED, one_refused_counter_does_not_stop_the_others)
{
    struct seqb_request requests[] = {
        {.counter = "a", .want = 1, .limit = SIZE},
        {.counter = "b", .want = 0, .limit = SIZE}, /* out of range */
        {.counter = COUNTER, .want = 1, .limit = SIZE},
    };

    must_install(f, 1);
    redis_execute(f->server, "SET seqbroker:{a} 1");
    assert_ok(
        backend_redis.reserve(f->backend, requests, COUNT(requests), &f->err));
    assert_int_equal(requests[0].status, SEQB_REFUSED);
    assert_int_equal(requests[1].status, SEQB_INVALID);
    assert_ok(requests[2].status);
    assert_int_equal(requests[2].block.first, 0);
    must_grant(f, 1, 1, 1);
}

TEST_SKIPPABLE(STARTED, prefixes_and_databases_are_stores_of_their_own)
{
    must_install(f, 1);
    must_grant(f, 1, 0, 10);
    f->options.database = "3";
    assert_ok(fixture_open(f));
    must_answer(f, SEQB_FENCED, SEQB_NO_WINDOW);
    must_install(f, 2);
    f->options.database = NULL;
    f->options.prefix = "other";
    assert_ok(fixture_open(f));
    must_answer(f, SEQB_FENCED, SEQB_NO_WINDOW);
    f->options.prefix = NULL;
    assert_ok(fixture_open(f));
    must_grant(f, 1, 10, 1);
    f->options.database = "4711";
    assert_int_equal(fixture_open(f), SEQB_REFUSED);
}

/* --- refusals of the server --- */

TEST_SKIPPABLE(STARTED, full_memory_is_refused_and_repeats_nothing)
{
    must_install(f, 1);
    must_grant(f, 1, 0, 10);
    redis_execute(f->server, "CONFIG SET maxmemory 1");
    must_fail(f, SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, "OOM"));
    redis_execute(f->server, "CONFIG SET maxmemory 0");
    assert_ok(fixture_open(f));
    must_grant(f, 1, 10, 10);
}

TEST_SKIPPABLE(STARTED, too_few_replicas_are_refused)
{
    must_install(f, 1);
    redis_execute(f->server, "CONFIG SET min-replicas-to-write 1");
    must_fail(f, SEQB_REFUSED);
    must_hold(f, "v", "0");
}

/* The replica has not read what was written last. */
TEST_SKIPPABLE(STARTED, replicas_and_how_far_they_are_behind_are_told)
{
    struct seqb_details details = {.node = ""};
    struct server *replica;
    long long behind;

    assert_ok(f->ops->describe(f->backend, &details, &f->err));
    assert_string_equal(details.role, "master");
    assert_string_equal(details.replicas, "none");
    replica = server_replica(f->server);
    server_pause(replica);
    redis_execute(f->server, "SET other %0200d", 0);
    assert_ok(f->ops->describe(f->backend, &details, &f->err));
    assert_int_equal(
        sscanf(details.replicas, "1, at most %lld bytes behind", &behind), 1);
    assert_in_range(behind, 200, 10000);
    assert_non_null(strstr(details.replicas, " bytes behind"));
    server_resume(replica);
    server_free(replica);
}

TEST_SKIPPABLE(STARTED, flushed_scripts_change_nothing_and_come_back)
{
    must_install(f, 1);
    must_grant(f, 1, 0, 10);
    redis_execute(f->server, "SCRIPT FLUSH");
    must_fail(f, SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "scripts were flushed"));
    assert_ok(fixture_open(f));
    must_grant(f, 1, 10, 10);
}

TEST_SKIPPABLE(STARTED, stopped_server_is_uncertain_then_unreachable)
{
    enum seqb_status call;
    struct seqb_request request;
    int64_t since_ms;
    int64_t calls;

    must_install(f, 1);
    f->options.timeout_ms = 200;
    assert_ok(fixture_open(f));
    server_pause(f->server);
    since_ms = clock_now_ms();
    must_fail(f, SEQB_UNCERTAIN);
    assert_true(clock_now_ms() - since_ms >= 200);
    assert_non_null(strstr(f->err.text, "no answer within 200 ms"));

    /* The server is well again, but the connection must not be used. */
    server_resume(f->server);
    redis_execute(f->server, "PING");
    calls = info_number(f, "commandstats", "cmdstat_evalsha:calls=");
    must_fail(f, SEQB_UNREACHABLE);
    assert_int_equal(info_number(f, "commandstats", "cmdstat_evalsha:calls="),
                     calls);

    f->options.timeout_ms = 20000;
    assert_ok(fixture_open(f));
    request = ask(f, 1, SIZE, &call);
    assert_ok(request.status);
    /* The lost call was done or not: either way none comes twice. */
    assert_in_range(request.block.first, 0, 1);
}

TEST_SKIPPABLE(STARTED, stopped_server_does_not_open)
{
    f->options.connect_timeout_ms = 200;
    server_pause(f->server);
    assert_int_equal(fixture_open(f), SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "no answer within 200 ms"));
}

/* --- ways in --- */

TEST_SKIPPABLE(STARTED, password_is_needed_and_never_shown)
{
    static const struct {
        const char *user;
        const char *password;
        enum seqb_status status;
    } rows[] = {
        {NULL, NULL, SEQB_REFUSED},
        {NULL, "sesame-wrong", SEQB_REFUSED},
        {"nobody", "sesame-right", SEQB_REFUSED},
        {"blind", "sesame-blind", SEQB_REFUSED},
        {NULL, "sesame-right", SEQB_OK},
        {"default", "sesame-right", SEQB_OK},
        {"seq", "sesame-seq", SEQB_OK},
    };

    redis_execute(f->server, "ACL SETUSER blind on >sesame-blind ~* +ping");
    redis_execute(f->server,
                  "ACL SETUSER seq on >sesame-seq ~seqbroker:* +select +info "
                  "+script|load +evalsha +type +get +set +del +hmget +hset "
                  "+hincrby +expire +time");
    redis_execute(f->server, "CONFIG SET requirepass sesame-right");
    for (size_t i = 0; i < COUNT(rows); i++) {
        f->options.user = rows[i].user;
        f->options.password = rows[i].password;
        assert_int_equal(fixture_open(f), rows[i].status);
        if (rows[i].status != SEQB_OK) {
            assert_null(strstr(f->err.text, "sesame"));
            continue;
        }
        redis_execute(f->server, "FLUSHALL");
        must_install(f, 1);
        must_grant(f, 1, 0, 1);
    }
}

TEST_SKIPPABLE(STARTED, revoked_permission_is_refused)
{
    must_install(f, 1);
    redis_execute(f->server, "ACL SETUSER default -hincrby");
    must_fail(f, SEQB_REFUSED);
    must_hold(f, "v", "0");
    redis_execute(f->server, "ACL SETUSER default -evalsha");
    must_fail(f, SEQB_REFUSED);
}

TEST_SKIPPABLE(STARTED, unix_socket_is_a_way_in)
{
    f->options.host = NULL;
    f->options.socket_path = server_socket(f->server);
    assert_ok(fixture_open(f));
    must_install(f, 1);
    must_grant(f, 1, 0, 1);
}

TEST_SKIPPABLE(STARTED, options_that_it_cannot_serve_are_refused)
{
    must_refuse_options(f);
}

TEST_SKIPPABLE(STARTED, arguments_that_no_counter_has_are_refused)
{
    must_refuse_arguments(f);
}

TEST_SKIPPABLE(STARTED, thousand_requests_are_one_round_trip)
{
    enum { N = 1000 };
    struct seqb_request *requests = calloc(N, sizeof *requests);
    static char names[N][16];
    int64_t reads;

    assert_non_null(requests);
    for (int i = 0; i < N; i++) {
        const struct seqb_window w = {
            .counter = names[i], .window = i + 1, .size = SIZE};
        int64_t standing;

        (void)text_format(names[i], sizeof names[i], "c/%d", i);
        assert_ok(backend_redis.install(f->backend, &w, &standing, &f->err));
        requests[i] = (struct seqb_request){
            .counter = names[i], .want = i + 1, .limit = SIZE};
    }
    reads = info_number(f, "stats", "total_reads_processed:");
    assert_ok(backend_redis.reserve(f->backend, requests, N, &f->err));
    reads = info_number(f, "stats", "total_reads_processed:") - reads;
    for (int i = 0; i < N; i++) {
        assert_ok(requests[i].status);
        assert_int_equal(requests[i].window, i + 1);
        assert_int_equal(requests[i].block.count, i + 1);
    }
    /* The server reads 16 KB at a time; one request each would be N. */
    assert_in_range(reads, 1, N / 4);
    free(requests);
}

TEST_BEFORE_ALL(without_sigpipe);
