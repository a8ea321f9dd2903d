/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Broker processes that take numbers all the while, and a thread that tells
 * the oracle of each, so that none of them waits while something happens. A
 * process whose broker refuses a partition for good ends: no fault of a store
 * may come to that.
 *
 * What goes wrong here fails the test; for its main thread alone.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "oracle.h"

#define CROWD_SIZE       4
#define CROWD_PARTITIONS 4
#define CROWD_KEY_SHIFT  60 /* a number has its key's index above that bit */

/* Of which sequence the processes take numbers. */
struct crowd_key {
    const char *name;
    int index; /* below 8; other keys have other ones */
};

struct crowd {
    pid_t pids[CROWD_SIZE]; /* 0: none */
    int fds[CROWD_SIZE];    /* the pipe in which it tells its numbers */
    pthread_t listener;
    bool is_listening;

    /* A store that loses what it commits: what other brokers had may come
     * again, and processes may end; that none repeats a number of its own is
     * still required. Set before the start. */
    bool expects_loss;

    /* A store that may have to be refused: processes may end, and no number
     * comes twice. Set before the start. */
    bool expects_refusal;

    /* Each process rests so long after each take of a few numbers, us: servers
     * that start beside it want the processor, too. Set before the start. */
    unsigned rest_us;

    /* Where a number has its partition: above so many bits, in so many. Set
     * before the start; 0 and 0 with one partition. */
    int32_t memory_bits;
    int32_t bits;

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t heard;
    struct oracle oracle;
    struct oracle own[CROWD_SIZE]; /* of each process; only if that is set */
    int64_t taken[CROWD_SIZE];
    int64_t granted[CROWD_PARTITIONS][CROWD_SIZE]; /* of those, by each */
    bool has_ended[CROWD_SIZE];
};

void crowd_init(struct crowd *crowd);

/* Ends what still runs. */
void crowd_fini(struct crowd *crowd);

/* Starts the processes, each with its topology; every one has taken numbers
 * when it returns. */
void crowd_start(struct crowd *crowd, const char *const *topologies,
                 struct crowd_key key);

/* SIGKILL to all in mid-run; what they had told is heard. */
void crowd_kill(struct crowd *crowd);

/* A signal to all of them, as SIGSTOP and SIGCONT. */
void crowd_signal(struct crowd *crowd, int signal);

/* Waits until each process has taken so many more numbers. Fails at once when
 * a number came twice. */
void crowd_await(struct crowd *crowd, int64_t each);

/* The same for so many ms at most, of a crowd whose store may be refused. */
void crowd_await_for(struct crowd *crowd, int64_t each, int32_t patience_ms);

/* The same for numbers of one partition. */
void crowd_await_granted(struct crowd *crowd, int32_t partition, int64_t each);

/* Numbers taken so far, by all; and those of them that had come before. */
int64_t crowd_count(struct crowd *crowd);
int64_t crowd_repeats(struct crowd *crowd);
