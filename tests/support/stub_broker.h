/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public API, as the daemon uses it, without a broker behind it. A test
 * sets the sequences' stock. Numbers of a sequence are dense and in order, so
 * that they show the order of events.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/admin.h>

#define STUB_KEYS 4 /* "a", "b", "c", "d"; other keys are unknown */

/* The first number. After a few numbers, two digits become three. */
#define STUB_FIRST   95
#define STUB_IN_PART 6 /* an advance to it is carried out in part */

#define STUB_SHARD_MAX 7

/* An id is its shard times this, plus the number. */
#define STUB_SHARD INT64_C(1000000)

/* A stamp lasts for this many numbers. Its digits are its first number. */
#define STUB_STAMP 100

/* The size of a text. All sequences but "d" have a template: the value of the
 * parameter "area" (at most 3 bytes) and "-", if it is given, then "SN-" and at
 * least 8 digits. */
#define STUB_TEXT_SIZE 32

struct seqb_sequence {
    int64_t next;
    int64_t stock;
    enum seqb_status empty; /* answer when there is no stock */
    bool is_armed;          /* the ready callback has to be called */
    void (*ready)(void *context);
    void *context;
};

struct stub_broker {
    struct seqb_sequence sequences[STUB_KEYS];
    int64_t deadline_ms;
    int memory_bits; /* runs are within 2^memory_bits; 0: they are not bounded
                      */
    int64_t singles; /* calls of seqb_try_next */
    int64_t manys;   /* calls of seqb_take, except for runs */
    struct seqb_clock_status clock;
    struct seqb_worker worker; /* the only worker */
    void (*on_open)(void);     /* called by seqb_open_topology; or NULL */
    void (*on_advance)(void);  /* called first by seqb_advance; or NULL */
    /* If not 0, seqb_workers first reads a byte from this descriptor. */
    int workers_gate;
    int clock_gate; /* the same for seqb_clock, with which a report begins */
    /* The only lessor. Without a backend, there is none. */
    struct seqb_lessor lessor;
    /* The status of each listed sequence. Without a key, none is listed. */
    struct seqb_sequence_status status;
    /* Number of listed sequences; 0 means 1. */
    size_t status_count;
    /* Sequences before those, which were removed. */
    size_t removed_count;
    /* Number of groups with one setting; 0 means 1. */
    size_t groups;
    size_t groups_visited;
};

extern struct stub_broker stub;

#define STUB_RUN_MASK ((INT64_C(1) << stub.memory_bits) - 1)

/* seqb_advance and seqb_reload wait while a test holds it. */
extern pthread_mutex_t stub_advance;

/* Gives each sequence `stock` numbers. Without stock, they answer `empty`. */
void stub_reset(int64_t stock, enum seqb_status empty, int64_t deadline_ms);

/* Adds stock to each sequence, and calls the ready callbacks that are due. */
void stub_refill(int64_t stock);
