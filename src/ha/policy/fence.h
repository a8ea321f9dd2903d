/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what a backend's reply means: its block is used, is discarded, or
 * shows that the store's history changed. Pure. The invariants I1 to I5 are in
 * docs/guarantees.md.
 */
#pragma once

#include <seqbroker/backend.h>

/* The highest value that this broker holds of one counter. For a windowed
 * counter, `value` lies inside `window`; for a direct one `window` is 0. */
struct fence_mark {
    int64_t window;
    int64_t value;
};

#define FENCE_NOTHING ((struct fence_mark){0, -1})

enum fence_verdict {
    FENCE_ACCEPT,    /* the block is ours: use it, advance the mark */
    FENCE_POISON,    /* the counter went back: refuse the partition */
    FENCE_RAISE,     /* raise (direct: and bind) the counter, ask again */
    FENCE_WINDOW,    /* windowed: install a new window, ask again */
    FENCE_EXHAUSTED, /* direct: no value is left, for good */
    FENCE_FAIL       /* the reply's own status is the answer */
};

/*
 * Judges a reply. `mark` is what this broker held when the request was sent.
 * The block (windowed: its window) must lie above `floor`; 0: no floor. A floor
 * is needed when the windows of a restored authority must pass those already in
 * use, or when a partition that was away has fallen behind the others.
 */
enum fence_verdict fence_evaluate(enum seqb_guarantee guarantee,
                                  const struct fence_mark *mark, int64_t floor,
                                  const struct seqb_request *reply);

/* Cuts off the part of a granted block that is at or below `floor`. Does
 * nothing if the whole block is, or if the counter went back. */
void fence_trim(const struct fence_mark *mark, int64_t floor,
                struct seqb_request *reply);

/* The mark after a reply was accepted. */
struct fence_mark fence_advance(const struct seqb_request *reply,
                                enum seqb_guarantee guarantee);

/*
 * The least value to raise a direct counter to. If its store changed, this is
 * `gap` above the mark: the store may have lost every grant since then, and all
 * that is known of other brokers' grants is that they are at most `gap` beyond
 * the mark.
 */
int64_t fence_raise_floor(const struct fence_mark *mark, int64_t floor,
                          int64_t gap, const struct seqb_request *reply);

/* A window to install must lie above this value: the highest of the cell's
 * present window, the last window that this broker used, and `floor`. */
int64_t fence_window_floor(const struct fence_mark *mark, int64_t floor,
                           const struct seqb_request *reply);

/* How far a partition may fall behind the highest value that any partition
 * granted: this many values, or windows, plus four times what it is asked
 * for. */
#define FENCE_LAG_VALUES  1000
#define FENCE_LAG_WINDOWS 2

/*
 * The floor that keeps a partition near `level`, the highest value or window
 * that any partition of its class granted. `want` is in values, or in windows
 * that hold as many values as are asked for, rounded down. 0, which is no
 * floor, if `level` is in the upper half of 1 ... `highest`: one store that got
 * there by mistake must not use up the others.
 */
int64_t fence_level_floor(enum seqb_guarantee guarantee, int64_t level,
                          int64_t highest, int64_t want);

/* Whether a granted block fits the request: not empty, no longer than wanted,
 * within the limit; windowed: in a window of 1 ... `window_max`. */
bool fence_is_sane(enum seqb_guarantee guarantee, int64_t window_max,
                   const struct seqb_request *reply);
