/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: a scene, its brokers as they start and end, and the results. The
 * files broker.c, callers.c, judge.c and schedule.c share these structs.
 */
#pragma once

#include "chaos/oracle.h"
#include "scene.h"
#include "world.h"

#define RUN_STAMPS 1023

struct run;
struct mover;
struct truster;

/* One broker from its start to its end: the real library over the scene's
 * stores. */
struct broker {
    struct run *run;
    int32_t index; /* of its machine */
    struct store_options backends[SCENE_BACKENDS];
    struct store_options used[SCENE_BACKENDS]; /* by its generation */
    struct ha_options ha_options;
    struct queue_options queue_options;
    struct queue_clock_options clock;
    int64_t floor_ms; /* its stamps must not begin before */
    struct ha_pool_options pool;
    struct queue_options reloaded[2]; /* of the last reloads */
    bool is_reloading;
    int32_t generation; /* index of the layout that it knows */
    char granted[160];  /* paths in the state directory */
    char raised[160];
    char spool[160];
    struct site sites[SCENE_BACKENDS];
    struct ha *ha;
    struct queue *queue;
    struct seqb_sequence *sequences[SCENE_KEYS];
    bool is_open;    /* callers may call it */
    bool is_gone;    /* killed: its actions have no effect any more */
    bool is_halting; /* it ends in order */
    int32_t callers; /* number of callers that have not ended */
    int32_t orders;  /* number of orders that have not ended */
    int64_t opened_us;
    int64_t imaged_us;  /* when it was last resumed from an image; 0: never */
    int64_t granted_us; /* when a caller last got a number of a counter ... */
    int64_t flaked_us;  /* ... and a snowflake */
    int64_t highest[SCENE_KEYS]; /* the highest number issued */
};

/* A machine on which a broker runs, is killed, and is started again. */
struct machine {
    struct run *run;
    int32_t index;
    struct broker *broker;    /* NULL: none is running */
    int64_t rest_us;          /* from a kill until the next start */
    struct world_clock clock; /* the wall clock of its brokers */
    int64_t odd_until_us;     /* until then they may distrust the clock */
    int64_t highest_ms;       /* latest begin of a stamp that they issued */
    char path[96];            /* of the file of their guarded clock */
    int32_t life;             /* number of kills, in the name of the state
                                 directory */
};

/* The results of a run. */
struct score {
    int64_t numbers;
    int64_t calls;
    int64_t errors; /* calls that got no number */
    int64_t faults;
    int64_t kills;
    int64_t trusts; /* stores that were trusted */
    int64_t images; /* resumes of brokers from an image */
    int64_t ejections;
    int64_t poisoned; /* partitions poisoned or refused */
    int64_t exhausted;
    int64_t longest_us; /* longest wait of a caller */
    int64_t rescue_us;  /* longest from a store's recovery to its use */
    int64_t disorder;   /* how far a number was below an earlier one */
    int64_t largest;    /* largest grant of counter values */
    int64_t repeats;
    uint64_t digest;
    int32_t failures;
    char failure[256]; /* the first one */
};

struct run {
    struct scene scene;
    struct machine machines[SCENE_BROKERS];
    struct oracle oracle[SCENE_KEYS];
    int64_t begun_us;
    struct score score;
    struct random faults;       /* draws when, where and which faults happen */
    struct random steps;        /* draws steps of clocks */
    struct random images;       /* draws images of brokers */
    struct random trusts;       /* draws which stores are trusted */
    struct random orders;       /* draws what operators do */
    char folder[64];            /* for files of guarded clocks */
    int64_t stamps[RUN_STAMPS]; /* stamps seen, as digits */
    int32_t stamp_count;
    int32_t generation; /* index of the last one that a migration finished */
    int32_t tried;      /* index of the last one that a migration began */
    int32_t moved;      /* the one that the last migration finished; -1: it
                           failed */
    bool has_to_redo;   /* stores differ from the generation */
    bool is_settling;   /* there are no faults any more */
    struct truster *truster; /* the word under way; NULL: none */
    struct mover *mover;     /* the migration under way; NULL: none */
    bool has_to_remember;    /* brokers must not be killed any more */
    bool is_over;
    bool is_verbose;
};

/* Prints a line about what happens, if `is_verbose`. */
void run_report(const struct run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Runs a whole seed. `without` is the set of guards that its stores lack. */
void run_seed(uint64_t seed, int without, bool is_verbose, struct score *out);

/* Or step by step, with a scene that is set already: starts its brokers. */
void run_begin(struct run *run, int without);

/* Runs until that time, or until the run has failed. */
void run_until(struct run *run, int64_t at_us);

/* Runs without faults until everything works again. */
void run_until_settled(struct run *run);

/* Closes everything. The score stays. */
void run_end(struct run *run);
