/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts of sequences, for programs whose broker has very many of them:
 * reading their whole status takes several times as long. A part of the
 * operator API, see admin.h.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/admin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The counts of a sequence: members of its status. */
struct seqb_sequence_counts {
    int64_t taken;
    int64_t waits;
    int64_t dropped;
    int64_t stock;
    int64_t rate;
    int64_t runway_ms;
    int64_t runs_out_ms; /* in whole minutes */
    bool is_removed; /* a reload removed it, or a store refused it: it is not
                        one of seqb_sequences */
};

/*
 * Copies the counts of the sequences in use, without their texts. Sequences are
 * numbered from 0 in the order in which they came into use. The call begins
 * with number `*next`, copies at most `capacity` of them, and sets `*next` to
 * the number after the last one. If `*next` is unchanged there are no more. No
 * sequence can be added during the call, so read a few hundred at a time.
 * `taken`, `waits` and `dropped` of a sequence never decrease. `size` is sizeof
 * *out; errors are those of seqb_sequences.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_count_sequences(struct seqb_broker *broker, size_t *next,
                     struct seqb_sequence_counts *out, size_t size,
                     size_t capacity, struct seqb_error *err);

/* The status of one sequence by that number. SEQB_INVALID: there is none.
 * SEQB_UNKNOWN_KEY: it was removed, and there may be others behind it. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_sequence_at(struct seqb_broker *broker, size_t index,
                 struct seqb_sequence_status *out, size_t size,
                 struct seqb_error *err);

/* The worker id with which this broker makes the snowflakes of a pool. */
struct seqb_worker_lease {
    char pool[SEQB_NAME_MAX + 1];
    int32_t worker;  /* -1: the broker holds none, and makes no ids */
    int64_t left_ms; /* how long the broker may use it without a renewal; 0 */
};

/* The worker ids as this broker knows them, without asking a store: one for
 * each pool that has snowflakes. `size` and errors are as for seqb_lessors. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_worker_leases(struct seqb_broker *broker, struct seqb_worker_lease *out,
                   size_t size, size_t capacity, size_t *count,
                   struct seqb_error *err);

#ifdef __cplusplus
}
#endif
