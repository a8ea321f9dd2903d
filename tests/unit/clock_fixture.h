/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guarded clock whose machine is scripted: its clocks, a disk that may be
 * held up or fail, the stores' clocks, and a store that keeps what is issued.
 * They take the place of the real ones by the linker's --wrap. What must not
 * fail here fails the test.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/guarded_clock/guarded_clock.h"
#include "support/test.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define NOON   INT64_C(1795262400000) /* 2026-11-21T12:00:00Z */

struct clock_world {
    _Atomic int64_t wall_ms;
    _Atomic int64_t boot_ms;

    _Atomic int32_t clocks;   /* stores that have one */
    _Atomic int64_t store_ms; /* their clock, when the boot clock was 0 */
    _Atomic int64_t looks;

    atomic_bool is_held_up; /* the file's move waits */
    atomic_bool is_failing; /* the file's move fails */
    _Atomic int64_t moves;

    _Atomic int64_t noted_ms; /* by the store */
    _Atomic int64_t file_ms;  /* what the file said when the store was asked */
    atomic_bool is_down;
    atomic_bool is_lagging; /* it answers less than it is asked to keep */
    _Atomic int64_t notes;
    char name[64]; /* that the store was asked with */

    /* Every wait lasts until it is woken, or for so long that it never is. */
    atomic_bool is_patient;
    _Atomic int64_t waits;
    _Atomic int64_t late; /* waits that were not woken */
};

struct clock_case {
    char folder[32];
    char path[64]; /* of the file */
    struct queue_clock_options options;
    struct guarded_clock *clock; /* NULL: not open */
    struct seqb_error err;
};

/* For cmocka: *state is a case at NOON, of no store. */
int clock_case_setup(void **state);
int clock_case_teardown(void **state);

#define WALL                                                                   \
    FIXTURE(struct clock_case *c, clock_case_setup, clock_case_teardown)

struct clock_world *clock_world(void);

/* Time goes on, for both clocks; the wall clock is set. */
void clock_go_on(int64_t ms);
void clock_set(int64_t wall_ms);

void clock_case_start(struct clock_case *c);
void clock_case_stop(struct clock_case *c);
void clock_case_expect_start_fails(struct clock_case *c,
                                   enum seqb_status expected,
                                   const char *words);

/* Long enough from now. */
int64_t clock_soon(void);

void clock_case_issue(struct clock_case *c, int64_t begin_ms);
void clock_case_expect_now(struct clock_case *c, int64_t expected_ms);
void clock_case_expect_no_time(struct clock_case *c, enum seqb_status expected,
                               const char *words);
struct seqb_clock_status clock_case_status(struct clock_case *c);

/* What the file says, read past everything; 0: there is none; any thread. */
int64_t clock_file_says(void);

/* Wait until that many calls were counted; that many more; and until a line
 * that has the word was logged. */
void clock_await_calls(_Atomic int64_t *calls, int64_t count);
void clock_await_more(_Atomic int64_t *calls, int64_t more);
void clock_await_event(const char *word);
