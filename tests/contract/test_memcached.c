/* SPDX-License-Identifier: Apache-2.0 */
/* What is peculiar to the memcached engine on a real server: the guard band,
 * eviction, neighbours, servers that are refused or hang, passwords. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contract/memcached_fixture.h"
#include "platform/text.h"
#include "support/test.h"

/* --- windows --- */

TEST_STATE(ON_SERVER,
           late_counts_land_in_the_guard_band_and_are_granted_to_nobody)
{
    struct fixture *f = fixture_start(state, NULL);
    char last[32];

    must_install(f, 5);
    must_grant(f, 5, 0, SIZE);
    /* As if 1023 others, who read the cell before, counted only now. */
    (void)text_format(last, sizeof last, "%" PRId64, 12 * SIZE - 1);
    memcached_execute(f->server, "ma " KEY " D1023", f->answer,
                      sizeof f->answer);
    must_hold(f, last);
    for (int i = 0; i < 3; i++)
        must_answer(f, SEQB_EXHAUSTED, 5);
    must_hold(f, last); /* an exhausted cell is not counted in */
    must_install(f, 6);
    must_grant(f, 6, 0, 10);
}

/* Each call looks at all its cells before it counts in any of them. */
TEST_SKIPPABLE(STARTED, of_two_who_saw_the_last_value_one_gets_nothing)
{
    struct seqb_request both[] = {
        {.counter = COUNTER, .want = 1, .limit = SIZE},
        {.counter = COUNTER, .want = 1, .limit = SIZE},
    };

    must_install(f, 5);
    must_grant(f, 5, 0, SIZE - 1);
    assert_ok(f->ops->reserve(f->backend, both, COUNT(both), &f->err));
    assert_ok(both[0].status);
    assert_int_equal(both[0].block.first, SIZE - 1);
    assert_int_equal(both[1].status, SEQB_EXHAUSTED);
    /* Nor did that count begin the next window, which may be another's. */
    must_answer(f, SEQB_EXHAUSTED, 5);
}

TEST_SKIPPABLE(STARTED, last_window_ends_and_never_wraps)
{
    const int64_t last = (int64_t)(UINT64_MAX / (2 * (uint64_t)SIZE));
    int64_t standing = 0;

    must_install(f, last);
    must_grant(f, last, 0, SIZE);
    memcached_execute(f->server, "ma " KEY " D1023", f->answer,
                      sizeof f->answer);
    must_hold(f, "18446744073709551615"); /* one more would be 0 */
    for (int i = 0; i < 3; i++)
        must_answer(f, SEQB_EXHAUSTED, last);
    must_hold(f, "18446744073709551615");
    assert_int_equal(install(f, last + 1, SIZE, &standing), SEQB_INVALID);
    assert_int_equal(install(f, INT64_MAX, SIZE, &standing), SEQB_INVALID);
    assert_int_equal(install(f, last, SIZE, &standing), SEQB_FENCED);
    assert_int_equal(standing, last);
    /* Somebody's surgery, that wrapped: window 0 is none of ours. */
    must_execute(f, "ma " KEY " D1", "HD\r\n");
    must_answer(f, SEQB_REFUSED, SEQB_NO_WINDOW);
}

TEST_SKIPPABLE(STARTED, window_that_the_connections_could_overrun_is_refused)
{
    enum seqb_status call;
    struct seqb_request request = ask(f, 1, SIZE / 2, &call);
    int64_t out;

    assert_ok(call);
    assert_int_equal(request.status, SEQB_UNSAFE);
    assert_non_null(strstr(request.error.text, "-c 512"));
    assert_int_equal(install(f, 1, SIZE / 2, &out), SEQB_UNSAFE);
    must_hold(f, NULL);
}

TEST_STATE(ON_SERVER, fewer_connections_allow_smaller_windows_and_larger_grants)
{
    static const char *const args[] = {"-c", "64", NULL};
    struct fixture *f = fixture_start(state, args);
    enum seqb_status call;
    struct seqb_request request;
    int64_t out;

    assert_ok(install(f, 1, 64, &out));
    request = ask(f, 1000, 64, &call);
    assert_ok(request.status);
    assert_int_equal(request.block.count, 1);
    assert_ok(raise_to(f, 1, &out));
    assert_ok(install(f, 2, SIZE, &out));
    request = ask(f, 1000, SIZE, &call);
    assert_int_equal(request.block.count, SIZE / 64);
}

