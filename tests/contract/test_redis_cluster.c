/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Redis Cluster as one backend: slots that move, masters that die. A window
 * is installed once, so that each value of each window may come once.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/backends.h"
#include "backends/redis/slot.h"
#include "contract/windowed_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/server_cluster.h"

#define KEY             "seqbroker:{" COUNTER "}"
#define BROKERS         2
#define STEPS           700
#define WINDOWS_MAX     (STEPS + 100)
#define PATIENCE_MS     INT64_C(60000)
#define NODE_TIMEOUT_MS 500

/* As docs/operations.md has them. */
#define RIGHTS                                                                 \
    "+select +info +script|load +evalsha +type +get +set +del +hmget +hset "   \
    "+hincrby +expire +time +cluster|slots +asking +persist"

struct scene {
    struct fixture f; /* without a server of its own */
    struct cluster *cluster;
};

static void user_make(struct server *server)
{
    redis_execute(server, "ACL SETUSER seq on >rye ~seqbroker:* " RIGHTS);
}

static struct scene *scene_with(void **state, int node_timeout_ms)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    *state = scene;
    scene->cluster = cluster_new(node_timeout_ms);
    for (size_t i = 0; i < CLUSTER_SERVERS; i++)
        user_make(scene->cluster->servers[i]);
    scene->f.ops = &backend_redis;
    scene->f.options = (struct seqb_backend_options){
        .name = "redis-a",
        .endpoints = scene->cluster->endpoints,
        .user = "seq",
        .password = "rye",
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
    };
    return scene;
}

/* Of a cluster in which nobody is replaced. */
static struct scene *scene_start(void **state)
{
    return scene_with(state, 60000);
}

static int scene_stop(void **state)
{
    struct scene *scene = *state;

    if (scene == NULL)
        return 0;
    backend_redis.close(scene->f.backend);
    cluster_free(scene->cluster);
    free(scene);
    return 0;
}

#define SCENE   FIXTURE(struct scene *scene, NULL, scene_stop)
#define STARTED FIXTURE(struct scene *scene, scene_start, scene_stop)

static void must_open(struct scene *scene)
{
    assert_done(fixture_open(&scene->f), scene->f.err);
}

