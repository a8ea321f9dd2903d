/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers that lease worker ids of one authority, in simulated time: their
 * processes are stopped for long, killed, and started again, their boot clocks
 * run apart by a fifth, their wall clocks leap, answers come late or not at
 * all, and the authority is put back to an older copy. However the dice fall,
 * no value comes twice, and no id has two holders at one moment.
 * SEQB_TEST_SEED repeats one schedule.
 */
#include <stdlib.h>
#include <string.h>

#include "lease_broker.h"
#include "platform/text.h"
#include "support/test.h"

#define SCHEDULES (1000 / SEQB_TEST_SCALE)
#define STEP_MS   5
#define STEPS     3000 /* 15 s */
#define VALUES    4    /* of a ms */
#define MEMORY    (1 << 17)

/* --- what must hold --- */

static void remember(struct schedule *schedule, uint64_t value)
{
    size_t at = (value * UINT64_C(0x9E3779B97F4A7C15)) >> 47;

    for (; schedule->given[at] != 0; at = (at + 1) % MEMORY) {
        if (schedule->given[at] == value)
            fail_msg("seed %llu: a value came twice, at %lld ms",
                     (unsigned long long)schedule->seed,
                     (long long)schedule->now);
    }
    assert_true(++schedule->count < MEMORY / 2);
    schedule->given[at] = value;
}

static bool is_valid(const struct schedule *schedule,
                     const struct broker *broker)
{
    return !broker->is_dead &&
           boot_of(schedule, broker) < broker->lease.until_ms;
}

static void expect_one(const struct schedule *schedule, const struct broker *a,
                       const struct broker *b)
{
    if (is_valid(schedule, a) && is_valid(schedule, b) &&
        a->worker == b->worker)
        fail_msg("seed %llu: id %d has two holders, at %lld ms",
                 (unsigned long long)schedule->seed, (int)a->worker,
                 (long long)schedule->now);
}

static void expect_one_holder(const struct schedule *schedule)
{
    for (int32_t i = 0; i < BROKERS; i++) {
        for (int32_t j = 0; j < i; j++)
            expect_one(schedule, &schedule->brokers[i], &schedule->brokers[j]);
    }
}

static void broker_give(struct schedule *schedule, struct broker *broker)
{
    static const struct flake_rules rules = {1, INT64_MAX / 2, VALUES};
    const struct flake_now now = {clock_of(schedule, broker),
                                  boot_of(schedule, broker)};
    struct flake_block block;

    if (flake_next(&rules, &broker->lease, now, 1 + (int64_t)dice(schedule, 6),
                   &broker->last, &block) != FLAKE_GIVE)
        return;
    broker->used_ms = block.time_ms;
    for (int64_t i = 0; i < block.count; i++)
        remember(schedule,
                 (uint64_t)((block.time_ms * IDS + broker->worker) * VALUES +
                            block.counter + i));
}

/* --- what befalls it --- */

static void broker_start(struct schedule *schedule, struct broker *broker)
{
    const int32_t i = (int32_t)(broker - schedule->brokers);

    *broker = (struct broker){
        .boot_ppm = 900000 + (int64_t)dice(schedule, 200000),
        .id = -1,
        .generation = -1,
        .away_until = schedule->now + (int64_t)dice(schedule, 500),
    };
    broker->skew_ms = schedule->is_restored
                          ? (int64_t)dice(schedule, 40) - 20
                          : (int64_t)dice(schedule, 7200000) - 3600000;
    broker->self.key = schedule->random | 1;
    broker->self.lease_ms = LEASE_MS;
    (void)text_format(broker->self.holder, sizeof broker->self.holder, "b%d",
                      (int)i);
}

static void broker_suffer(struct schedule *schedule, struct broker *broker)
{
    switch (dice(schedule, 1200)) {
    case 0:
    case 1: /* stopped */
        broker->away_until = schedule->now + (int64_t)dice(schedule, 4000);
        break;
    case 2: /* killed; what it sent may yet arrive */
        broker->is_dead = true;
        broker->away_until = schedule->now + 300;
        break;
    case 3: /* its engine is opened anew */
        broker->last = (struct flake_last){0, 0, 0};
        if (broker->lease.above < broker->used_ms)
            broker->lease.above = broker->used_ms;
        break;
    case 4:
        if (!schedule->is_restored)
            broker->skew_ms += (int64_t)dice(schedule, 5000) - 2500;
        break;
    default:
        break;
    }
}

static void broker_step(struct schedule *schedule, struct broker *broker)
{
    call_do(schedule, broker);
    if (schedule->now < broker->away_until)
        return;
    if (broker->is_dead)
        broker_start(schedule, broker);
    broker_suffer(schedule, broker);
    if (broker->is_dead || schedule->now < broker->away_until)
        return;
    broker_answer(schedule, broker);
    if (!broker->call.is_sent && schedule->now >= broker->due)
        broker_begin(schedule, broker);
    broker_give(schedule, broker);
}

static void authority_suffer(struct schedule *schedule)
{
    if (!schedule->is_restored)
        return;
    switch (dice(schedule, 1000)) {
    case 0:
        schedule->saved = schedule->authority;
        break;
    case 1:
        schedule->authority = schedule->saved;
        schedule->generation++;
        break;
    default:
        break;
    }
}

static size_t schedule_run(uint64_t seed, uint64_t *given)
{
    struct schedule schedule = {
        .seed = seed,
        .random = seed * UINT64_C(0x9E3779B97F4A7C15) | 1,
        .given = given,
    };

    memset(given, 0, MEMORY * sizeof *given);
    schedule.is_restored = seed % 2 == 0;
    for (int i = 0; i < BROKERS; i++)
        broker_start(&schedule, &schedule.brokers[i]);
    for (int i = 0; i < STEPS; i++) {
        schedule.now += STEP_MS;
        authority_suffer(&schedule);
        for (int j = 0; j < BROKERS; j++)
            broker_step(&schedule, &schedule.brokers[j]);
        expect_one_holder(&schedule);
    }
    return schedule.count;
}

TEST(no_schedule_repeats_a_value)
{
    const char *one = getenv("SEQB_TEST_SEED");
    uint64_t *given = calloc(MEMORY, sizeof *given);
    size_t count = 0;

    assert_non_null(given);
    if (one != NULL)
        count = schedule_run(strtoull(one, NULL, 10), given);
    for (uint64_t seed = 1; one == NULL && seed <= SCHEDULES; seed++)
        count += schedule_run(seed, given);
    assert_true(count > 1000);
    free(given);
}
