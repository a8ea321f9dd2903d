/* SPDX-License-Identifier: Apache-2.0 */
#include "period_fixture.h"

#include <stdlib.h>

#include "support/test.h"

static int fixture_setup(void **state, int (*rig_make)(void **state))
{
    struct period_fixture *fixture;
    void *rig = NULL;

    if (rig_make(&rig) != 0)
        return -1;
    fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL)
        return -1;
    *state = fixture;
    fixture->rig = rig;
    fixture->rules = (struct period_rules){
        .unit = PERIOD_SECOND, .year_month = 1, .year_day = 1};
    fixture->clock = (struct queue_clock_options){
        .rules = {.on_rollback = GUARD_HOLD,
                  .max_rollback_ms = HOUR,
                  .max_ahead_ms = HOUR},
        .broker = "test",
        .path = rig_file(rig, "clock"),
        .store = -1,
    };
    fixture->rig->queue.clock = &fixture->clock;
    fixture->rig->sequences[0].period = &fixture->rules;
    fixture->rig->sequences[0].keep_periods = 2;
    fixture->rig->sequences[0].attributes = " period=second";
    script_clock_set(NOON);
    return 0;
}

int period_setup(void **state)
{
    return fixture_setup(state, rig_setup_direct);
}

int period_setup_windowed(void **state)
{
    return fixture_setup(state, rig_setup_windowed);
}

int period_teardown(void **state)
{
    struct period_fixture *fixture = *state;
    void *rig = fixture->rig;
    const int result = rig_teardown(&rig);

    free(fixture);
    return result;
}

enum seqb_status period_take(struct rig_broker *broker, int64_t *out,
                             struct seqb_stamp *stamp, struct seqb_error *err)
{
    const struct queue_take take = {.out = out, .count = 1, .stamp = stamp};

    return queue_take(rig_sequence(broker, "order"), &take, err);
}

int64_t period_number(struct rig_broker *broker, int64_t *digits)
{
    struct seqb_stamp stamp;
    struct seqb_error err;
    int64_t number = 0;

    if (period_take(broker, &number, &stamp, &err) != SEQB_OK)
        fail_msg("no number: %s", err.text);
    *digits = stamp.digits;
    return number;
}

void period_use_ids(struct period_fixture *fixture, int32_t counter)
{
    fixture->ids = (struct bits_layout){.epoch_ms = INT64_C(1577836800000),
                                        .unit_ms = SECOND,
                                        .time = 32,
                                        .shard = 12,
                                        .counter = counter};
    fixture->rig->sequences[0].ids = &fixture->ids;
}
