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
    struct period_rules rules;
    struct bits_layout ids;
    struct queue_clock_options clock;
};

/* For cmocka: *state becomes a fixture of a sequence with period = "second"
 * over two direct (or windowed) partitions. A clock that goes back is held. The
 * wall clock stands still at NOON. */
int period_setup(void **state);
int period_setup_windowed(void **state);
int period_teardown(void **state);

#define PERIOD                                                                 \
    FIXTURE(struct period_fixture *fixture, period_setup, period_teardown)
#define PERIOD_WINDOWED                                                        \
    FIXTURE(struct period_fixture *fixture, period_setup_windowed,             \
            period_teardown)

/* Takes one number of "order" with its stamp, and retries as long as
 * necessary. */
enum seqb_status period_take(struct rig_broker *broker, int64_t *out,
                             struct seqb_stamp *stamp, struct seqb_error *err);

/* The same; it must succeed. Returns the number. */
int64_t period_number(struct rig_broker *broker, int64_t *digits);

/* Makes its numbers ids of 32
 * 12
 * `counter` bits, with an epoch in 2020. */
void period_use_ids(struct period_fixture *fixture, int32_t counter);
