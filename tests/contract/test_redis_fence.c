/* SPDX-License-Identifier: Apache-2.0 */
/* How the redis engine's cells are fenced: ways of forgetting, changes of
 * role, and windows far above what a double holds. */
#include <string.h>

#include "contract/redis_fixture.h"
#include "platform/text.h"
#include "support/test.h"

/* --- forgetting --- */

TEST_SKIPPABLE(STARTED, evicted_cell_is_fenced)
{
    const int64_t used = info_number(f, "memory", "used_memory:");

    must_install(f, 1);
    must_grant(f, 1, 0, 10);
    redis_execute(f->server, "CONFIG SET maxmemory-policy allkeys-random");
    redis_execute(f->server, "CONFIG SET maxmemory %lld", (long long)used);
    for (int i = 0; i < 100000 && key_exists(f, KEY); i++)
        redis_execute(f->server, "SET filler:%d %0256d", i, i);
    assert_false(key_exists(f, KEY));
    must_answer(f, SEQB_FENCED, SEQB_NO_WINDOW);
    assert_false(key_exists(f, KEY));
}

TEST_SKIPPABLE(STARTED, cell_of_another_process_is_fenced)
{
    const char *replid = strchr(f->backend->origin, ':');

    assert_non_null(replid);
    must_install(f, 7);
    must_hold(f, "origin", f->backend->origin);
    redis_execute(f->server, "HSET %s origin %040d%s", KEY, 0, replid);
    must_answer(f, SEQB_FENCED, 7);
    must_hold(f, "v", "0");
}

TEST_SKIPPABLE(STARTED, cell_without_all_its_fields_is_refused)
{
    static const char *const broken[][5] = {
        {"HSET", KEY, "v", "-3"},   {"HSET", KEY, "v", "1.5"},
        {"HSET", KEY, "v", "x"},    {"HSET", KEY, "v", ""},
        {"HSET", KEY, "hi", "1e3"}, {"HSET", KEY, "w", "x"},
        {"HDEL", KEY, "w"},         {"HDEL", KEY, "origin"},
        {"HDEL", KEY, "v"},         {"HDEL", KEY, "hi"},
    };
    int64_t out;

    for (size_t i = 0; i < COUNT(broken); i++) {
        redis_execute(f->server, "DEL " KEY);
        must_install(f, (int64_t)i + 1);
        server_tell_words(f->server, broken[i]);
        must_answer(f, SEQB_REFUSED, SEQB_NO_WINDOW);
        assert_int_equal(install(f, 100, SIZE, &out), SEQB_REFUSED);
        assert_int_equal(raise_to(f, 100, &out), SEQB_REFUSED);
    }
}

/* --- roles --- */

TEST_SKIPPABLE(STARTED, demoted_master_changes_nothing_even_if_writable)
{
    char standing[64];
    int64_t out;

    must_install(f, 1);
    must_grant(f, 1, 0, 10);
    redis_execute(f->server, "CONFIG SET replica-read-only no");
    redis_execute(f->server, "REPLICAOF 127.0.0.1 %d", (int)free_port());
    must_fail(f, SEQB_ROLE);
    must_hold(f, "v", "10");
    assert_int_equal(install(f, 2, SIZE, &out), SEQB_ROLE);
    assert_int_equal(raise_to(f, 5, &out), SEQB_ROLE);
    must_hold(f, "w", "1");
    assert_int_equal(backend_redis.claim(f->backend, "layout", "x", standing,
                                         sizeof standing, &f->err),
                     SEQB_ROLE);
    assert_false(key_exists(f, CLAIM_KEY));
}

TEST_SKIPPABLE(STARTED, demoted_and_promoted_again_is_fenced)
{
    char before[SEQB_ORIGIN_SIZE];
    const size_t run_id = strcspn(f->backend->origin, ":");

    (void)text_copy(before, sizeof before, f->backend->origin);
    must_install(f, 1);
    must_grant(f, 1, 0, 10);
    redis_execute(f->server, "REPLICAOF 127.0.0.1 %d", (int)free_port());
    redis_execute(f->server, "REPLICAOF NO ONE");
    must_answer(f, SEQB_FENCED, 1);
    must_hold(f, "v", "10");
    must_install(f, 2);
    must_grant(f, 2, 0, 1);

    assert_ok(fixture_open(f));
    assert_memory_equal(before, f->backend->origin, run_id); /* one process */
    assert_string_not_equal(before, f->backend->origin);
    must_grant(f, 2, 1, 1);
}

/* --- figures --- */

TEST_SKIPPABLE(STARTED, windows_are_exact_far_above_a_double)
{
    static const int64_t windows[] = {
        (INT64_C(1) << 53) - 1, (INT64_C(1) << 53),     (INT64_C(1) << 53) + 1,
        (INT64_C(1) << 62),     (INT64_C(1) << 62) + 1, INT64_MAX - 1};
    int64_t out;

    for (size_t i = 0; i < COUNT(windows); i++) {
        const int64_t w = windows[i];

        assert_ok(raise_to(f, w - 1, &out)); /* drops */
        assert_int_equal(out, w - 1);
        must_install(f, w);
        must_grant(f, w, 0, SIZE);
        assert_int_equal(install(f, w, SIZE, &out), SEQB_FENCED);
        assert_int_equal(out, w);
        assert_int_equal(install(f, w - 1, SIZE, &out), SEQB_FENCED);
        assert_ok(raise_to(f, w - 1, &out));
        assert_int_equal(out, w); /* stays */
        must_install(f, w + 1);
        must_grant(f, w + 1, 0, 1);
        assert_ok(raise_to(f, w + 1, &out));
        assert_int_equal(out, w + 1);
        assert_false(key_exists(f, KEY));
    }
}

TEST_SKIPPABLE(STARTED, windows_compare_by_value_not_as_text)
{
    int64_t out;

    must_install(f, 9);
    must_grant(f, 9, 0, SIZE);
    must_install(f, 10);
    must_grant(f, 10, 0, SIZE);
    assert_int_equal(install(f, 9, SIZE, &out), SEQB_FENCED);
    assert_int_equal(out, 10);
    assert_ok(raise_to(f, 9, &out));
    assert_int_equal(out, 10);
}

TEST_SKIPPABLE(STARTED, largest_window_ends_exactly)
{
    const int64_t size = INT64_C(1) << 40;
    struct seqb_request request;
    enum seqb_status call;
    int64_t out;

    assert_ok(install(f, 1, size, &out));
    redis_execute(f->server, "HSET " KEY " v %lld", (long long)size - 5);
    request = ask(f, SEQB_GRANT_MAX, size, &call);
    assert_ok(request.status);
    assert_int_equal(request.block.first, size - 5);
    assert_int_equal(request.block.count, 5);
    request = ask(f, 1, size, &call);
    assert_int_equal(request.status, SEQB_EXHAUSTED);
    assert_int_equal(request.window, 1);
    request = ask(f, 1, size + 1, &call);
    assert_int_equal(request.status, SEQB_INVALID);
    assert_int_equal(install(f, 2, size + 1, &out), SEQB_INVALID);
}

TEST_BEFORE_ALL(without_sigpipe);
