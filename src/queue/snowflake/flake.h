/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids of a snowflake: time | worker | counter. One ms is open at a time,
 * and any thread takes its ids by one fetch-and-add, without a lock or a
 * clock: the ticks of the processor tell whether the ms is over. Which ms may
 * be opened is flake_time.h's. Private to this folder.
 *
 * A position is an id without its worker. Positions of a ms that is open are
 * below `limit`. Before another one is opened the head moves past them, and
 * what is read beside the limit is written in between: so a taker whose
 * position is below the limit that it has read has read all of the same ms,
 * and the position is no one else's. A position at or past the limit is
 * nobody's.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "period/period.h"
#include "platform/ticks.h"
#include "queue/ring.h"

/* In memory that is zero in a forked child: there no ms is open. */
struct flake_gate {
    _Alignas(RING_LINE) _Atomic uint64_t head; /* the next position */
    _Alignas(RING_LINE) _Atomic uint64_t limit;
    _Atomic uint64_t worker; /* where it stands in an id */
    _Atomic uint64_t begin;  /* ticks; ids are given for `span` from then on */
    _Atomic uint64_t span;
    int32_t worker_bits; /* constant, as the next one */
    int32_t counter_bits;
};

/* What the clocks say at one moment; the ticks are read first. */
struct flake_reading {
    int64_t time_ms; /* for ids */
    int64_t wall_us;
    int64_t boot_us;
    uint64_t ticks;
};

/* Who opens a ms, under the owner's lock. */
struct flake {
    struct flake_gate *gate;
    struct bits_layout layout;
    struct flake_rules rules;
    struct flake_last last;
    struct ticks ticks;
    int64_t worker;
    uint64_t start;   /* the first position of the ms that is open */
    int64_t taken;    /* ids of those before it */
    int64_t until_ms; /* CLOCK_BOOTTIME: the lease that it was opened with */
};

/* Ids of that layout, below 2^value_bits. `memory` is zeroed. */
void flake_init(struct flake *flake, const struct bits_layout *layout,
                int32_t value_bits, struct flake_gate *memory);

/* Any thread: takes up to `count` ids, in order; 0: none is open. */
size_t flake_take(struct flake_gate *gate, size_t count, int64_t *out);

/* The rest needs the owner's lock. The same, if the ms is open still; however
 * long ago it was looked at. */
size_t flake_take_locked(struct flake *flake, size_t count, int64_t *out);

/* Takes `count` contiguous ids, of which a ms has as many. False if the ms has
 * fewer left: those are nobody's then. */
bool flake_take_run(struct flake *flake, size_t count, int64_t *first);

/* Whether the ms that is open is the present one, and has ids left. */
bool flake_go_on(struct flake *flake, int64_t worker,
                 const struct flake_lease *lease,
                 const struct flake_reading *now);

/* Which ms could be opened, with all of its ids: see flake_next. So another
 * worker id never goes on in a ms. Changes nothing. */
enum flake_verdict flake_poll(const struct flake *flake,
                              const struct flake_lease *lease,
                              const struct flake_reading *now,
                              struct flake_block *block);

/* Opens that ms, which flake_poll has found. */
void flake_open(struct flake *flake, int64_t worker,
                const struct flake_lease *lease,
                const struct flake_reading *now,
                const struct flake_block *block);

/* None is open any more. */
void flake_shut(struct flake *flake);

/* Ids that were taken so far, or let go by a run that did not fit. */
int64_t flake_taken(const struct flake *flake);
