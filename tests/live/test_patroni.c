/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers on PostgreSQL under Patroni, whose nodes hand over, are killed, or
 * are cut off while they still answer: which numbers come twice, what is
 * skipped, and how long none come.
 */
#include "patroni_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "probe_log.h"
#include "support/server_postgres.h"

/* More than the gap and the part by chance, a 4096th of what is left. */
#define BRIEF_MANY ((size_t)8 * (BRIEF_GAP + 100000000 / 8 / 4096 + 500))

static char *timeline(size_t node, char out[static POSTGRES_ASK_SIZE])
{
    postgres_ask(patroni->nodes[node], "postgres", out,
                 "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)");
    return out;
}

/* --- what a probe tells --- */

/* In synchronous mode, where there is a standby to name. */
TEST_WITH(SCENE, probe_tells_the_leader_its_standby_and_no_tls)
{
    const size_t leader = cluster_require();
    const struct seqb_details *details;
    const struct probe_log *told;
    const char *path;
    char text[PROBE_LOG_TEXT_SIZE];
    char node[32];
    char synchronous[POSTGRES_ASK_SIZE];

    patroni_synchronous(patroni, true);
    assert_true(text_format(
        text, sizeof text,
        "backends = ( { name = \"pg\"; engine = \"postgres\"; "
        "connect_timeout = \"20s\"; conninfo = \"host=127.0.0.1,127.0.0.1 "
        "port=%d,%d user=postgres dbname=main "
        "target_session_attrs=read-write\"; } );"
        "pools = ( { name = \"main\"; partitions = [ \"pg\" ]; "
        "authority = \"none\"; timeout = \"20s\"; } );" ORDER,
        (int)server_port(patroni->nodes[1 - leader]),
        (int)server_port(patroni->nodes[leader])));
    path = scene_write(scene, "probe.conf", text);
    scene_use(scene, path, 100);
    told = probe_log_of(path, NULL);
    probe_log_expect(told, SEQB_OK);
    probe_log_expect_well(told, 0, "main/0");
    details = &told->found[0].details;
    (void)text_format(node, sizeof node, "127.0.0.1:%d",
                      (int)server_port(patroni->nodes[leader]));
    assert_string_equal(details->node, node);
    assert_string_equal(details->role, "primary");
    postgres_ask(patroni->nodes[leader], "postgres", synchronous,
                 "SHOW synchronous_standby_names");
    assert_string_not_equal(synchronous, "");
    assert_string_equal(details->quorum, synchronous);
    assert_memory_equal(details->replicas, "1, at most ", 11);
    assert_non_null(strstr(details->replicas, " bytes behind"));
    assert_string_equal(details->tls, "none");
    patroni_synchronous(patroni, false);
}

/* --- nodes that give way --- */

TEST_WITH(SCENE, leader_that_hands_over_repeats_nothing)
{
    const size_t leader = cluster_require();
    char before[POSTGRES_ASK_SIZE];
    char after[POSTGRES_ASK_SIZE];
    struct service service;
    struct taking taking;

    service = service_open(scene, 0, 1);
    (void)timeline(leader, before);
    taking_begin(&taking, &service, &scene->numbers);
    patroni_switchover(patroni, leader);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
    taking_end(&taking, "switchover");
    service_take(&service, KEY_NEAR, &scene->numbers, 1);
    seqb_close(service.broker);
    assert_string_not_equal(timeline(1 - leader, after), before);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, postgres_that_is_killed_repeats_nothing)
{
    struct service service;
    struct taking taking;
    const size_t leader = cluster_require();

    service = service_open(scene, 0, 1);
    taking_begin(&taking, &service, &scene->numbers);
    patroni_kill_postgres(patroni, leader);
    taking_end(&taking, "PostgreSQL of the leader killed");
    seqb_close(service.broker);
    scene_expect_no_repeats(scene);
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
    service_take(&cut->old, KEY_MAIN, &scene->numbers, MANY);
    service_take(&cut->old, KEY_NEAR, &scene->numbers, MANY);
    service_take(&cut->old, KEY_BRIEF, &cut->brief, MANY);
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
        service_take(&cut->old, KEY_MAIN, &scene->numbers, MANY);
        service_take(&cut->late, KEY_MAIN, &scene->numbers, MANY);
        service_take(&cut->old, KEY_NEAR, &scene->numbers, MANY);
        service_take(&cut->late, KEY_NEAR, &scene->numbers, MANY);
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
        service_take(&cut->old, KEY_NEAR, out, MANY);
        service_take(&cut->late, KEY_NEAR, out, MANY);
    } while (near_granted(&cut->old) == old ||
             near_granted(&cut->late) == late);
}

