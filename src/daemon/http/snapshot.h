/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the daemon and its broker are at one moment: what /metrics and /v1/status
 * are made of. The loop copies what is its own; what the library says is read
 * on another thread, since that takes long where there are many sequences.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/admin.h>
#include <seqbroker/counts.h>

#include "daemon/access/access.h"
#include "daemon/counts.h"
#include "daemon/log/log.h"
#include "status/status.h"

#define SNAPSHOT_BUSIEST_MAX 100
#define SNAPSHOT_USERS_MAX   100

struct daemon;

/* A user, whose name may end before the snapshot does. */
struct snapshot_user {
    struct status_limit status;
    char name[QUOTA_NAME_SIZE];
};

/* A sequence by its number in the library, and what was counted of it. */
struct snapshot_rank {
    size_t index;
    struct seqb_sequence_counts counts;
};

/*
 * All sequences, read once: the busiest, and the rest as one. Of the rest spans
 * are the shortest, all else is summed up. It has no counters: they would go
 * back when one of the rest becomes one of the busiest.
 */
struct snapshot_sums {
    struct snapshot_rank busiest[SNAPSHOT_BUSIEST_MAX]; /* in that order */
    size_t busiest_count;
    int64_t sequences, taken, waits, dropped;    /* of all */
    int64_t stock, rate, runway_ms, runs_out_ms; /* of the rest */
};

struct snapshot {
    struct seqb_broker *broker;
    size_t most; /* sequences to be read, the busiest; 0: all of them */
    struct status_broker self;
    struct status_stats stats;
    struct counts counts;
    struct log_tally events[LOG_EVENTS_MAX];
    int64_t connections, connections_received;
    struct snapshot_user users[SNAPSHOT_USERS_MAX];
    size_t user_count;
    /* From here on by snapshot_read. */
    enum seqb_health health;
    struct seqb_clock_status clock;
    struct status_partition *partitions;
    struct seqb_lessor *lessors;
    struct seqb_sequence_status *sequences; /* the busiest first, if so */
    struct seqb_worker_lease *leases;       /* one a pool with snowflakes */
    size_t partition_count, lessor_count, sequence_count, lease_count;
    struct snapshot_sums sums; /* nothing if `most` is 0 */
};

/* On the loop's thread. `most` is at most SNAPSHOT_BUSIEST_MAX. */
void snapshot_begin(struct snapshot *snapshot, const struct daemon *daemon,
                    size_t most);

/* On any thread. */
void snapshot_read(struct snapshot *snapshot);

/* Frees what was read. */
void snapshot_fini(struct snapshot *snapshot);

/* Adds nothing yet. */
void sums_init(struct snapshot_sums *sums);

/* Adds a sequence, each once, of which the `most` with the highest rates, or
 * that gave most if they are equal, are the busiest. */
void sums_add(struct snapshot_sums *sums, size_t most,
              const struct snapshot_rank *rank);
