/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers of one authority in simulated time, that do what turn.c and
 * search.c of src/lease do: what they decide by, and what makes their values,
 * is the real thing. What befalls them is test_lease_schedules.c's.
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

/* A call of the authority: it takes effect at one moment, is answered at a
 * later one. */
struct call {
    bool is_sent;
    bool is_done; /* at the authority */
    bool is_lost; /* its answer */
    bool has_failed;
    int64_t done_at;
    int64_t answer_at;
    int64_t sent_boot;
    char expected[LEASE_TEXT_SIZE];
    char text[LEASE_TEXT_SIZE]; /* "": it only looks */
    char standing[LEASE_TEXT_SIZE];
};

struct broker {
    struct lease_self self;
    int64_t boot_ppm;   /* how fast its boot clock goes, in millionths */
    int64_t skew_ms;    /* of its wall clock */
    int64_t away_until; /* stopped, or dead, till then */
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
    /* Its engine. */
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
    bool is_restored; /* and then the walls are right */
    int64_t now;      /* ms since the start */
    int32_t generation;
    struct authority authority;
    struct authority saved;
    struct broker brokers[BROKERS];
    uint64_t *given; /* a hash table of values; 0: free */
    size_t count;
};

/* 0 ... sides - 1 */
uint64_t dice(struct schedule *schedule, uint64_t sides);

int64_t boot_of(const struct schedule *schedule, const struct broker *broker);
int64_t clock_of(const struct schedule *schedule, const struct broker *broker);

/* At the authority, whether the broker runs or not: its call takes effect. */
void call_do(struct schedule *schedule, struct broker *broker);

/* Sends what is to be sent next; takes an answer that has come. */
void broker_begin(struct schedule *schedule, struct broker *broker);
void broker_answer(struct schedule *schedule, struct broker *broker);
