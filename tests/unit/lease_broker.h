/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers of one authority in simulated time. They do what turn.c and search.c
 * of src/lease do; their decisions and their numbers are made by the real code.
 * test_lease_schedules.c decides what happens to them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lease/rows.h"
#include "period/flake_time.h"

#define BROKERS  4
#define IDS      3
#define LEASE_MS 1000
#define REST_MS  80
#define START_MS INT64_C(1790000000000)

enum phase { RENEW, LOOK_ORIGIN, BIND_ORIGIN, LOOK, TAKE, GIVE_BACK };

/* A call of the authority. It takes effect at one moment, and is answered at a
 * later one. */
struct call {
    bool is_sent;
    bool is_done; /* it has taken effect */
    bool is_lost; /* the answer is lost */
    bool has_failed;
    int64_t done_at;
    int64_t answer_at;
    int64_t sent_boot;
    char expected[LEASE_TEXT_SIZE];
    char text[LEASE_TEXT_SIZE]; /* "": the call only reads */
    char standing[LEASE_TEXT_SIZE];
};

struct broker {
    struct lease_self self;
    int64_t boot_ppm; /* error of its boot clock's rate, in parts per million */
    int64_t skew_ms;  /* error of its wall clock */
    int64_t away_until; /* until then it is stopped or dead */
    bool is_dead;
    int32_t generation; /* of the authority that it is connected to */
    enum phase phase;
    struct call call;
    int64_t due;
    int32_t id; /* -1: none */
    int32_t next;
    struct lease_row row;
    int64_t above_ms;
    struct observation origin_observation;
    struct observation observations[IDS];
    /* What makes its numbers. */
    struct flake_lease lease;
    struct flake_last last;
    int32_t worker;
    int64_t used_ms;
};

struct authority {
    char origin[LEASE_TEXT_SIZE];
    char rows[IDS][LEASE_TEXT_SIZE];
};

struct schedule {
    uint64_t seed;
    uint64_t random;
    bool is_restored; /* may be restored; the wall clocks are right then */
    int64_t now;      /* ms since the start */
    int32_t generation;
    struct authority authority;
    struct authority saved;
    struct broker brokers[BROKERS];
    uint64_t *given; /* hash table of numbers issued; 0: free slot */
    size_t count;
};

/* A random number in 0 ... sides - 1. */
uint64_t dice(struct schedule *schedule, uint64_t sides);

int64_t boot_of(const struct schedule *schedule, const struct broker *broker);
int64_t clock_of(const struct schedule *schedule, const struct broker *broker);

/* The broker's call takes effect at the authority, whether the broker runs or
 * not. */
void call_do(struct schedule *schedule, struct broker *broker);

/* broker_begin sends the broker's next call. broker_answer handles an answer
 * that has arrived. */
void broker_begin(struct schedule *schedule, struct broker *broker);
void broker_answer(struct schedule *schedule, struct broker *broker);
