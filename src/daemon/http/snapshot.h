/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the daemon and its broker at one moment, from which /metrics and
 * /v1/status are made. The loop copies its own data. Another thread reads the
 * library's data, because that takes long if there are many sequences.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/admin.h>
#include <seqbroker/counts.h>

#include "daemon/access/access.h"
#include "daemon/counts.h"
#include "daemon/limits/limits.h"
#include "daemon/log/log.h"
#include "status/status.h"

#define SNAPSHOT_BUSIEST_MAX 100
#define SNAPSHOT_LIMITS_MAX  100

struct daemon;

/* A user, or a key with limits. The name is a copy, because the original may be
 * freed before the snapshot. */
struct snapshot_limit {
    struct status_limit status;
    char name[QUOTA_NAME_SIZE];
};

/* A sequence, by its index in the library, and its counts. */
struct snapshot_rank {
    size_t index;
    struct seqb_sequence_counts counts;
};

/*
 * All sequences, read once: the busiest ones, and the sums over the rest, where
 * runway_ms and runs_out_ms are the shortest. The rest has no counters: they
 * would go back when one of its sequences becomes one of the busiest.
 */
struct snapshot_sums {
    struct snapshot_rank busiest[SNAPSHOT_BUSIEST_MAX]; /* busiest first */
    size_t busiest_count;
    int64_t sequences, taken, waits, dropped;    /* of all sequences */
    int64_t stock, rate, runway_ms, runs_out_ms; /* of all others */
};

struct snapshot {
    struct seqb_broker *broker;
    size_t most; /* how many of the busiest sequences to read; 0: all */
    struct status_broker self;
    struct status_stats stats;
    struct counts counts;
    struct log_tally events[LOG_EVENTS_MAX];
    bool is_stopping; /* or is going to, see daemon_leaves */
    int64_t connections, connections_received;
    struct snapshot_limit users[SNAPSHOT_LIMITS_MAX];
    size_t user_count;
    struct snapshot_limit keys[SNAPSHOT_LIMITS_MAX]; /* last refused first */
    size_t key_count;
    int64_t refused_by[LIMITS_OF_CONNECTIONS];
    /* The following fields are set by snapshot_read. */
    enum seqb_health health;
    struct seqb_clock_status clock;
    struct status_partition *partitions;
    struct seqb_lessor *lessors;
    struct seqb_sequence_status *sequences; /* busiest first if `most` > 0 */
    struct seqb_worker_lease *leases;       /* one per pool with snowflakes */
    size_t partition_count, lessor_count, sequence_count, lease_count;
    struct snapshot_sums sums; /* not set if `most` is 0 */
};

/* Copies the daemon's data, on the loop's thread. `most` is at most
 * SNAPSHOT_BUSIEST_MAX. */
void snapshot_begin(struct snapshot *snapshot, const struct daemon *daemon,
                    size_t most);

/* Reads the library's data. False if memory is short: some of it is missing.
 * Any thread. */
bool snapshot_read(struct snapshot *snapshot);

/* Leaves the CPU to a thread that waits for it, most likely to the loop's
 * commands, if the caller has had it for 20 us. The kernel would let them wait
 * for some milliseconds. For the thread of /metrics. A longer report would
 * take too long on a CPU that others keep busy. */
void snapshot_yield(void);

/* Frees what snapshot_read has allocated. */
void snapshot_fini(struct snapshot *snapshot);

/* Starts with no sequences. */
void sums_init(struct snapshot_sums *sums);

/* Adds a sequence; each must be added once. One that was removed counts only
 * for what it gave, since those counters must not go back. The busiest are the
 * `most` (at least 1) sequences with the highest rates, and among equal rates
 * those that have given the most numbers. */
void sums_add(struct snapshot_sums *sums, size_t most,
              const struct snapshot_rank *rank);
