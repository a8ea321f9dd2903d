/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers on PostgreSQL under Patroni, whose nodes hand over, are killed, or
 * are cut off while they still answer: which numbers come twice, what is
 * skipped, and how long none come. The tests share a cluster.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "scene.h"
#include "support/server_patroni.h"
#include "support/server_postgres.h"
#include "support/take.h"
#include "support/test.h"

#define MANY      ((size_t)4000)
#define HELD      200 /* numbers that a broker may hold of a sequence */
#define PAST_HELD 400
#define BRIEF_GAP 1000 /* values of 8 numbers */
#define BRIEF_MS  1000 /* a deadline */

/* More than the gap and the part by chance, a 4096th of what is left. */
#define BRIEF_MANY ((size_t)8 * (BRIEF_GAP + 100000000 / 8 / 4096 + 500))

static struct patroni *patroni;

/* Each a sequence, a pool, and a database. */
enum key { KEY_MAIN, KEY_BRIEF, KEY_NEAR, KEYS };

static const char *const keys[KEYS] = {"main", "brief", "near"};

/* Of tests before there is nothing left in the databases. */
static size_t cluster_require(void)
{
    size_t leader;

    patroni_require();
    if (patroni == NULL) {
        patroni = server_patroni();
        for (int i = 0; i < KEYS; i++)
            postgres_execute(patroni->nodes[0], "postgres",
                             "CREATE DATABASE %s", keys[i]);
    }
    leader = patroni_await_streaming(patroni);
    for (int i = 0; i < KEYS; i++)
        postgres_execute(patroni->nodes[leader], keys[i],
                         "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    return leader;
}

/* --- brokers --- */

/* One of a machine of its own: with a state directory that others do not see,
 * and the node first in its list that it reaches first. */
struct service {
    struct seqb_broker *broker;
    struct seqb_sequence *sequences[KEYS];
};

/* A database of the cluster, by the nodes in the order of the broker. */
static const char backend[] =
    "  { name = \"pg-%s\"; engine = \"postgres\"; connect_timeout = \"2s\";"
    "    conninfo = \"host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres "
    "dbname=%s target_session_attrs=read-write\"; },";

/* `main` has the default gap, `brief` one that is soon used up, `near` windows
 * of neighbours, one of which is a file. */
static const char pools[] =
    "  { name = \"a\"; engine = \"sqlite\"; path = \"%s\"; } );"
    "pools = ("
    "  { name = \"main\"; partitions = [ \"pg-main\" ]; authority = \"none\";"
    "    timeout = \"1s\"; rescue_after = \"1s\"; },"
    "  { name = \"brief\"; partitions = [ \"pg-brief\" ]; failover_gap = %d;"
    "    authority = \"none\"; timeout = \"1s\"; rescue_after = \"1s\"; },"
    "  { name = \"near\"; partitions = [ \"pg-near\", \"a\" ];"
    "    authority = \"neighbours\"; timeout = \"1s\";"
    "    rescue_after = \"1s\"; } );"
    "sequences = ("
    "  { key = \"main\"; pool = \"main\"; max_unused = %d;"
    "    deadline = \"1m\"; },"
    "  { key = \"brief\"; pool = \"brief\"; max_unused = %d;"
    "    deadline = \"1m\"; template = \"@{seq, width=8}\"; },"
    "  { key = \"near\"; pool = \"near\"; max_unused = %d;"
    "    deadline = \"1m\"; } );";

static void topology_make(const struct scene *scene, size_t first,
                          size_t second, char out[static SCENE_TEXT_SIZE])
{
    (void)text_copy(out, SCENE_TEXT_SIZE,
                    "broker = { interval = \"5ms\"; }; backends = (");
    for (int i = 0; i < KEYS; i++)
        (void)text_append(out, SCENE_TEXT_SIZE, backend, keys[i],
                          (int)server_port(patroni->nodes[first]),
                          (int)server_port(patroni->nodes[second]), keys[i]);
    assert_true(text_append(out, SCENE_TEXT_SIZE, pools,
                            scene_path(scene, "a.db"), BRIEF_GAP, HELD, HELD,
                            HELD));
}

static struct service service_open(const struct scene *scene, size_t first,
                                   size_t second)
{
    struct service service = {.broker = NULL};
    struct seqb_error err;
    char text[SCENE_TEXT_SIZE];
    const char *path;
    char name[16];

    topology_make(scene, first, second, text);
    (void)text_format(name, sizeof name, "state-%zu", first);
    assert_int_equal(setenv("SEQBROKER_STATE_DIR", scene_path(scene, name), 1),
                     0);
    path = scene_write(scene, "patroni.conf", text);
    while (seqb_open(path, &service.broker, &err) == SEQB_UNAVAILABLE)
        continue; /* on a busy machine the leader may just be demoted */
    if (service.broker == NULL)
        fail_msg("cannot open: %s", err.text);
    for (int i = 0; i < KEYS; i++) {
        if (seqb_get_sequence(service.broker, keys[i], &service.sequences[i],
                              &err) != SEQB_OK)
            fail_msg("%s: %s", keys[i], err.text);
    }
    return service;
}

static void take(const struct service *service, enum key key,
                 struct numbers *out, size_t count)
{
    int64_t many[1000];
    struct seqb_error err;

    while (count > 0) {
        const size_t n = count < 1000 ? count : 1000;

        if (take_numbers(service->sequences[key], n, many, &err) != SEQB_OK)
            fail_msg("%s: %s", keys[key], err.text);
        numbers_add(out, many, n);
        count -= n;
    }
}

/* --- a service that takes one number after the other --- */

struct stream {
    struct seqb_sequence *sequence;
    struct numbers *out;
    pthread_t thread;
    atomic_bool ends;
    atomic_bool has_failed;
    atomic_llong count;
    /* Read once the thread has ended. */
    int64_t longest_ms; /* between two numbers */
    int64_t jump;       /* values between two numbers */
    struct seqb_error err;
};

static void *stream_run(void *argument)
{
    struct stream *stream = argument;
    int64_t last = 0;
    int64_t last_ms = clock_now_ms();

    while (!atomic_load(&stream->ends)) {
        int64_t number;
        int64_t now_ms;

        if (seqb_next(stream->sequence, &number, &stream->err) != SEQB_OK) {
            atomic_store(&stream->has_failed, true);
            return NULL;
        }
        numbers_add(stream->out, &number, 1);
        now_ms = clock_now_ms();
        if (now_ms - last_ms > stream->longest_ms)
            stream->longest_ms = now_ms - last_ms;
        if (last != 0 && (number >> 3) - (last >> 3) > stream->jump)
            stream->jump = (number >> 3) - (last >> 3);
        last = number;
        last_ms = now_ms;
        atomic_fetch_add(&stream->count, 1);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return stream;
}

static void stream_await(struct stream *stream, long long more)
{
    const long long until = atomic_load(&stream->count) + more;

    while (atomic_load(&stream->count) < until &&
           !atomic_load(&stream->has_failed))
        nanosleep(&(struct timespec){0, 5000000}, NULL);
}

static void stream_begin(struct stream *stream, const struct service *service,
                         struct numbers *out)
{
    *stream =
        (struct stream){.sequence = service->sequences[KEY_MAIN], .out = out};
    assert_status(
        thread_start(&stream->thread, "stream", stream_run, stream, NULL),
        SEQB_OK);
    stream_await(stream, PAST_HELD);
}

/* After more numbers than were held when something happened. */
static void stream_end(struct stream *stream, const char *what)
{
    void *is_well;

    stream_await(stream, PAST_HELD);
    atomic_store(&stream->ends, true);
    pthread_join(stream->thread, &is_well);
    if (is_well == NULL)
        fail_msg("%s: %s", what, stream->err.text);
    print_message("%s: no number for %lld ms, %lld values skipped\n", what,
                  (long long)stream->longest_ms, (long long)stream->jump);
}

static char *timeline(size_t node, char out[static POSTGRES_ASK_SIZE])
{
    postgres_ask(patroni->nodes[node], "postgres", out,
                 "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)");
    return out;
}

/* --- nodes that give way --- */

TEST_WITH(SCENE, leader_that_hands_over_repeats_nothing)
{
    const size_t leader = cluster_require();
    char before[POSTGRES_ASK_SIZE];
    char after[POSTGRES_ASK_SIZE];
    struct service service;
    struct stream stream;

    service = service_open(scene, 0, 1);
    (void)timeline(leader, before);
    stream_begin(&stream, &service, &scene->numbers);
    patroni_switchover(patroni, leader);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
    stream_end(&stream, "switchover");
    take(&service, KEY_NEAR, &scene->numbers, 1);
    seqb_close(service.broker);
    assert_string_not_equal(timeline(1 - leader, after), before);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, postgres_that_is_killed_repeats_nothing)
{
    struct service service;
    struct stream stream;
    const size_t leader = cluster_require();

    service = service_open(scene, 0, 1);
    stream_begin(&stream, &service, &scene->numbers);
    patroni_kill_postgres(patroni, leader);
    stream_end(&stream, "PostgreSQL of the leader killed");
    seqb_close(service.broker);
    scene_expect_no_repeats(scene);
}

/* --- a cluster whose etcd is gone --- */

/* Takes one number after the other, until a call fails because no node is a
 * primary. Returns the longest time that a call took, in ms. */
static int64_t take_until_refused(const struct service *service,
                                  struct numbers *out)
{
    const struct seqb_take_options options = {
        .size = sizeof options, .count = 1, .deadline_ms = BRIEF_MS};
    struct seqb_error err = {.text = ""};
    int64_t longest_ms = 0;

    while (strstr(err.text, "standby") == NULL) {
        const int64_t since_ms = clock_now_ms();
        int64_t number;

        if (seqb_take(service->sequences[KEY_MAIN], &options, &number, NULL,
                      &err) == SEQB_OK)
            numbers_add(out, &number, 1);
        if (clock_now_ms() - since_ms > longest_ms)
            longest_ms = clock_now_ms() - since_ms;
    }
    return longest_ms;
}

static void etcd_is_lost(struct scene *scene, void (*lose)(struct server *),
                         void (*bring_back)(struct server *))
{
    struct service service;
    int64_t longest_ms;
    int64_t since_ms;

    (void)cluster_require();
    service = service_open(scene, 0, 1);
    take(&service, KEY_MAIN, &scene->numbers, MANY);
    lose(patroni->etcd);
    longest_ms = take_until_refused(&service, &scene->numbers);
    for (size_t i = 0; i < PATRONI_NODES; i++)
        patroni_await(patroni, i, PATRONI_STANDBY);
    since_ms = clock_now_ms();
    bring_back(patroni->etcd);
    take(&service, KEY_MAIN, &scene->numbers, MANY);
    print_message("no etcd: the longest call took %lld ms with a deadline of "
                  "%d ms; numbers again %lld ms after its return\n",
                  (long long)longest_ms, BRIEF_MS,
                  (long long)(clock_now_ms() - since_ms));
    seqb_close(service.broker);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, cluster_whose_etcd_hangs_repeats_nothing)
{
    etcd_is_lost(scene, server_pause, server_resume);
}

TEST_WITH(SCENE, cluster_whose_etcd_is_killed_repeats_nothing)
{
    etcd_is_lost(scene, server_kill, server_start);
}

/* --- a leader that is cut off and still answers --- */

struct cut {
    size_t leader;       /* of the two nodes: the one that is cut off */
    struct service old;  /* is connected to the leader that is cut off */
    struct service late; /* to the one that follows */
    struct numbers brief;
};

/* Patroni of the leader stands still, so that it does not demote its PostgreSQL
 * when the other node takes its place: both are primaries on return. */
static void cut_begin(struct cut *cut, struct scene *scene, bool knows_one)
{
    const size_t leader = cut->leader;

    numbers_init(&cut->brief);
    cut->old = service_open(scene, leader, knows_one ? leader : 1 - leader);
    take(&cut->old, KEY_MAIN, &scene->numbers, MANY);
    take(&cut->old, KEY_NEAR, &scene->numbers, MANY);
    take(&cut->old, KEY_BRIEF, &cut->brief, MANY);
    server_pause(patroni->nodes[leader]);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
    assert_int_equal(patroni_role(patroni, leader), PATRONI_PRIMARY);
    cut->late = service_open(scene, 1 - leader, leader);
}

/* Both brokers are at the one leader that is left, and know it by both nodes.
 */
static void cut_end(struct cut *cut, struct scene *scene)
{
    char now[POSTGRES_ASK_SIZE];
    size_t leader;

    server_resume(patroni->nodes[cut->leader]);
    leader = patroni_single(patroni);
    print_message("back: the %s node leads in timeline %s\n",
                  leader == cut->leader ? "old" : "new", timeline(leader, now));
    seqb_close(cut->old.broker);
    seqb_close(cut->late.broker);
    cut->old = service_open(scene, 0, 1);
    cut->late = service_open(scene, 1, 0);
    for (int i = 0; i < 2; i++) {
        take(&cut->old, KEY_MAIN, &scene->numbers, MANY);
        take(&cut->late, KEY_MAIN, &scene->numbers, MANY);
        take(&cut->old, KEY_NEAR, &scene->numbers, MANY);
        take(&cut->late, KEY_NEAR, &scene->numbers, MANY);
    }
    seqb_close(cut->old.broker);
    seqb_close(cut->late.broker);
    scene_expect_no_repeats(scene);
}

static int64_t value_of(size_t node, enum key key)
{
    char value[POSTGRES_ASK_SIZE];

    postgres_ask(patroni->nodes[node], keys[key], value,
                 "SELECT max(value) FROM seqb_counters WHERE name LIKE '%%/%s'"
                 " AND name NOT LIKE '@%%'",
                 keys[key]);
    return strtoll(value, NULL, 10);
}

/* Values that the cluster granted a broker in windows. */
static int64_t near_granted(const struct service *service)
{
    struct seqb_partition_status all[8];
    size_t count = 0;

    assert_status(seqb_partitions(service->broker, all, sizeof all[0],
                                  COUNT_OF(all), &count, NULL),
                  SEQB_OK);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].pool, "near") == 0 && all[i].partition == 0)
            return all[i].granted;
    }
    fail_msg("the pool has no partition 0");
    return 0;
}

