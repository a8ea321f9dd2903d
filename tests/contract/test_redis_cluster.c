/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Redis Cluster as one backend: who is asked, and a counter whose slot moves.
 * Numbers while slots move and masters die are the chaos suite's.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/redis/slot.h"
#include "contract/windowed_fixture.h"
#include "platform/text.h"
#include "support/server_cluster.h"

#define KEY             "seqbroker:{" COUNTER "}"
#define NODE_TIMEOUT_MS 60000 /* nobody is replaced */

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

static struct scene *scene_start(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    *state = scene;
    scene->cluster = cluster_new(NODE_TIMEOUT_MS);
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

TEST_SKIPPABLE(STARTED, counters_of_a_call_are_on_all_servers)
{
    struct seqb_details details = {.node = ""};
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
