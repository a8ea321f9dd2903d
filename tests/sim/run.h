/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: a scene, its brokers as they come and go, and what is judged of
 * them. The struct is shared by broker.c, callers.c, judge.c and schedule.c.
 */
#pragma once

#include "chaos/oracle.h"
#include "scene.h"
#include "world.h"

#define RUN_STAMPS 1023

struct run;

/* One life of a broker: the library as it is, over the scene's stores. */
struct broker {
    struct run *run;
    int32_t index; /* of its machine */
    struct store_options backends[SCENE_BACKENDS];
    struct ha_options ha_options;
    struct queue_options queue_options;
    struct queue_clock_options clock;
    int64_t floor_ms; /* no stamp of it may begin before */
    struct site sites[SCENE_BACKENDS];
    struct ha *ha;
    struct queue *queue;
    struct seqb_sequence *sequences[SCENE_KEYS];
    bool is_open;    /* callers may call */
    bool is_gone;    /* killed: what it does now, nobody sees */
    int32_t callers; /* that have not ended */
    int64_t opened_us;
    int64_t imaged_us; /* when it was resumed from an image last; 0: never */
    int64_t
        granted_us;    /* when a caller was last given a counter's number ... */
    int64_t flaked_us; /* ... and a snowflake */
    int64_t highest[SCENE_KEYS]; /* number handed out */
};

/* Where a broker runs, is killed, and is started again. */
struct machine {
    struct run *run;
    int32_t index;
    struct broker *broker;    /* NULL: none runs */
    int64_t rest_us;          /* from a kill to the next start */
    struct world_clock clock; /* of its brokers */
    int64_t odd_until_us;     /* they may not trust it until then */
    int64_t highest_ms;       /* begin of a stamp that they handed out */
    char path[96];            /* of their clock's file */
};

/* What a run comes to. */
struct score {
    int64_t numbers;
    int64_t calls;
    int64_t errors; /* calls that were not given a number */
    int64_t faults;
    int64_t kills;
    int64_t images; /* that brokers were resumed from */
    int64_t ejections;
    int64_t poisoned; /* or refused */
    int64_t exhausted;
    int64_t longest_us; /* that a caller waited */
    int64_t rescue_us;  /* from a store's being well to its being used */
    int64_t disorder;   /* how far a number lay below an earlier one */
    int64_t largest;    /* grant of counter values */
    int64_t repeats;
    uint64_t digest;
    int32_t failures;
    char failure[256]; /* the first */
};

struct run {
    struct scene scene;
    struct machine machines[SCENE_BROKERS];
    struct oracle oracle[SCENE_KEYS];
    int64_t begun_us;
    struct score score;
    struct random faults;       /* when, where and which */
    struct random steps;        /* of clocks */
    struct random images;       /* of brokers' memory */
    char folder[64];            /* of the clocks' files */
    int64_t stamps[RUN_STAMPS]; /* seen, as digits */
    int32_t stamp_count;
    bool has_to_remember; /* brokers are not killed any more */
    bool is_over;
    bool is_verbose;
};

/* A line of what happens, if somebody wants to know. */
void run_report(const struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The whole of a seed. `without`: the guards that its stores lack. */
void run_seed(uint64_t seed, int without, bool is_verbose, struct score *out);

/* Or step by step. The scene is set: its brokers start. */
void run_begin(struct run *run, int without);

/* Goes on until then, or until something is wrong. */
void run_until(struct run *run, int64_t at_us);

/* There are no more faults: until all is well again. */
void run_until_settled(struct run *run);

/* Closes all; the score remains. */
void run_end(struct run *run);
