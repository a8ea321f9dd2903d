/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a backend's reply means: used, thrown away, or a sign that the store's
 * history changed. Pure. The invariants I1 to I5 are in docs/guarantees.md.
 */
#pragma once

#include <seqbroker/backend.h>

/* The highest value that this broker holds of one counter: for a windowed
 * counter inside `window`, for a direct one `window` is 0. */
struct fence_mark {
    int64_t window;
    int64_t value;
};

#define FENCE_NOTHING ((struct fence_mark){0, -1})

enum fence_verdict {
    FENCE_ACCEPT,    /* the block is ours: use it, advance the mark */
    FENCE_POISON,    /* the counter went back: refuse the partition */
    FENCE_RAISE,     /* raise (direct: and bind) the counter, ask again */
    FENCE_WINDOW,    /* windowed: install a fresh window, ask again */
    FENCE_EXHAUSTED, /* direct: nothing is left, ever */
    FENCE_FAIL       /* the reply's own status is the answer */
};

/*
 * Judges a reply. `mark` is what was held when the request was sent; `floor`
 * is what the block (windowed: its window) must lie above, 0 for nothing: as
 * when the windows of a restored authority must pass those already in use, or
 * a partition that was away has fallen behind the others.
 */
enum fence_verdict fence_evaluate(enum seqb_guarantee guarantee,
                                  const struct fence_mark *mark, int64_t floor,
                                  const struct seqb_request *reply);

/* Leaves of a granted block what lies above `floor`, if some of it does and the
 * counter did not go back. */
void fence_trim(const struct fence_mark *mark, int64_t floor,
                struct seqb_request *reply);

/* The mark after an accepted reply. */
struct fence_mark fence_advance(const struct seqb_request *reply,
                                enum seqb_guarantee guarantee);

/*
 * What a direct counter is raised to at least. If its store changed, that is
 * `gap` above the mark: the store may have forgotten all, and what is known of
 * other brokers is only that they were granted no more than that beyond it.
 */
int64_t fence_raise_floor(const struct fence_mark *mark, int64_t floor,
                          int64_t gap, const struct seqb_request *reply);

/* A window to install must lie above this: the window that stands in the
 * cell, the last that this broker used, and `floor`. */
int64_t fence_window_floor(const struct fence_mark *mark, int64_t floor,
                           const struct seqb_request *reply);

/* How far a partition may fall behind the highest value that any granted: so
 * many values, or windows, and four times what is asked of it. */
#define FENCE_LAG_VALUES  1000
#define FENCE_LAG_WINDOWS 2

/*
 * The floor that keeps a partition near `level`, the highest value or window
 * that any partition of its class granted. `want` is in values, or in whole
 * windows, of which one may have fewer than are asked for. Past the half of all
 * there are, up to `highest`, there is none: what one store got there by
 * mistake must not use up the others.
 */
int64_t fence_level_floor(enum seqb_guarantee guarantee, int64_t level,
                          int64_t highest, int64_t want);

/* Whether a granted block is one that was asked for: not empty, no more than
 * wanted, within the limit; windowed: in a window of 1 ... `window_max`. */
bool fence_is_sane(enum seqb_guarantee guarantee, int64_t window_max,
                   const struct seqb_request *reply);
