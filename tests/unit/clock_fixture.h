/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guarded clock on a scripted machine: the machine's clocks, a disk that may
 * hang or fail, the stores' clocks, and a store that keeps the latest begin
 * issued. The linker's --wrap puts them in place of the real ones. A failure of
 * these functions fails the test.
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

    _Atomic int32_t clocks;   /* number of stores with a clock */
    _Atomic int64_t store_ms; /* their clock at boot clock 0 */
    _Atomic int64_t looks;

    atomic_bool is_held_up;        /* renaming the file hangs */
    _Atomic(const char *) failure; /* why renaming it fails; NULL: it does
                                      not */
    _Atomic int64_t moves;
    _Atomic int64_t lock_until_ms; /* how long its lock was waited for last */

    _Atomic int64_t noted_ms; /* kept by the store */
    _Atomic int64_t file_ms;  /* the file's content when the store was asked */
    atomic_bool is_down;
    /* The store answers less than it was asked to keep. */
    atomic_bool is_lagging;
    _Atomic int64_t notes;
    _Atomic int64_t note_until_ms; /* how long the last one may take */
    char name[64];                 /* of the clock, as passed to the store */

    /* Every wait lasts until it is woken, or practically forever. */
    atomic_bool is_patient;
    _Atomic int64_t waits;
    _Atomic int64_t wait_until_ms; /* as asked for by the last one */
    _Atomic int64_t waiting;       /* how many go on */
    _Atomic int64_t late;          /* number of waits that were not woken */
};

struct clock_case {
    char folder[32];
    char path[64]; /* of the clock's file */
    struct queue_clock_options options;
    struct guarded_clock *clock; /* NULL: not open */
    struct seqb_error err;
};

/* For cmocka: *state becomes a case at NOON, without a store. */
int clock_case_setup(void **state);
int clock_case_teardown(void **state);

#define WALL                                                                   \
    FIXTURE(struct clock_case *c, clock_case_setup, clock_case_teardown)

struct clock_world *clock_world(void);

/* clock_go_on advances both clocks. clock_set sets the wall clock. */
void clock_go_on(int64_t ms);
void clock_set(int64_t wall_ms);

void clock_case_start(struct clock_case *c);
void clock_case_stop(struct clock_case *c);
void clock_case_expect_start_fails(struct clock_case *c,
                                   enum seqb_status expected,
                                   const char *words);

/* A deadline that is long enough. */
int64_t clock_soon(void);

void clock_case_issue(struct clock_case *c, int64_t begin_ms);
void clock_case_expect_now(struct clock_case *c, int64_t expected_ms);
void clock_case_expect_no_time(struct clock_case *c, enum seqb_status expected,
                               const char *words);
struct seqb_clock_status clock_case_status(struct clock_case *c);

/* The content of the file, read without the faults; 0: there is none.
 * Thread-safe. */
int64_t clock_file_says(void);

/* Wait until `count` calls were counted; until `more` further calls were
 * counted; and until a line containing `word` was logged. */
void clock_await_calls(_Atomic int64_t *calls, int64_t count);
void clock_await_more(_Atomic int64_t *calls, int64_t more);
void clock_await_event(const char *word);
