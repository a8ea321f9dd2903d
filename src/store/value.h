/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bits of a number. Pure.
 *
 *   number = ((v << bits | partition) << memory_bits) | k
 *   v      = window << window_bits | offset      in a windowed partition
 */
#pragma once

#include <assert.h>
#include <stdint.h>

#include <seqbroker/backend.h>
#include <seqbroker/seqbroker.h>

#define LAYOUT_BITS_ALL 63 /* the bits of a number */

/* By how many windows a changed authority is raised. Leases are rare, so this
 * is more than the number of leases that a store can forget in practice. */
#define WINDOW_GAP 65536

/* The largest counter value whose numbers fit in 63 bits. */
static inline int64_t layout_counter_max(int32_t bits, int32_t memory_bits)
{
    return INT64_MAX >> (bits + memory_bits);
}

/* The largest window whose numbers fit in 63 bits; 0: there is none. */
static inline int64_t layout_window_max(int32_t bits, int32_t memory_bits,
                                        int32_t window_bits)
{
    const int32_t spent = bits + memory_bits + window_bits;

    return spent < LAYOUT_BITS_ALL ? INT64_MAX >> spent : 0;
}

/* The gap in windows if there are only `most` windows in all: at most a
 * sixteenth of them for one change of the authority, but not so few that a
 * store may well have forgotten more. */
#define WINDOW_GAP_LEAST 16

static inline int64_t layout_window_gap(int64_t most)
{
    const int64_t share = most / 16;

    if (share < WINDOW_GAP_LEAST)
        return WINDOW_GAP_LEAST;
    return share < WINDOW_GAP ? share : WINDOW_GAP;
}

/*
 * The random bits for a seqb_raise_spread that begins at `value`. The spread is
 * a small share of what is left up to the counter's limit. If the sequence's
 * texts are narrower than the counter, the result is reduced to the same share
 * of what the texts have left. Numbers above `useful` are too wide for a text
 * (0: there is no such limit); the counter counts their bits without the
 * `low_bits` lowest ones.
 */
static inline uint64_t layout_chance(uint64_t random, int64_t useful,
                                     int32_t low_bits, int64_t value)
{
    const int64_t values = low_bits < LAYOUT_BITS_ALL ? useful >> low_bits : 0;
    const int64_t left = value < values ? values - value : 0;

    return useful == 0 ? random
                       : random % (uint64_t)(left / SEQB_SPREAD_PARTS + 1);
}

/* Limits of the windows that are leased in one run. A run has at most
 * 2^RUN_VALUE_BITS values, unless one window has more, and at most one
 * RUN_SHARE-th of all leases, so that no broker takes most of the windows where
 * there are few. */
#define RUN_VALUE_BITS 27
#define RUN_SHARE      64

static inline int64_t layout_run_most(int32_t window_bits, int64_t leases)
{
    const int32_t bits = RUN_VALUE_BITS - window_bits;
    const int64_t most = bits > 0 ? (int64_t)1 << bits : 1;
    const int64_t share = leases / RUN_SHARE;

    if (share < 1)
        return 1;
    return share < most ? share : most;
}

/* The first number of counter value `v`; `v` must not exceed the maximum. */
static inline int64_t layout_number(int64_t v, int32_t partition, int32_t bits,
                                    int32_t memory_bits)
{
    assert(v >= 0 && v <= layout_counter_max(bits, memory_bits));
    assert(partition >= 0 && partition < (1 << bits));
    return (v << bits | partition) << memory_bits;
}

/* What the number's bits say. */
static inline void layout_decode(int64_t number, int32_t bits,
                                 int32_t memory_bits, struct seqb_decoded *out)
{
    const int64_t run = number >> memory_bits;

    out->counter = run >> bits;
    out->partition = (int32_t)(run & ((1 << bits) - 1));
    out->memory_bits = memory_bits;
    out->memory = number & (((int64_t)1 << memory_bits) - 1);
}