/* The node that leads no more has what the other one has not: Patroni takes
 * that back, and does not copy all files. */
static void rewind_await(const int before[static PATRONI_NODES])
{
    const size_t leader = patroni_await_streaming(patroni);

    assert_int_equal(patroni_rewinds(patroni, leader), before[leader]);
    assert_true(patroni_rewinds(patroni, 1 - leader) > before[1 - leader]);
}

/* Both grant from one counter, which is what asynchronous replication allows:
 * the gap keeps them apart as long as it is larger than what the old one
 * grants. Windows of neighbours have no such bound. */
TEST_WITH(SCENE, two_leaders_repeat_what_the_gap_does_not_hold_apart)
{
    struct cut cut = {.leader = cluster_require()};
    const int rewinds[] = {patroni_rewinds(patroni, 0),
                           patroni_rewinds(patroni, 1)};
    int64_t before;

    cut_begin(&cut, scene, true);
    before = value_of(cut.leader, KEY_MAIN);
    for (int i = 0; i < 3; i++) {
        service_take(&cut.old, KEY_MAIN, &scene->numbers, MANY);
        service_take(&cut.late, KEY_MAIN, &scene->numbers, MANY);
        take_near(&cut, &scene->numbers);
    }
    assert_true(value_of(cut.leader, KEY_MAIN) > before);
    service_take(&cut.late, KEY_BRIEF, &cut.brief, MANY);
    service_take(&cut.old, KEY_BRIEF, &cut.brief, BRIEF_MANY);
    print_message("two leaders: %zu of %zu repeated with a gap of %d\n",
                  numbers_repeats(&cut.brief), numbers_count(&cut.brief),
                  BRIEF_GAP);
    assert_true(numbers_repeats(&cut.brief) > 0);
    cut_end(&cut, scene);
    rewind_await(rewinds);
    numbers_fini(&cut.brief);
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
    service_take(&cut.late, KEY_BRIEF, &cut.brief, MANY);
    service_take(&cut.late, KEY_MAIN, &scene->numbers, MANY);
    since_ms = clock_now_ms();
    service_take(&cut.old, KEY_BRIEF, &cut.brief, PAST_HELD);
    print_message("two leaders, synchronous: the broker of the old one is at "
                  "the other one after %lld ms\n",
                  (long long)(clock_now_ms() - since_ms));
    service_take(&cut.old, KEY_BRIEF, &cut.brief, BRIEF_MANY);
    assert_int_equal(value_of(cut.leader, KEY_BRIEF), before);
    assert_int_equal(numbers_repeats(&cut.brief), 0);
    cut_end(&cut, scene);
    patroni_synchronous(patroni, false);
    numbers_fini(&cut.brief);
}

/* The last one, since a cluster starts faster than that node would again. */
TEST_WITH(SCENE, leader_that_is_killed_repeats_nothing)
{
    struct service service;
    struct taking taking;
    const size_t leader = cluster_require();

    service = service_open(scene, 0, 1);
    taking_begin(&taking, &service, &scene->numbers);
    patroni_kill_node(patroni, leader);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
    taking_end(&taking, "leader killed");
    service_take(&service, KEY_MAIN, &scene->numbers, MANY);
    seqb_close(service.broker);
    scene_expect_no_repeats(scene);
}

TEST_BEFORE_ALL(without_sigpipe);
TEST_AFTER_ALL(cluster_end);
