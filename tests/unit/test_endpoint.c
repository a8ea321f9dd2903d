/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which backends are one server, and how often one that is dead is tried: a
 * pool of four partitions on it, with the gate before it as a worker has it.
 */
#include "pool_fixture.h"

#include <string.h>

#include "store/endpoint.h"
#include "support/test.h"

/* --- the gate --- */

TEST(a_server_that_is_well_may_be_tried_at_any_time)
{
    struct endpoint_gate gate = {.is_down = false};

    for (int64_t now_ms = 0; now_ms < 100; now_ms++)
        assert_int_equal(endpoint_gate_enter(&gate, now_ms), 0);
}

TEST(one_that_is_down_may_be_tried_twice_a_second)
{
    struct endpoint_gate gate = {.is_down = true};

    assert_int_equal(endpoint_gate_enter(&gate, 10000), 0);
    for (int64_t now_ms = 10000; now_ms < 10500; now_ms++)
        assert_int_equal(endpoint_gate_enter(&gate, now_ms), 10500);
    assert_int_equal(endpoint_gate_enter(&gate, 10500), 0);
    assert_int_equal(endpoint_gate_enter(&gate, 10500), 11000);
    assert_int_equal(endpoint_gate_enter(&gate, 90000), 0);
    assert_int_equal(endpoint_gate_enter(&gate, 90001), 90500);
}

/* The attempt that found it so was one. */
TEST(the_attempt_that_found_it_down_counts)
{
    struct endpoint_gate gate = {.is_down = false};

    assert_int_equal(endpoint_gate_enter(&gate, 10000), 0);
    gate.is_down = true;
    assert_int_equal(endpoint_gate_enter(&gate, 10001), 10500);
    assert_int_equal(endpoint_gate_enter(&gate, 10500), 0);
}

static struct store_options backend_at(const char *host, int32_t port)
{
    static const struct seqb_backend_ops ops = {.engine = "mysql-row"};

    return (struct store_options){
        .ops = &ops, .options = {.name = "a", .host = host, .port = port}};
}

TEST(what_was_noted_opens_and_shuts_the_gate)
{
    const struct store_options options = backend_at("db", 3306);
    struct endpoint servers[1];
    size_t count = 0;
    struct endpoint *server = endpoint_find(servers, &count, &options);

    assert_int_equal(endpoint_enter(server, 10000), 0);
    assert_int_equal(endpoint_enter(server, 10000), 0);
    endpoint_note(server, true);
    assert_int_equal(endpoint_enter(server, 10001), 10500);
    endpoint_note(server, true);
    assert_int_equal(endpoint_enter(server, 10499), 10500);
    endpoint_note(server, false);
    assert_int_equal(endpoint_enter(server, 10499), 0);
    assert_int_equal(endpoint_enter(server, 10499), 0);
    endpoint_fini(server);
}

/* --- which are one --- */

static const char *const sentinels[] = {"10.0.0.1:26379", "10.0.0.2:26379",
                                        NULL};

static const struct {
    const char *engine;
    struct seqb_backend_options options;
    const char *address;
} addresses[] = {
    {"mysql-row", {.host = "db", .port = 3306}, "mysql:db:3306"},
    {"mysql-autoinc", {.host = "db", .port = 3306}, "mysql:db:3306"},
    {"postgres", {.host = "db", .port = 5432}, "postgres:db:5432"},
    {"redis", {.host = "10.0.0.1", .port = 6379}, "redis:10.0.0.1:6379"},
    {"redis", {.socket_path = "/run/redis"}, "redis:/run/redis"},
    {"mysql-row", {.host = "db", .socket_path = "/run/my"}, "mysql:/run/my"},
    {"redis",
     {.sentinels = sentinels, .master_name = "seq", .host = "x"},
     "redis:seq@10.0.0.1:26379"},
    {"redis",
     {.sentinels = sentinels + 2, .host = "x", .port = 1},
     "redis:x:1"},
    {"sqlite", {.path = "/var/lib/a.db"}, ""},
};

TEST(a_server_is_named_by_where_it_is)
{
    for (size_t i = 0; i < COUNT_OF(addresses); i++) {
        const struct seqb_backend_ops ops = {.engine = addresses[i].engine};
        const struct store_options options = {.ops = &ops,
                                              .options = addresses[i].options};
        char address[ENDPOINT_ADDRESS_SIZE] = "never";

        endpoint_address(&options, address, sizeof address);
        assert_string_equal(address, addresses[i].address);
    }
}

TEST(backends_at_one_address_are_one_server)
{
    const struct store_options a = backend_at("db", 3306);
    const struct store_options b = backend_at("db", 3307);
    const struct store_options again = backend_at("db", 3306);
    struct endpoint servers[3];
    size_t count = 0;
    struct endpoint *first = endpoint_find(servers, &count, &a);

    assert_ptr_equal(first, &servers[0]);
    assert_ptr_equal(endpoint_find(servers, &count, &b), &servers[1]);
    assert_ptr_equal(endpoint_find(servers, &count, &again), &servers[0]);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++)
        endpoint_fini(&servers[i]);
}