/* --- many counters, many items --- */

#define CROWD 1024

TEST_SKIPPABLE(STARTED, largest_call_with_the_longest_names_goes_through)
{
    static char names[CROWD][SEQB_COUNTER_SIZE];
    static struct seqb_request requests[CROWD];
    char prefix[65];

    memset(prefix, 'p', sizeof prefix - 1);
    prefix[sizeof prefix - 1] = '\0';
    f->options.prefix = prefix;
    assert_ok(fixture_open(f));
    for (int i = 0; i < CROWD; i++) {
        const struct seqb_window window = {
            .counter = names[i], .window = 1, .size = SIZE};
        int64_t standing;

        (void)text_format(names[i], sizeof names[i], "%0127d", i);
        requests[i] = (struct seqb_request){
            .counter = names[i], .want = 1, .limit = SIZE};
        if (i % 2 == 0)
            assert_ok(backend_memcached.install(f->backend, &window, &standing,
                                                &f->err));
    }
    assert_ok(backend_memcached.reserve(f->backend, requests, CROWD, &f->err));
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(requests[i].status,
                         i % 2 == 0 ? SEQB_OK : SEQB_FENCED);
}

/* So many small items that the server needs the room of others. */
static void pressure(struct fixture *f, int round)
{
    static char commands[200 * 128];

    commands[0] = '\0';
    for (int i = 0; i < 200; i++)
        (void)text_append(commands, sizeof commands,
                          "%sms filler:%d:%d 20\r\n%020d", i > 0 ? "\r\n" : "",
                          round, i, i);
    memcached_execute(f->server, commands, f->answer, sizeof f->answer);
}

TEST_STATE(ON_SERVER, evicted_cell_is_fenced)
{
    static const char *const args[] = {"-m", "2", NULL};
    struct fixture *f = fixture_start(state, args);
    bool is_there = true;

    must_install(f, 1);
    must_grant(f, 1, 0, 10);
    for (int round = 0; is_there && round < 10000; round++) {
        pressure(f, round);
        memcached_execute(f->server, "mg " KEY " u", f->answer,
                          sizeof f->answer);
        is_there = strcmp(f->answer, "HD\r\n") == 0;
    }
    assert_false(is_there);
    must_answer(f, SEQB_FENCED, SEQB_NO_WINDOW);
    must_hold(f, NULL);
    must_install(f, 2);
    must_grant(f, 2, 0, 10);
}

TEST_STATE(ON_SERVER, server_that_may_not_evict_refuses_in_its_own_words)
{
    static const char *const args[] = {"-m", "2", "-M", NULL};
    struct fixture *f = fixture_start(state, args);
    char standing[SEQB_CLAIM_SIZE];
    int64_t out;

    must_install(f, 1);
    for (int round = 0; round < 10000; round++) {
        pressure(f, round);
        if (strstr(f->answer, "SERVER_ERROR") != NULL)
            break;
    }
    must_execute(f, "md " KEY, "HD\r\n");
    pressure(f, 10001); /* which is gone now */
    assert_int_equal(install(f, 2, SIZE, &out), SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, "out of memory"));
    assert_int_equal(backend_memcached.claim(f->backend, "a", "b", standing,
                                             sizeof standing, &f->err),
                     SEQB_REFUSED);
    must_answer(f, SEQB_FENCED, SEQB_NO_WINDOW); /* the connection is well */
}

/* --- neighbours --- */