/* Until each of the two leaders has counted in windows. */
static void take_near(const struct cut *cut, struct numbers *out)
{
    const int64_t old = near_granted(&cut->old);
    const int64_t late = near_granted(&cut->late);

    do {
        take(&cut->old, KEY_NEAR, out, MANY);
        take(&cut->late, KEY_NEAR, out, MANY);
    } while (near_granted(&cut->old) == old ||
             near_granted(&cut->late) == late);
}

/* Both grant from one counter, which is what asynchronous replication allows:
 * the gap keeps them apart as long as it is larger than what the old one
 * grants. Windows of neighbours have no such bound. */
TEST_WITH(SCENE, two_leaders_repeat_what_the_gap_does_not_hold_apart)
{
    struct cut cut = {.leader = cluster_require()};
    int64_t before;

    cut_begin(&cut, scene, true);
    before = value_of(cut.leader, KEY_MAIN);
    for (int i = 0; i < 3; i++) {
        take(&cut.old, KEY_MAIN, &scene->numbers, MANY);
        take(&cut.late, KEY_MAIN, &scene->numbers, MANY);
        take_near(&cut, &scene->numbers);
    }
    assert_true(value_of(cut.leader, KEY_MAIN) > before);
    take(&cut.late, KEY_BRIEF, &cut.brief, MANY);
    take(&cut.old, KEY_BRIEF, &cut.brief, BRIEF_MANY);
    print_message("two leaders: %zu of %zu repeated with a gap of %d\n",
                  numbers_repeats(&cut.brief), numbers_count(&cut.brief),
                  BRIEF_GAP);
    assert_true(numbers_repeats(&cut.brief) > 0);
    cut_end(&cut, scene);
    numbers_fini(&cut.brief);
}