static void must_not_open(struct scene *scene, enum seqb_status status,
                          const char *words)
{
    assert_status(fixture_open(&scene->f), status);
    if (strstr(scene->f.err.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", scene->f.err.text, words);
}

/* The key is there, though it may not be served there. */
static bool key_is_on(struct scene *scene, size_t server)
{
    redisReply *reply =
        server_ask(scene->cluster->servers[server],
                   "CLUSTER COUNTKEYSINSLOT %u", slot_of_key(KEY));
    const bool is_there = reply->integer > 0;

    freeReplyObject(reply);
    return is_there;
}

static size_t owner(struct scene *scene)
{
    return cluster_owner(scene->cluster, 0, slot_of_key(KEY));
}

TEST_STATE(SCENE, counters_of_a_call_are_on_all_servers)
{
    struct seqb_details details = {.node = ""};
    struct scene *scene = scene_start(state);
    struct fixture *f = &scene->f;

    must_open(scene);
    assert_non_null(strstr(f->backend->server, "redis cluster 7"));
    assert_ok(f->ops->describe(f->backend, &details, &f->err));
    assert_string_equal(details.role, "master");
    assert_string_equal(details.quorum, ""); /* for want of a right */
    for (size_t i = 0; i < CLUSTER_SERVERS; i++)
        redis_execute(scene->cluster->servers[i],
                      "ACL SETUSER seq +cluster|info");
    assert_ok(f->ops->describe(f->backend, &details, &f->err));
    assert_string_equal(details.quorum, "2 of 3 masters, state ok");
    assert_memory_equal(details.node, "127.0.0.1:", 10);
    assert_string_equal(details.tls, "none");
    assert_string_not_equal(details.replicas, "");
    assert_int_equal(must_take_many(f), MANY + MANY / 2);
    for (size_t i = 0; i < CLUSTER_MASTERS; i++) {
        redisReply *reply = server_ask(scene->cluster->servers[i], "DBSIZE");

        assert_true(reply->integer > MANY / 6);
        freeReplyObject(reply);
    }
}

TEST_SKIPPABLE(STARTED, slot_that_moved_is_followed)
{
    const unsigned slot = slot_of_key(KEY);
    const size_t from = owner(scene);
    const size_t to = (from + 1) % CLUSTER_MASTERS;

    must_open(scene);
    must_install(&scene->f, 1);
    must_take(&scene->f, 1, 0, 10);
    cluster_slot_begin(scene->cluster, from, to, slot);
    must_take(&scene->f, 1, 10, 10); /* not moved yet */
    cluster_slot_keys(scene->cluster, from, to, slot);
    assert_true(key_is_on(scene, to));
    must_answer(&scene->f, SEQB_FENCED, 1); /* by ASK: not where it counted */
    must_install(&scene->f, 2);
    must_take(&scene->f, 2, 0, 10);
    cluster_slot_end(scene->cluster, from, to, slot);
    must_take(&scene->f, 2, 10, 10); /* by MOVED, and from then on */
    must_take(&scene->f, 2, 20, 10);
    assert_false(key_is_on(scene, from));
}

/* A key that comes while its slot is on its way is made where the slot goes. */
TEST_SKIPPABLE(STARTED, counter_that_is_new_in_a_moving_slot_is_made_once)
{
    const unsigned slot = slot_of_key(KEY);
    const size_t from = owner(scene);
    const size_t to = (from + 1) % CLUSTER_MASTERS;

    must_open(scene);
    cluster_slot_begin(scene->cluster, from, to, slot);
    must_answer(&scene->f, SEQB_FENCED, SEQB_NO_WINDOW);
    must_install(&scene->f, 1);
    assert_true(key_is_on(scene, to));
    assert_false(key_is_on(scene, from));
    must_take(&scene->f, 1, 0, 10);
    cluster_slot_end(scene->cluster, from, to, slot);
    must_take(&scene->f, 1, 10, 10);
}

/* --- numbers while slots move --- */

/* All values that were granted, by windows. */
struct taken {
    bool values[WINDOWS_MAX][SIZE];
    int64_t windows; /* leased so far */
    int64_t count;
    int64_t repeats;
};

static void taken_add(struct taken *taken, const struct seqb_request *request)
{
    for (int64_t i = 0; i < request->block.count; i++) {
        bool *value = &taken->values[request->window][request->block.first + i];

        taken->repeats += *value;
        *value = true;
    }
    taken->count += request->block.count;
}

/* Takes, and where the cell is fenced or used up installs a window that nobody
 * had. False if the cluster did not answer. */
static bool broker_step(struct fixture *f, struct taken *taken)
{
    enum seqb_status call;
    const struct seqb_request request = ask(f, 100, SIZE, &call);
    int64_t standing;

    if (call != SEQB_OK)
        return false;
    if (request.status == SEQB_OK) {
        taken_add(taken, &request);
        return true;
    }
    if (request.status != SEQB_FENCED && request.status != SEQB_EXHAUSTED)
        return false;
    assert_true(taken->windows + 1 < WINDOWS_MAX);
    return install(f, ++taken->windows, SIZE, &standing) == SEQB_OK ||
           f->err.status == SEQB_FENCED;
}

/* One of the three steps by which a slot moves, round and round. */
static void slot_step(struct scene *scene, int step)
{
    const unsigned slot = slot_of_key(KEY);
    const size_t from = (size_t)(step / 3) % CLUSTER_MASTERS;
    const size_t to = (from + 1) % CLUSTER_MASTERS;

    if (step % 3 == 0)
        cluster_slot_begin(scene->cluster, from, to, slot);
    else if (step % 3 == 1)
        cluster_slot_keys(scene->cluster, from, to, slot);
    else
        cluster_slot_end(scene->cluster, from, to, slot);
}

/* The servers may disagree for a moment; a pool opens the backend again. */
static void open_again(struct fixture *f, int64_t until_ms)
{
    do {
        if (clock_now_ms() > until_ms)
            fail_msg("%s", f->err.text);
    } while (fixture_open(f) != SEQB_OK);
}

TEST_SKIPPABLE(STARTED, no_number_repeats_while_its_slot_moves_to_and_fro)
{
    struct fixture brokers[BROKERS];
    struct taken *taken = calloc(1, sizeof *taken);
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    int moves = 3 * (int)owner(scene);

    assert_non_null(taken);
    for (size_t i = 0; i < BROKERS; i++) {
        brokers[i] = scene->f;
        assert_ok(fixture_open(&brokers[i]));
    }
    for (int step = 0; step < STEPS / SEQB_TEST_SCALE; step++) {
        struct fixture *broker = &brokers[step % BROKERS];

        if (step % 7 == 0)
            slot_step(scene, moves++);
        while (!broker_step(broker, taken))
            open_again(broker, until_ms);
    }
    print_message("%lld numbers of %lld windows, %d moves\n",
                  (long long)taken->count, (long long)taken->windows,
                  moves / 3);
    assert_int_equal(taken->repeats, 0);
    assert_true(taken->count > STEPS / SEQB_TEST_SCALE);
    for (size_t i = 0; i < BROKERS; i++)
        backend_redis.close(brokers[i].backend);
    free(taken);
}

TEST_STATE(SCENE, no_number_repeats_when_a_master_dies)
{
    struct scene *scene = scene_with(state, NODE_TIMEOUT_MS);
    struct taken *taken = calloc(1, sizeof *taken);
    const size_t dead = owner(scene);
    const size_t other = (dead + 1) % CLUSTER_MASTERS;
    int64_t begin_ms;
    bool is_back = false;

    assert_non_null(taken);
    must_open(scene);
    for (int i = 0; i < 50; i++)
        assert_true(broker_step(&scene->f, taken));
    server_kill(scene->cluster->servers[dead]);
    begin_ms = clock_now_ms();
    while (!is_back && clock_now_ms() < begin_ms + PATIENCE_MS) {
        is_back = scene->f.backend != NULL && broker_step(&scene->f, taken);
        if (!is_back && fixture_open(&scene->f) != SEQB_OK)
            nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    assert_true(is_back);
    print_message("back after %lld ms, the cluster's node time-out is %d\n",
                  (long long)(clock_now_ms() - begin_ms), NODE_TIMEOUT_MS);
    while (cluster_owner(scene->cluster, other, slot_of_key(KEY)) == dead)
        assert_true(clock_now_ms() < begin_ms + PATIENCE_MS);
    for (int i = 0; i < 50; i++)
        assert_true(broker_step(&scene->f, taken));
    server_start(scene->cluster->servers[dead]);
    user_make(scene->cluster->servers[dead]);
    cluster_await(scene->cluster, dead);
    must_open(scene);
    for (int i = 0; i < 50; i++)
        assert_true(broker_step(&scene->f, taken));
    assert_int_equal(taken->repeats, 0);
    free(taken);
}

/* --- who is asked --- */

TEST_SKIPPABLE(STARTED, any_server_of_the_cluster_leads_to_all)
{
    char nobody[32];
    const char *const endpoints[] = {
        nobody, scene->cluster->addresses[CLUSTER_SERVERS - 1], NULL};

    (void)text_format(nobody, sizeof nobody, "127.0.0.1:%d", (int)free_port());
    scene->f.options.endpoints = endpoints; /* nobody, and a replica */
    must_open(scene);
    must_install(&scene->f, 1);
    must_take(&scene->f, 1, 0, 10);
}

TEST_SKIPPABLE(STARTED, what_is_no_cluster_is_said)
{
    struct server *single = server_redis(NULL);
    char address[32];
    const char *const endpoints[] = {address, NULL};

    (void)text_format(address, sizeof address, "127.0.0.1:%d",
                      (int)server_port(single));
    scene->f.options.user = NULL;
    scene->f.options.password = NULL;
    scene->f.options.endpoints = endpoints;
    must_not_open(scene, SEQB_REFUSED, "cluster support disabled");
    scene->f.options.endpoints = NULL;
    scene->f.options.host = "127.0.0.1";
    scene->f.options.port = server_port(
        scene->cluster->servers[(owner(scene) + 1) % CLUSTER_MASTERS]);
    must_open(scene);
    must_fail(&scene->f, SEQB_REFUSED);
    assert_non_null(strstr(scene->f.err.text, "name some of them in"));
    server_free(single);
}

TEST_SKIPPABLE(STARTED, cluster_that_serves_no_slot_is_said)
{
    char port[16];
    const char *const args[] = {"--cluster-enabled", "yes", "--cluster-port",
                                port, NULL};
    struct server *empty;
    char address[32];
    const char *const endpoints[] = {address, NULL};

    (void)text_format(port, sizeof port, "%d", (int)free_port());
    empty = server_redis(args);
    (void)text_format(address, sizeof address, "127.0.0.1:%d",
                      (int)server_port(empty));
    scene->f.options.user = NULL;
    scene->f.options.password = NULL;
    scene->f.options.endpoints = endpoints;
    must_not_open(scene, SEQB_UNREACHABLE, "has given no slot to a server");
    server_free(empty);
}
