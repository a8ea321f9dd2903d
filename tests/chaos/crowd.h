/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Broker processes that take numbers continuously, and a thread that passes all
 * numbers to the oracle, so that no process waits while something happens. A
 * process ends if its broker refuses a partition permanently; no fault of a
 * store may cause that.
 *
 * A failure of these functions fails the test. Call them from the main thread
 * only.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "oracle.h"

#define CROWD_SIZE       4
#define CROWD_PARTITIONS 4
/* The bits of a number from this one on are its key's index. */
#define CROWD_KEY_SHIFT  60

/* The sequence from which the processes take numbers. */
struct crowd_key {
    const char *name;
    int index; /* below 8; unique for each key */
};

struct crowd {
    pid_t pids[CROWD_SIZE]; /* 0: not running */
    int fds[CROWD_SIZE];    /* pipes for the numbers that they take */
    pthread_t listener;
    bool is_listening;

    /* The store loses what it commits: numbers of other brokers may repeat, and
     * processes may end. A process must still not repeat its own numbers. Set
     * before the start. */
    bool expects_loss;

    /* The store may have to be refused: processes may end, but no number may
     * repeat. Set before the start. */
    bool expects_refusal;

    /* The partition's bits in a number: there are `bits` of them, above
     * memory_bits. Set before the start; 0 and 0 with one partition. */
    int32_t memory_bits;
    int32_t bits;

    /* The network namespace of each process (see lan_fd); -1: the test
     * program's. Set before the start. */
    int netns[CROWD_SIZE];

    pthread_mutex_t lock; /* guards all members below */
    pthread_cond_t heard;
    struct oracle oracle;
    struct oracle own[CROWD_SIZE]; /* of each process; only if expects_loss */
    int64_t taken[CROWD_SIZE];
    /* Numbers by partition and process. */
    int64_t granted[CROWD_PARTITIONS][CROWD_SIZE];
    bool has_ended[CROWD_SIZE];
};

void crowd_init(struct crowd *crowd);

/* Ends the processes that still run. */
void crowd_fini(struct crowd *crowd);

/* Starts the processes, each with its topology. On return, each has taken
 * numbers. */
void crowd_start(struct crowd *crowd, const char *const *topologies,
                 struct crowd_key key);

/* Sends SIGKILL to all while they run. Numbers that they have written are still
 * read. */
void crowd_kill(struct crowd *crowd);

/* Sends a signal to all, such as SIGSTOP, after which they have stopped, and
 * SIGCONT. */
void crowd_signal(struct crowd *crowd, int signal);

/* Waits until each process has taken `each` more numbers. Fails at once if a
 * number repeats. */
void crowd_await(struct crowd *crowd, int64_t each);

/* The same, for at most `patience_ms`, for a crowd whose store may be
 * refused. */
void crowd_await_for(struct crowd *crowd, int64_t each, int32_t patience_ms);

/* The same for numbers of one partition. */
void crowd_await_granted(struct crowd *crowd, int32_t partition, int64_t each);

/* The same as crowd_await for the processes outside that network namespace. */
void crowd_await_outside(struct crowd *crowd, int netns, int64_t each);

/* The numbers taken so far by all processes, and how many of them were
 * repeats. */
int64_t crowd_count(struct crowd *crowd);
int64_t crowd_repeats(struct crowd *crowd);