TEST_SKIPPABLE(STARTED, anothers_item_is_refused_and_stays_as_it_is)
{
    static const struct {
        const char *command;
        const char *value;
    } rows[] = {
        {"ms " KEY " 4\r\n4096", "4096"},
        {"ms " KEY " 4 F10\r\n4096", "4096"},
        {"ms " KEY " 5 F1936785418\r\nhello", "hello"},
        {"ms " KEY " 5 F1936785418\r\n4096 ", "4096 "},
        {"ms " KEY " 1 F1936785418\r\n0", "0"},
        {"ms " KEY " 0 F1936785418\r\n", ""},
    };
    int64_t out;

    for (size_t i = 0; i < COUNT(rows); i++) {
        must_execute(f, rows[i].command, "HD\r\n");
        must_answer(f, SEQB_REFUSED, SEQB_NO_WINDOW);
        assert_int_equal(install(f, 5, SIZE, &out), SEQB_REFUSED);
        assert_non_null(strstr(f->err.text, KEY));
        assert_int_equal(raise_to(f, INT64_MAX, &out), SEQB_REFUSED);
        must_hold(f, rows[i].value);
    }
}

TEST_SKIPPABLE(STARTED, large_item_of_another_stops_only_its_counter)
{
    static char command[900100];
    struct seqb_request requests[] = {
        {.counter = "large", .want = 1, .limit = SIZE},
        {.counter = COUNTER, .want = 1, .limit = SIZE},
        {.counter = "none", .want = 0, .limit = SIZE},
    };

    must_install(f, 1);
    (void)text_format(command, sizeof command,
                      "ms seqbroker:large 900000 F1936785418\r\n%0900000d", 1);
    must_execute(f, command, "HD\r\n");
    for (int i = 0; i < 2; i++) {
        assert_ok(backend_memcached.reserve(f->backend, requests,
                                            COUNT(requests), &f->err));
        assert_int_equal(requests[0].status, SEQB_REFUSED);
        assert_ok(requests[1].status);
        assert_int_equal(requests[1].block.first, i);
        assert_int_equal(requests[2].status, SEQB_INVALID);
    }
}

TEST_SKIPPABLE(STARTED, anothers_item_under_a_claim_is_refused)
{
    char standing[64];

    must_execute(f, "ms seqbroker:claim:layout 1\r\nx", "HD\r\n");
    assert_int_equal(backend_memcached.claim(f->backend, "layout", "y",
                                             standing, sizeof standing,
                                             &f->err),
                     SEQB_REFUSED);
    must_execute(f, "mg seqbroker:claim:layout v", "VA 1\r\nx\r\n");
}

TEST_SKIPPABLE(STARTED, counter_named_like_a_claim_is_not_mixed_with_it)
{
    struct seqb_request request = {
        .counter = "claim:layout", .want = 1, .limit = SIZE};
    char standing[64];

    assert_ok(backend_memcached.claim(f->backend, "layout", "4096", standing,
                                      sizeof standing, &f->err));
    assert_ok(backend_memcached.reserve(f->backend, &request, 1, &f->err));
    assert_int_equal(request.status, SEQB_REFUSED);
}

/* --- servers that hang or are refused --- */

TEST_SKIPPABLE(STARTED, stopped_server_obeys_the_deadline)
{
    char standing[64];
    int64_t out;

    must_install(f, 1);
    f->options.timeout_ms = 200;
    for (int i = 0; i < 4; i++) {
        f->options.connect_timeout_ms = 20000;
        assert_ok(fixture_open(f));
        server_pause(f->server);
        if (i == 0)
            must_fail(f, SEQB_UNCERTAIN);
        else if (i == 1)
            assert_int_equal(install(f, 2, SIZE, &out), SEQB_UNCERTAIN);
        else if (i == 2)
            assert_int_equal(raise_to(f, 5, &out), SEQB_UNCERTAIN);
        else
            assert_int_equal(backend_memcached.claim(f->backend, "a", "b",
                                                     standing, sizeof standing,
                                                     &f->err),
                             SEQB_UNCERTAIN);
        assert_non_null(strstr(f->err.text, "no answer within 200 ms"));
        must_fail(f, SEQB_UNREACHABLE); /* and stays lost */
        f->options.connect_timeout_ms = 200;
        assert_int_equal(fixture_open(f), SEQB_UNREACHABLE);
        assert_non_null(strstr(f->err.text, "no answer within 200 ms"));
        server_resume(f->server);
    }
}