static int cluster_end(void **state)
{
    (void)state;
    patroni_free(patroni);
    patroni = NULL;
    return 0;
}

TEST_WITH(SCENE, leader_that_is_killed_repeats_nothing)
{
    struct service service;
    struct stream stream;
    const size_t leader = cluster_require();

    service = service_open(scene, 0, 1);
    stream_begin(&stream, &service, &scene->numbers);
    patroni_kill_node(patroni, leader);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
    stream_end(&stream, "leader killed");
    take(&service, KEY_MAIN, &scene->numbers, MANY);
    seqb_close(service.broker);
    scene_expect_no_repeats(scene);
    (void)cluster_end(NULL); /* another one starts faster than a node */
}

/* Its commits wait for a standby that it has no more; its broker finds the
 * other leader, which it would not do if the first primary of its list were
 * enough. */
TEST_WITH(SCENE, leader_without_its_synchronous_standby_grants_nothing)
{
    struct cut cut = {.leader = cluster_require()};
    int64_t before;
    int64_t since_ms;

    patroni_synchronous(patroni, true);
    cut_begin(&cut, scene, false);
    before = value_of(cut.leader, KEY_BRIEF);
    take(&cut.late, KEY_BRIEF, &cut.brief, MANY);
    take(&cut.late, KEY_MAIN, &scene->numbers, MANY);
    since_ms = clock_now_ms();
    take(&cut.old, KEY_BRIEF, &cut.brief, PAST_HELD);
    print_message("two leaders, synchronous: the broker of the old one is at "
                  "the other one after %lld ms\n",
                  (long long)(clock_now_ms() - since_ms));
    take(&cut.old, KEY_BRIEF, &cut.brief, BRIEF_MANY);
    assert_int_equal(value_of(cut.leader, KEY_BRIEF), before);
    assert_int_equal(numbers_repeats(&cut.brief), 0);
    cut_end(&cut, scene);
    numbers_fini(&cut.brief);
}

TEST_BEFORE_ALL(without_sigpipe);
TEST_AFTER_ALL(cluster_end);
