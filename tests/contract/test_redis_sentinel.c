/* SPDX-License-Identifier: Apache-2.0 */
/* How the redis engine finds its master through sentinels, and what it says
 * when it does not. What it does with a master is in the other tests. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contract/impostor.h"
#include "contract/redis_fixture.h"
#include "contract/windowed_expiry.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/server_sentinel.h"
#include "support/test.h"

#define MASTER        "orders"
#define SENTINELS_MAX 3
#define ADDRESS_SIZE  32
#define PATIENCE_MS   60000

/* The fixture's server is the master. */
struct scene {
    struct fixture f;
    struct server *replica; /* NULL: none */
    struct server *sentinel;
    char addresses[SENTINELS_MAX][ADDRESS_SIZE];
    const char *sentinels[SENTINELS_MAX + 1];
};

static void address_make(char out[static ADDRESS_SIZE], int32_t port)
{
    assert_true(text_format(out, ADDRESS_SIZE, "127.0.0.1:%d", (int)port));
}

/* Asks the sentinels on these ports from now on; 0: no more. */
static void scene_ask(struct scene *scene, int32_t first, int32_t second,
                      int32_t third)
{
    const int32_t ports[SENTINELS_MAX] = {first, second, third};

    for (size_t i = 0; i < SENTINELS_MAX; i++) {
        address_make(scene->addresses[i], ports[i]);
        scene->sentinels[i] = ports[i] != 0 ? scene->addresses[i] : NULL;
    }
}

static struct scene *scene_with(void **state, bool has_replica)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    *state = scene;
    scene->sentinel = server_sentinel();
    scene->f.ops = &backend_redis;
    scene->f.server = server_redis(NULL);
    if (has_replica)
        scene->replica = server_replica(scene->f.server);
    sentinel_watch(scene->sentinel, MASTER, scene->f.server, has_replica);
    scene->f.options = (struct seqb_backend_options){
        .name = "redis-a",
        .sentinels = scene->sentinels,
        .master_name = MASTER,
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
    };
    scene_ask(scene, server_port(scene->sentinel), 0, 0);
    return scene;
}

static struct scene *scene_start(void **state)
{
    return scene_with(state, false);
}

static struct scene *scene_replicate(void **state)
{
    return scene_with(state, true);
}

static int scene_stop(void **state)
{
    struct scene *scene = *state;

    if (scene == NULL)
        return 0;
    backend_redis.close(scene->f.backend);
    server_free(scene->f.server);
    server_free(scene->replica);
    server_free(scene->sentinel);
    free(scene);
    return 0;
}

#define WATCHED    FIXTURE(struct scene *scene, scene_start, scene_stop)
#define REPLICATED FIXTURE(struct scene *scene, scene_replicate, scene_stop)

/* The backend is open, on that server. */
static void must_stand_on(struct scene *scene, const struct server *server)
{
    char address[ADDRESS_SIZE];

    assert_non_null(scene->f.backend);
    address_make(address, server_port(server));
    assert_string_equal(scene->f.backend->domain, address);
    assert_true(scene->f.backend->fd >= 0);
}

static void must_lead_to(struct scene *scene, const struct server *server)
{
    assert_done(fixture_open(&scene->f), scene->f.err);
    must_stand_on(scene, server);
}

