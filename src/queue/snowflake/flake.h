/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids of a snowflake: time | worker | counter. One ms is open at a time.
 * Any thread takes its ids by one fetch-and-add, without a lock or a clock: the
 * processor's tick counter shows whether the ms is over. flake_time.h decides
 * which ms may be opened. Private to this folder.
 *
 * A position is an id without its worker. The positions of the open ms are
 * below `limit`. Before another ms is opened, the head is moved past them; the
 * fields that are read with the limit are written between that and the new
 * limit. So a taker whose position is below the limit that it read has read all
 * fields of the same ms, and only this taker has the position. A position at or
 * above the limit belongs to no taker.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "period/period.h"
#include "platform/ticks.h"
#include "queue/ring.h"

/* In memory that is zero in a forked child, where no ms is open then. */
struct flake_gate {
    _Alignas(RING_LINE) _Atomic uint64_t head;  /* the next position */
    _Alignas(RING_LINE) _Atomic uint64_t limit; /* 0: no ms is open */
    _Atomic uint64_t worker; /* the worker id, shifted to its place in an id */
    _Atomic uint64_t begin;  /* in ticks; ids may be taken from `begin` on for
                                `span` */
    _Atomic uint64_t span;
    int32_t worker_bits; /* constant, as is counter_bits */
    int32_t counter_bits;
};

/* The clocks at one moment. The ticks are read first. */
struct flake_reading {
    int64_t time_ms; /* for ids */
    int64_t wall_us;
    int64_t boot_us;
    uint64_t ticks;
};

/* Opens one ms after the other. The owner's lock guards it. */
struct flake {
    struct flake_gate *gate;
    struct bits_layout layout;
    struct flake_rules rules;
    struct flake_last last;
    struct ticks ticks;
    int64_t worker;
    uint64_t start;   /* first position of the open ms */
    int64_t taken;    /* ids taken of all ms before it */
    int64_t until_ms; /* by CLOCK_BOOTTIME: end of the lease under which the ms
                         was opened */
};

/* For ids of this layout. `memory` is zeroed. */
void flake_init(struct flake *flake, const struct bits_layout *layout,
                struct flake_gate *memory);

/* Any thread: takes up to `count` ids, in order; returns how many. 0: no ms is
 * open, or it has no ids left. */
size_t flake_take(struct flake_gate *gate, size_t count, int64_t *out);

/* The rest needs the owner's lock. As flake_take, but does not check whether
 * the open ms is over. */
size_t flake_take_locked(struct flake *flake, size_t count, int64_t *out);

/* Takes `count` contiguous ids; `count` is at most the ids of a ms. False if
 * the open ms has fewer left: they are discarded. */
bool flake_take_run(struct flake *flake, size_t count, int64_t *first);

/* Whether the open ms is the present one, and has ids left. If so, its ids may
 * be taken until the end of the ms or of the lease. */
bool flake_go_on(struct flake *flake, int64_t worker,
                 const struct flake_lease *lease,
                 const struct flake_reading *now);

/* Finds which ms could be opened: see flake_next. A ms is only opened with all
 * of its ids, so that another worker id never continues one. Changes
 * nothing. */
enum flake_verdict flake_poll(const struct flake *flake,
                              const struct flake_lease *lease,
                              const struct flake_reading *now,
                              struct flake_block *block);

/* Opens the ms that flake_poll has found. */
void flake_open(struct flake *flake, int64_t worker,
                const struct flake_lease *lease,
                const struct flake_reading *now,
                const struct flake_block *block);

/* Closes the open ms. */
void flake_shut(struct flake *flake);

/* How many ids were taken so far, or discarded by a run that did not fit. */
int64_t flake_taken(const struct flake *flake);
