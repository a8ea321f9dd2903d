/* SPDX-License-Identifier: Apache-2.0 */
/* Probing a topology with a private Redis server, in every plight. */
#include <string.h>

#include "platform/text.h"
#include "probe_log.h"
#include "support/server_redis.h"
#include "support/test.h"

static struct server *redis;

/* Redis in partition 0, a file in partition 1 and one as the authority;
 * `more` is said of the redis backend. */
static const char *write_redis(const struct scene *scene, const char *more)
{
    static const char template[] =
        "backends = ("
        "  { name = \"r\"; engine = \"redis\"; port = %d; %s },"
        "  " FILE_BACKEND("f") ", " FILE_BACKEND(
            "a") " );"
                 "pools = ( { name = \"main\"; authority = \"a\"; timeout = "
                 "\"20s\";"
                 "            partitions = [ \"r\", \"f\" ]; } );" ORDER;
    char text[PROBE_LOG_TEXT_SIZE];

    assert_true(text_format(text, sizeof text, template,
                            (int)server_port(redis), more));
    return scene_write(scene, "redis.conf", text);
}

static void start_redis(void)
{
    if (redis == NULL)
        redis = server_redis(NULL);
    redis_execute(redis, "FLUSHALL");
}

TEST_WITH(SCENE, server_in_use_is_well)
{
    const char *topology;
    const struct probe_log *told;

    start_redis();
    topology = write_redis(scene, "");
    scene_use(scene, topology, 1000);
    told = probe_log_of(write_redis(scene, ""), NULL);
    probe_log_expect(told, SEQB_OK);
    probe_log_expect_well(told, 0, "main/0");
    assert_true(told->found[0].is_windowed);
    assert_memory_equal(told->found[0].server, "redis ", 6);
    assert_string_equal(told->found[0].details.role, "master");
    assert_string_equal(told->found[0].details.replicas, "none");
    assert_string_equal(told->found[1].details.node, ""); /* a file */
    probe_log_expect_well(told, 1, "main/1");
    probe_log_expect_well(told, 2, "main");
    assert_true(told->found[2].is_authority);
    assert_int_equal(told->found[2].partition, -1);
    scene_expect_words(told->warnings,
                       "pool main: all windows come from one authority, a:");
    scene_expect_words(told->warnings, "pool main: the authority a stands on "
                                       "the server of partition 1 (f)");
    assert_null(strstr(told->warnings, "pool main: r"));
}

TEST_WITH(SCENE, fresh_server_claims_nothing_and_keeps_nothing)
{
    redisReply *reply;

    start_redis();
    probe_log_expect_well(probe_log_of(write_redis(scene, ""), NULL), 0, "");
    reply = server_ask(redis, "DBSIZE");
    assert_int_equal(reply->integer, 0);
    freeReplyObject(reply);
}

TEST_WITH(SCENE, dead_server_is_unreachable)
{
    const struct probe_log *told;

    start_redis();
    scene_use(scene, write_redis(scene, ""), 1000);
    server_kill(redis);
    told = probe_log_of(write_redis(scene, ""), NULL);
    probe_log_expect(told, SEQB_UNAVAILABLE);
    probe_log_expect_found(told, 0, SEQB_UNREACHABLE, "refused");
    probe_log_expect_well(told, 1, "main/1");
    server_start(redis);
}

TEST_WITH(SCENE, server_that_hangs_is_left_after_the_time_out)
{
    const struct probe_log *told;

    start_redis();
    server_pause(redis);
    told =
        probe_log_of(write_redis(scene, "connect_timeout = \"50ms\";"), NULL);
    server_resume(redis);
    probe_log_expect(told, SEQB_UNAVAILABLE);
    probe_log_expect_found(told, 0, SEQB_UNREACHABLE, "r");
    assert_true(told->found[0].open_us == 0);
}

TEST_WITH(SCENE, replica_is_told_by_its_role)
{
    const struct probe_log *told;

    start_redis();
    redis_execute(redis, "REPLICAOF 127.0.0.1 %d", (int)free_port());
    told = probe_log_of(write_redis(scene, ""), NULL);
    redis_execute(redis, "REPLICAOF NO ONE");
    probe_log_expect(told, SEQB_UNAVAILABLE);
    probe_log_expect_found(told, 0, SEQB_ROLE, "");
}

TEST_WITH(SCENE, wrong_password_is_refused_and_not_told)
{
    const struct probe_log *told;

    start_redis();
    redis_execute(redis, "CONFIG SET requirepass right-secret");
    told =
        probe_log_of(write_redis(scene, "password = \"wrong-secret\";"), NULL);
    probe_log_expect(told, SEQB_UNAVAILABLE);
    probe_log_expect_found(told, 0, SEQB_REFUSED, "");
    assert_null(strstr(told->found[0].reason, "wrong-secret"));
    assert_null(strstr(told->err.text, "wrong-secret"));
    told =
        probe_log_of(write_redis(scene, "password = \"right-secret\";"), NULL);
    probe_log_expect_well(told, 0, "");
    redis_execute(redis, "AUTH right-secret");
    redis_execute(redis, "CONFIG SET requirepass %s", "");
}

TEST_WITH(SCENE, two_partitions_of_one_server_are_warned_of)
{
    static const char template[] =
        "backends = ("
        "  { name = \"r\"; engine = \"redis\"; port = %d; prefix = \"x\"; },"
        "  { name = \"s\"; engine = \"redis\"; port = %d; prefix = \"y\"; },"
        "  " FILE_BACKEND(
            "a") " );"
                 "pools = ( { name = \"main\"; authority = \"a\";"
                 "            partitions = [ \"r\", \"s\" ]; } );" ORDER;
    char text[PROBE_LOG_TEXT_SIZE];
    const struct probe_log *told;

    start_redis();
    assert_true(text_format(text, sizeof text, template,
                            (int)server_port(redis), (int)server_port(redis)));
    told = probe_log_of(scene_write(scene, "t.conf", text), NULL);
    probe_log_expect_well(told, 0, "");
    probe_log_expect_well(told, 1, "");
    scene_expect_words(told->warnings,
                       "pool main: r, s stand on one server or disk (");
    assert_null(strstr(told->warnings, "authority a stands on"));
}

static int stop_redis(void **state)
{
    (void)state;
    server_free(redis);
    redis = NULL;
    return 0;
}

TEST_AFTER_ALL(stop_redis);