TEST_STATE(ON_SERVER, server_without_compare_and_swap_is_refused)
{
    static const char *const args[] = {"-C", NULL};
    struct fixture *f = fixture_start(state, args);

    assert_int_equal(fixture_open(f), SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, "-C"));
    assert_null(f->backend);
}

TEST_STATE(ON_SERVER, memory_in_a_file_is_unsafe_unless_accepted)
{
    static const char *const args[] = {"-e", "memory", NULL};
    struct fixture *f = fixture_start(state, args);

    assert_int_equal(fixture_open(f), SEQB_UNSAFE);
    assert_non_null(strstr(f->err.text, "accept_loss"));
    f->options.accept_loss = true;
    assert_ok(fixture_open(f));
    assert_non_null(strstr(f->backend->loss, "memory file"));
}

TEST_SKIPPABLE(STARTED, options_that_it_cannot_serve_are_refused)
{
    must_refuse_options(f);
}

TEST_SKIPPABLE(STARTED, batch_that_its_socket_cannot_hold_is_sent_whole)
{
    const int least = 1; /* the kernel makes some kB of it */

    assert_int_equal(
        setsockopt(f->backend->fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least),
        0);
    (void)must_take_many(f);
}

TEST_SKIPPABLE(STARTED, arguments_that_no_counter_has_are_refused)
{
    must_refuse_arguments(f);
}

TEST_SKIPPABLE(STARTED, host_is_found_by_name_and_domain_names_it)
{
    char domain[64];

    f->options.host = "localhost"; /* ::1 first, where nobody listens */
    assert_ok(fixture_open(f));
    (void)text_format(domain, sizeof domain, "localhost:%d",
                      (int)f->options.port);
    assert_string_equal(f->backend->domain, domain);
    assert_true(f->backend->fd >= 0);
    assert_int_equal(strncmp(f->backend->server, "memcached 1.", 12), 0);
    assert_string_equal(f->backend->loss, "");
    assert_int_equal(backend_memcached.guarantee, SEQB_WINDOWED);
}

TEST_STATE(ON_SERVER, unix_socket_serves_too)
{
    static const char *const args[] = {"-s", "s", NULL};
    struct fixture *f = fixture_start(state, args);

    f->options.host = NULL;
    f->options.port = 0;
    f->options.socket_path = server_socket(f->server);
    assert_ok(fixture_open(f));
    assert_string_equal(f->backend->domain, server_socket(f->server));
    must_install(f, 1);
    must_grant(f, 1, 0, 10);
}

/* --- passwords --- */

static void password_file_make(char *out, size_t size)
{
    FILE *file;

    (void)text_copy(out, size, "/tmp/seqb-auth-XXXXXX");
    file = fdopen(mkstemp(out), "we");
    assert_non_null(file);
    (void)fprintf(file, "seq:sesame\n");
    assert_int_equal(fchmod(fileno(file), 0644), 0);
    assert_int_equal(fclose(file), 0);
}

TEST_STATE(ON_SERVER, password_is_sent_to_a_server_that_asks_for_it)
{
    char file[64];
    const char *const args[] = {"-Y", file, NULL};
    struct fixture *f;

    server_require("memcached");
    password_file_make(file, sizeof file);
    f = fixture_start(state, args);
    (void)unlink(file);
    assert_int_equal(fixture_open(f), SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, "password"));
    f->options.user = "seq";
    f->options.password = "wrong";
    assert_int_equal(fixture_open(f), SEQB_REFUSED);
    assert_null(strstr(f->err.text, "wrong"));
    f->options.password = "sesame";
    assert_ok(fixture_open(f));
    must_install(f, 1);
    must_grant(f, 1, 0, 10);
}

/* Another server would keep it, as the value of an item. */
TEST_SKIPPABLE(STARTED, password_is_not_sent_to_a_server_that_does_not_ask)
{
    f->options.user = "seq";
    f->options.password = "sesame";
    assert_ok(fixture_open(f));
    memcached_execute(f->server, "stats", f->answer, sizeof f->answer);
    assert_non_null(strstr(f->answer, "STAT total_items 0\r\n"));
}
