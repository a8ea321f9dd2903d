/* SPDX-License-Identifier: Apache-2.0 */
/* Brokers on PostgreSQL under Patroni, some members of whose etcd are killed or
 * hang: one of the three, or two. */
#include "patroni_fixture.h"

#include <string.h>

#include "platform/clock.h"

#define BRIEF_MS 1000 /* a deadline */
#define SERVICES 2

/* Brokers that look for the leader at different nodes first. */
struct services {
    struct service all[SERVICES];
};

static void services_open(struct services *services, const struct scene *scene)
{
    for (size_t i = 0; i < SERVICES; i++)
        services->all[i] = service_open(scene, i, 1 - i);
}

static void services_take(const struct services *services, struct numbers *out)
{
    for (int i = 0; i < SERVICES; i++)
        service_take(&services->all[i], KEY_MAIN, out, MANY);
}

static void services_close(struct services *services)
{
    for (int i = 0; i < SERVICES; i++)
        seqb_close(services->all[i].broker);
}

/* --- one member of three --- */

/* While it is away, each broker takes more than it held before. */
static void member_is_killed(int member, struct taking *takings)
{
    server_kill(patroni->etcd[member]);
    (void)etcd_leader(patroni->etcd);
    for (int i = 0; i < SERVICES; i++)
        taking_await(&takings[i], PAST_HELD);
    for (int i = 0; i < SERVICES; i++)
        assert_false(atomic_load(&takings[i].has_failed));
    server_start(patroni->etcd[member]);
}

TEST_WITH(SCENE, cluster_without_one_member_of_etcd_repeats_nothing)
{
    const size_t leader = cluster_require();
    struct taking takings[SERVICES];
    struct services services;

    services_open(&services, scene);
    for (int i = 0; i < SERVICES; i++)
        taking_begin(&takings[i], &services.all[i], &scene->numbers);
    member_is_killed((etcd_leader(patroni->etcd) + 1) % ETCD_MEMBERS, takings);
    member_is_killed(etcd_leader(patroni->etcd), takings);
    for (int i = 0; i < SERVICES; i++)
        taking_end(&takings[i], "a member and the leader of etcd killed");
    if (patroni_await_streaming(patroni) != leader)
        print_message("the other node leads\n");
    services_close(&services);
    scene_expect_no_repeats(scene);
}

/* --- two members of three --- */

static enum seqb_status take_briefly(const struct service *service,
                                     struct numbers *out,
                                     struct seqb_error *err)
{
    const struct seqb_take_options options = {
        .size = sizeof options, .count = 1, .deadline_ms = BRIEF_MS};
    int64_t number;
    const enum seqb_status status =
        seqb_take(service->sequences[KEY_MAIN], &options, &number, NULL, err);

    if (status == SEQB_OK)
        numbers_add(out, &number, 1);
    return status;
}

/* Takes one number after the other, until a call fails because no node is a
 * primary. Returns the longest time that a call took, in ms. */
static int64_t take_until_refused(const struct service *service,
                                  struct numbers *out)
{
    struct seqb_error err = {.text = ""};
    int64_t longest_ms = 0;

    while (strstr(err.text, "standby") == NULL) {
        const int64_t since_ms = clock_now_ms();

        (void)take_briefly(service, out, &err);
        if (clock_now_ms() - since_ms > longest_ms)
            longest_ms = clock_now_ms() - since_ms;
    }
    return longest_ms;
}

/* Nothing is held any more, and no node is a primary. The broker says so once
 * it has looked at all nodes since. */
static void expect_refused(const struct services *services, struct numbers *out)
{
    for (int i = 0; i < SERVICES; i++) {
        struct seqb_error err;

        do
            assert_status(take_briefly(&services->all[i], out, &err),
                          SEQB_UNAVAILABLE);
        while (strstr(err.text, "the server is a standby; none of the 2 hosts "
                                "is a primary") == NULL);
    }
}

static void etcd_is_lost(struct scene *scene, void (*lose)(struct server *),
                         void (*bring_back)(struct server *))
{
    struct services services;
    int64_t longest_ms = 0;
    int64_t since_ms;
    int64_t lost_ms;

    (void)cluster_require();
    services_open(&services, scene);
    services_take(&services, &scene->numbers);
    since_ms = clock_now_ms();
    for (int i = 1; i < ETCD_MEMBERS; i++)
        lose(patroni->etcd[i]);
    for (int i = 0; i < SERVICES; i++) {
        const int64_t call_ms =
            take_until_refused(&services.all[i], &scene->numbers);

        longest_ms = call_ms > longest_ms ? call_ms : longest_ms;
    }
    for (size_t i = 0; i < PATRONI_NODES; i++)
        patroni_await(patroni, i, PATRONI_STANDBY);
    lost_ms = clock_now_ms() - since_ms;
    expect_refused(&services, &scene->numbers);
    since_ms = clock_now_ms();
    for (int i = 1; i < ETCD_MEMBERS; i++)
        bring_back(patroni->etcd[i]);
    services_take(&services, &scene->numbers);
    print_message("no etcd: no primary after %lld ms, the longest call took "
                  "%lld ms with a deadline of %d ms; numbers again %lld ms "
                  "after its return\n",
                  (long long)lost_ms, (long long)longest_ms, BRIEF_MS,
                  (long long)(clock_now_ms() - since_ms));
    services_close(&services);
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

TEST_BEFORE_ALL(without_sigpipe);
TEST_AFTER_ALL(cluster_end);
