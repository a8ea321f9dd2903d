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

#include "daemon/counts.h"
#include "status/status.h"

#define SNAPSHOT_REASON_SIZE 512
#define SNAPSHOT_BUSIEST_MAX 100

struct daemon;

/* Sequences, the busiest first. */
struct snapshot_busiest {
    /* The last one is for what stands for the others. */
    const struct seqb_sequence_status *rows[SNAPSHOT_BUSIEST_MAX + 1];
    size_t count;
};

struct snapshot {
    struct seqb_broker *broker;
    struct status_broker self;
    struct counts counts;
    int64_t connections, connections_received;
    /* From here on by snapshot_read. */
    enum seqb_health health;
    char reason[SNAPSHOT_REASON_SIZE]; /* why it is not serving, or "" */
    struct seqb_clock_status clock;
    struct seqb_partition_status *partitions;
    struct seqb_lessor *lessors;
    struct seqb_sequence_status *sequences;
    size_t partition_count, lessor_count, sequence_count;
};

/* On the loop's thread. */
void snapshot_begin(struct snapshot *snapshot, const struct daemon *daemon);

/* On any thread. */
void snapshot_read(struct snapshot *snapshot);

/* Frees what was read. */
void snapshot_fini(struct snapshot *snapshot);

/* Whether it has the higher rate, or gave more if they are equal. An order: of
 * two sequences one is busier. */
bool snapshot_is_busier(const struct seqb_sequence_status *one,
                        const struct seqb_sequence_status *other);

/* The `most` busiest sequences. At most SNAPSHOT_BUSIEST_MAX. */
void snapshot_find_busiest(const struct snapshot *snapshot, size_t most,
                           struct snapshot_busiest *out);