/* It does not open, and the error has those words. */
static void must_not_open(struct scene *scene, enum seqb_status status,
                          const char *words)
{
    assert_int_equal(fixture_open(&scene->f), status);
    assert_int_equal(scene->f.err.status, status);
    assert_null(scene->f.backend);
    if (strstr(scene->f.err.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", scene->f.err.text, words);
}

TEST_SKIPPABLE(WATCHED, master_is_found_and_named)
{
    char where[64];
    enum seqb_status call;

    must_lead_to(scene, scene->f.server);
    must_install(&scene->f, 1);
    must_grant(&scene->f, 1, 0, 10);
    redis_execute(scene->f.server, "FLUSHALL");
    (void)text_format(where, sizeof where, "redis-a (redis 127.0.0.1:%d)",
                      (int)server_port(scene->f.server));
    assert_non_null(strstr(ask(&scene->f, 1, SIZE, &call).error.text, where));
}

TEST_SKIPPABLE(WATCHED, address_in_brackets_is_that_of_a_sentinel)
{
    assert_true(text_format(scene->addresses[0], ADDRESS_SIZE, "[127.0.0.1]:%d",
                            (int)server_port(scene->sentinel)));
    must_lead_to(scene, scene->f.server);
}

/* --- sentinels that lead nowhere --- */

TEST_SKIPPABLE(WATCHED, sentinel_that_is_down_is_passed_over)
{
    scene_ask(scene, free_port(), server_port(scene->sentinel), 0);
    must_lead_to(scene, scene->f.server);
}

TEST_SKIPPABLE(WATCHED, sentinel_that_hangs_is_passed_over)
{
    struct server *hung = server_sentinel();

    sentinel_watch(hung, MASTER, scene->f.server, 0);
    scene_ask(scene, server_port(hung), server_port(scene->sentinel), 0);
    server_pause(hung);
    /* A third of it is lost; the rest may be too short where this machine is
     * busy. */
    scene->f.options.connect_timeout_ms = 300;
    while (fixture_open(&scene->f) != SEQB_OK &&
           scene->f.options.connect_timeout_ms < PATIENCE_MS)
        scene->f.options.connect_timeout_ms *= 2;
    must_stand_on(scene, scene->f.server);
    server_free(hung);
}

TEST_SKIPPABLE(WATCHED, sentinel_that_knows_other_masters_is_passed_over)
{
    struct server *other = server_sentinel();

    sentinel_watch(other, "bills", scene->f.server, 0);
    scene_ask(scene, server_port(other), server_port(scene->sentinel), 0);
    must_lead_to(scene, scene->f.server);
    scene_ask(scene, server_port(other), 0, 0);
    must_not_open(scene, SEQB_UNREACHABLE, "knows no master '" MASTER "'");
    server_free(other);
}

TEST_SKIPPABLE(WATCHED, server_that_is_no_sentinel_is_passed_over)
{
    const int32_t port = server_port(scene->f.server);

    scene_ask(scene, port, server_port(scene->sentinel), 0);
    must_lead_to(scene, scene->f.server);
    scene_ask(scene, port, 0, 0);
    must_not_open(scene, SEQB_UNREACHABLE, "is it a sentinel?");
}

TEST_SKIPPABLE(WATCHED, sentinel_that_answers_nonsense_is_passed_over)
{
    static const struct {
        const char *text;
        const char *words;
    } rows[] = {
        {"HTTP/1.1 400 Bad Request\r\n\r\n", "is it a redis server?"},
        {"220 mail ready\r\n", "is it a redis server?"},
        {"+OK\r\n", "makes no sense"},
        {":6379\r\n", "makes no sense"},
        {"$9\r\n127.0.0.1\r\n", "makes no sense"},
        {"*0\r\n", "makes no sense"},
        {"*1\r\n$9\r\n127.0.0.1\r\n", "makes no sense"},
        {"*2\r\n$9\r\n127.0.0.1\r\n:6379\r\n", "makes no sense"},
        {"*2\r\n$9\r\n127.0.0.1\r\n$-1\r\n", "makes no sense"},
        {"*2\r\n$9\r\n127.0.0.1\r\n$1\r\n0\r\n", "makes no sense"},
        {"*2\r\n$9\r\n127.0.0.1\r\n$5\r\n65536\r\n", "makes no sense"},
        {"*2\r\n$9\r\n127.0.0.1\r\n$2\r\n-1\r\n", "makes no sense"},
        {"*2\r\n$9\r\n127.0.0.1\r\n$5\r\n6379x\r\n", "makes no sense"},
        {"*2\r\n$0\r\n\r\n$4\r\n6379\r\n", "makes no sense"},
        {"*3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\n1\r\n", "makes no sense"},
        {"*-1\r\n", "knows no master"},
        {"-NOAUTH Authentication required.\r\n", "wants a password"},
        {"-NOPERM this user has no permissions\r\n", "refused: NOPERM"},
        {"-ERR unknown command\r\n", "is it a sentinel?"},
        {"*2\r\n$9\r\n127.", "connection lost"},
        {"", "connection lost"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct impostor impostor = {0};

        impostor_start(&impostor, rows[i].text, CLOSES);
        scene_ask(scene, impostor.options.port, 0, 0);
        must_not_open(scene, SEQB_UNREACHABLE, rows[i].words);
        scene_ask(scene, impostor.options.port, server_port(scene->sentinel),
                  0);
        must_lead_to(scene, scene->f.server);
        impostor_stop(&impostor);
    }
}

TEST_SKIPPABLE(WATCHED, a_master_whose_address_has_a_0_in_it_is_none)
{
    static const char hosts[] = "*2\r\n$9\r\n127.0.0.\0\r\n$4\r\n6379\r\n";
    static const char ports[] = "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n637\0\r\n";

    for (int i = 0; i < 2; i++) {
        struct impostor impostor = {0};

        impostor_start_bytes(&impostor, i == 0 ? hosts : ports,
                             i == 0 ? sizeof hosts - 1 : sizeof ports - 1,
                             CLOSES);
        scene_ask(scene, impostor.options.port, 0, 0);
        must_not_open(scene, SEQB_UNREACHABLE, "makes no sense");
        impostor_stop(&impostor);
    }
}

TEST_SKIPPABLE(WATCHED, every_sentinel_that_failed_is_named_with_its_words)
{
    struct server *hung = server_sentinel();
    const int32_t down = free_port();
    const char *const words[] = {": cannot connect", ": no answer within ",
                                 ": knows no master 'bills'"};
    char expected[64];

    server_pause(hung);
    scene->f.options.master_name = "bills";
    scene_ask(scene, down, server_port(hung), server_port(scene->sentinel));
    /* Longer where this machine is busy: all must have their turn. */
    scene->f.options.connect_timeout_ms = 300;
    do {
        scene->f.options.connect_timeout_ms *= 2;
        must_not_open(scene, SEQB_UNREACHABLE,
                      "redis-a: no sentinel leads to a master 'bills', check "
                      "sentinels and master_name: ");
    } while (strstr(scene->f.err.text, words[2]) == NULL &&
             scene->f.options.connect_timeout_ms < PATIENCE_MS);
    for (size_t i = 0; i < COUNT(words); i++) {
        (void)text_format(expected, sizeof expected, "sentinel %s%s",
                          scene->sentinels[i], words[i]);
        assert_non_null(strstr(scene->f.err.text, expected));
    }
    server_free(hung);
}

/* --- masters that are none --- */

/* What a sentinel says that was cut off when `server` was the master. */
static void stale_start(struct impostor *stale, int32_t port)
{
    char digits[16];
    char text[64];

    (void)text_format(digits, sizeof digits, "%d", (int)port);
    (void)text_format(text, sizeof text,
                      "*2\r\n$9\r\n127.0.0.1\r\n$%zu\r\n%s\r\n", strlen(digits),
                      digits);
    impostor_start(stale, text, WAITS);
}

TEST_SKIPPABLE(REPLICATED, sentinel_that_leads_to_a_replica_is_passed_over)
{
    struct impostor stale = {0};

    stale_start(&stale, server_port(scene->replica));
    scene_ask(scene, stale.options.port, 0, 0);
    must_not_open(scene, SEQB_ROLE, "is a replica");
    scene_ask(scene, stale.options.port, server_port(scene->sentinel), 0);
    must_lead_to(scene, scene->f.server);
    impostor_stop(&stale);
}

TEST_SKIPPABLE(WATCHED, sentinel_that_leads_to_a_dead_server_is_passed_over)
{
    struct impostor stale = {0};

    stale_start(&stale, free_port());
    scene_ask(scene, stale.options.port, 0, 0);
    must_not_open(scene, SEQB_UNREACHABLE, "led to redis-a (redis 127.0.0.1:");
    scene_ask(scene, stale.options.port, server_port(scene->sentinel), 0);
    must_lead_to(scene, scene->f.server);
    impostor_stop(&stale);
}

/* Another sentinel would name the same one: the password is wrong there. */
TEST_SKIPPABLE(WATCHED, master_that_refuses_is_the_answer)
{
    must_lead_to(scene, scene->f.server);
    redis_execute(scene->f.server, "CONFIG SET requirepass sesame");
    must_not_open(scene, SEQB_REFUSED, "wants a password");
    assert_null(strstr(scene->f.err.text, "sentinel"));
    scene->f.options.password = "sesame";
    must_lead_to(scene, scene->f.server);
}

/* Theirs is another one than the server's. */
TEST_SKIPPABLE(WATCHED, sentinels_may_want_a_password_of_their_own)
{
    redis_execute(scene->f.server, "CONFIG SET requirepass sesame");
    redis_execute(scene->sentinel, "ACL SETUSER default >barley");
    scene->f.options.password = "sesame";
    must_not_open(scene, SEQB_UNREACHABLE, "set sentinel_password_file");
    scene->f.options.sentinel_password = "sesame";
    must_not_open(scene, SEQB_UNREACHABLE,
                  "the user or the password was refused");
    scene->f.options.sentinel_password = "barley";
    must_lead_to(scene, scene->f.server);
    redis_execute(scene->sentinel,
                  "ACL SETUSER seq on >rye ~* +auth +sentinel|get-master-addr-"
                  "by-name");
    scene->f.options.sentinel_user = "seq";
    scene->f.options.sentinel_password = "rye";
    must_lead_to(scene, scene->f.server);
}

/* --- failover --- */

/* Opens again until it stands on that server, as a broker's worker does. */
static void await_failover(struct scene *scene, const struct server *to)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    char address[ADDRESS_SIZE];

    address_make(address, server_port(to));
    while (fixture_open(&scene->f) != SEQB_OK ||
           strcmp(scene->f.backend->domain, address) != 0) {
        if (clock_now_ms() > until_ms)
            fail_msg("no failover: %s", scene->f.err.text);
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
}

/* Of this machine, which is the servers' as well. */
static int64_t machine_ms(struct fixture *f)
{
    (void)f;
    return clock_wall_ms();
}

/* The replica holds the cell, or an old state of it: nothing is granted of it
 * any more, though it would be kept for an hour. */
static void must_be_fenced(struct scene *scene)
{
    int64_t standing = 0;

    must_tell_time(&scene->f, machine_ms);
    must_answer(&scene->f, SEQB_FENCED, 1);
    assert_int_equal(install(&scene->f, 1, SIZE, &standing), SEQB_FENCED);
    assert_int_equal(standing, 1);
    must_install(&scene->f, 2);
    must_grant(&scene->f, 2, 0, 10);
}

static void count_and_replicate(struct scene *scene)
{
    int64_t standing;

    must_lead_to(scene, scene->f.server);
    assert_ok(install_for(&scene->f, 1, 3600, &standing));
    must_grant(&scene->f, 1, 0, 10);
    redis_execute(scene->f.server, "SET marker 1");
    redis_execute(scene->f.server, "WAIT 1 0");
}

TEST_SKIPPABLE(REPLICATED,
               killed_master_is_left_for_the_next_and_its_window_fenced)
{
    count_and_replicate(scene);
    sentinel_hurry(scene->sentinel, MASTER);
    server_kill(scene->f.server);
    must_fail(&scene->f, SEQB_UNCERTAIN);
    await_failover(scene, scene->replica);
    must_be_fenced(scene);
}

TEST_SKIPPABLE(REPLICATED,
               hung_master_is_left_for_the_next_and_its_window_fenced)
{
    count_and_replicate(scene);
    scene->f.options.connect_timeout_ms = 500;
    sentinel_hurry(scene->sentinel, MASTER);
    server_pause(scene->f.server);
    await_failover(scene, scene->replica);
    must_be_fenced(scene);
}

/* The sentinel itself would demote the old master some ten seconds later. */
TEST_SKIPPABLE(REPLICATED,
               demoted_master_is_left_for_the_next_and_its_window_fenced)
{
    count_and_replicate(scene);
    redis_execute(scene->sentinel, "SENTINEL FAILOVER " MASTER);
    redis_execute(scene->f.server, "REPLICAOF 127.0.0.1 %d",
                  (int)server_port(scene->replica));
    must_fail(&scene->f, SEQB_ROLE);
    await_failover(scene, scene->replica);
    must_be_fenced(scene);
}

/* --- options --- */

TEST(options_that_make_no_sense_are_refused)
{
    static const struct {
        const char *sentinels[3];
        const char *master_name;
        const char *words;
    } rows[] = {
        {{NULL}, MASTER, "sentinels need a master_name"},
        {{"127.0.0.1:1", NULL}, NULL, "sentinels need a master_name"},
        {{"127.0.0.1", NULL}, MASTER, "'127.0.0.1' is no host:port"},
        {{":26379", NULL}, MASTER, "':26379' is no host:port"},
        {{"a:", NULL}, MASTER, "'a:' is no host:port"},
        {{"a:0", NULL}, MASTER, "'a:0' is no host:port"},
        {{"a:65536", NULL}, MASTER, "'a:65536' is no host:port"},
        {{"a:b", NULL}, MASTER, "'a:b' is no host:port"},
        {{"127.0.0.1:1", "", NULL}, MASTER, "'' is no host:port"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct seqb_backend_options options = {
            .name = "redis-a",
            .sentinels = rows[i].sentinels,
            .master_name = rows[i].master_name,
            .timeout_ms = 1000,
            .connect_timeout_ms = 1000,
        };
        struct seqb_backend *backend = NULL;
        struct seqb_error err;

        assert_int_equal(backend_redis.open(&options, &backend, &err),
                         SEQB_INVALID);
        assert_non_null(strstr(err.text, rows[i].words));
        assert_null(backend);
    }
}

TEST_BEFORE_ALL(without_sigpipe);