/* Files have no address: that they are alike in this makes them not one. */
TEST(each_store_without_a_server_is_one_of_its_own)
{
    struct store_options file = backend_at(NULL, 0);
    struct endpoint servers[2];
    size_t count = 0;

    assert_ptr_equal(endpoint_find(servers, &count, &file), &servers[0]);
    assert_ptr_equal(endpoint_find(servers, &count, &file), &servers[1]);
    for (size_t i = 0; i < count; i++)
        endpoint_fini(&servers[i]);
}

/* --- four partitions on a dead one --- */

#define MINUTE_MS 60000
#define ATTEMPTS  1000

struct scene {
    struct fixture fixture;
    struct endpoint_gate gate;
    bool is_alive;
    int64_t attempts[ATTEMPTS]; /* when each began */
    size_t count;
};

/* A probe that could not connect: all on that server are told. */
static void probe_is_refused(struct scene *scene, int32_t i, int64_t now_ms)
{
    scene->gate.is_down = true;
    for (int32_t j = 0; j < 4; j++) {
        const int32_t who = (i + j) % 4; /* itself, then the others */

        (void)fail_at(&scene->fixture, who, SEQB_UNREACHABLE, now_ms);
    }
}

/* As a worker does when its probe is due. */
static void worker_step(struct scene *scene, int32_t i, int64_t now_ms)
{
    struct pool *pool = &scene->fixture.pool;
    int64_t until_ms;

    if (pool_probe_at(pool, i) > now_ms)
        return;
    until_ms = endpoint_gate_enter(&scene->gate, now_ms);
    if (until_ms > 0) {
        pool_hold(pool, i, until_ms);
        return;
    }
    pool_probe_begins(pool, i, now_ms);
    assert_true(scene->count < ATTEMPTS);
    scene->attempts[scene->count++] = now_ms;
    if (!scene->is_alive) {
        probe_is_refused(scene, i, now_ms);
        return;
    }
    scene->gate = (struct endpoint_gate){.is_down = false};
    (void)answer_at(&scene->fixture, i, now_ms);
}

/* Callers wait, and force a probe at every look. */
static void scene_run(struct scene *scene, int64_t from_ms, int64_t to_ms,
                      bool somebody_waits)
{
    for (int64_t now_ms = from_ms; now_ms < to_ms; now_ms++) {
        if (somebody_waits && now_ms % 20 == 0)
            (void)pool_force_probe(&scene->fixture.pool, 0, now_ms);
        for (int32_t j = 0; j < 4; j++)
            worker_step(scene, (int32_t)(now_ms + j) % 4, now_ms);
    }
}

static void expect_two_a_second(const struct scene *scene)
{
    for (size_t i = 2; i < scene->count; i++)
        assert_true(scene->attempts[i] - scene->attempts[i - 2] >= 1000);
}

/* All four connections broke at once. */
static void scene_begin(struct scene *scene, uint64_t seed)
{
    *scene = (struct scene){.gate = {.is_down = seed % 4 == 0}};
    fixture_init_seeded(&scene->fixture, 2, seed);
    for (int32_t i = 0; i < 4; i++)
        (void)fail_at(&scene->fixture, i, SEQB_UNCERTAIN, START_MS);
}

TEST(a_dead_server_is_tried_twice_a_second_at_most)
{
    const int64_t end_ms = START_MS + MINUTE_MS;

    for (uint64_t seed = 2; seed < 42; seed += 2) {
        struct scene scene;
        int64_t begin_ms;

        scene_begin(&scene, seed);
        scene_run(&scene, START_MS, end_ms, true);
        expect_two_a_second(&scene);
        /* It is tried all the time, and back within a second. */
        assert_true(scene.count >= 100);
        assert_false(pool_has_usable(&scene.fixture.pool, 0));
        scene.is_alive = true;
        begin_ms = end_ms;
        while (!pool_has_usable(&scene.fixture.pool, 0)) {
            scene_run(&scene, begin_ms, begin_ms + 1, true);
            begin_ms++;
        }
        assert_true(begin_ms - end_ms <= 1000);
        scene_run(&scene, begin_ms, begin_ms + 1000, true);
        for (int32_t i = 0; i < 4; i++)
            assert_true(scene.fixture.pool.member[i].last_probe_ms >= end_ms);
    }
}

/* It is then left in peace more and more, as its rests say. */
TEST(a_dead_server_that_nobody_waits_for_is_tried_less)
{
    for (uint64_t seed = 2; seed < 42; seed += 2) {
        struct scene scene;
        size_t first;

        scene_begin(&scene, seed);
        scene_run(&scene, START_MS, START_MS + MINUTE_MS, false);
        expect_two_a_second(&scene);
        first = scene.count;
        scene_run(&scene, START_MS + MINUTE_MS, START_MS + 10 * MINUTE_MS,
                  false);
        assert_in_range(first, 10, 60);
        assert_in_range(scene.count - first, 4, 40);
    }
}
