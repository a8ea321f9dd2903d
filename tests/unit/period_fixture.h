/* SPDX-License-Identifier: Apache-2.0 */
/* Brokers whose sequence "order" has a period, over fake stores, with a wall
 * clock that the test sets. */
#pragma once

#include "support/rig.h"
#include "support/script_clock.h"

#define SECOND INT64_C(1000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

/* 2026-11-21T12:00:00Z */
#define NOON (INT64_C(1795262400) * SECOND)

struct period_fixture {
    struct rig *rig;
    char folder[64];
    char path[96]; /* of the clock's file */
    struct period_rules rules;
    struct bits_layout ids;
    struct queue_clock_options clock;
};

/* For cmocka: *state is a fixture of a sequence with period = "second", held
 * clocks, two direct partitions (or windowed ones); it is NOON, standing. */
int period_setup(void **state);
int period_setup_windowed(void **state);
int period_teardown(void **state);

#define PERIOD                                                                 \
    FIXTURE(struct period_fixture *fixture, period_setup, period_teardown)
#define PERIOD_WINDOWED                                                        \
    FIXTURE(struct period_fixture *fixture, period_setup_windowed,             \
            period_teardown)

/* Takes one number of "order" in any case, with its stamp. */
enum seqb_status period_take(struct rig_broker *broker, int64_t *out,
                             struct seqb_stamp *stamp, struct seqb_error *err);

/* The same, which must succeed; returns the number. */
int64_t period_number(struct rig_broker *broker, int64_t *digits);

/* Makes its numbers ids of 32 | 12 | `counter` bits since 2020. */
void period_use_ids(struct period_fixture *fixture, int32_t counter);
