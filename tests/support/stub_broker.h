/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public API as the daemon sees it, without a broker: sequences whose
 * stock a test sets. Numbers of a sequence are dense and in order, so that the
 * order of numbers is the order of events.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/admin.h>

#define STUB_KEYS 4 /* "a", "b", "c", "d"; all others are unknown */

/* Before two digits become three, so that a few numbers show it. */
#define STUB_FIRST 95

#define STUB_SHARD_MAX 7

/* An id is its shard times this, and the number. */
#define STUB_SHARD INT64_C(1000000)

/* A stamp lasts for so many numbers; its digits are that of the first one. */
#define STUB_STAMP 100

/* The texts of all but "d", which has no template: "SN-" and at least 8 digits,
 * after the value of the parameter "area" of at most 3 bytes, if it is given,
 * and a "-". */
#define STUB_TEXT_SIZE 32

struct seqb_sequence {
    int64_t next;
    int64_t stock;
    enum seqb_status empty; /* what is answered without stock */
    bool is_armed;          /* the ready callback is owed */
    void (*ready)(void *context);
    void *context;
};

struct stub_broker {
    struct seqb_sequence sequences[STUB_KEYS];
    int64_t deadline_ms;
    int64_t singles; /* calls of seqb_try_next */
    int64_t manys;   /* calls of seqb_take, but for runs */
    struct seqb_clock_status clock;
    struct seqb_worker worker; /* the only one */
    struct seqb_lessor lessor; /* the only one; without a backend none is */
    struct seqb_sequence_status status; /* of each that is listed; without a
                                           key none is */
    size_t status_count;                /* how many are listed; 0: one */
    size_t groups;                      /* of settings, one each; 0: one */
    size_t groups_visited;
};

extern struct stub_broker stub;

/* All sequences have so many numbers, then answer `empty`. */
void stub_reset(int64_t stock, enum seqb_status empty, int64_t deadline_ms);

/* All get more, and those that are owed a ready call get it. */
void stub_refill(int64_t stock);
