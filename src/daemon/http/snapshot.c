/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the state of the broker; see snapshot.h. */
#include "daemon/http/snapshot.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/commands/commands.h"
#include "daemon/daemon.h"

/* How many sequences are read at once, which takes some 12 us if they are
 * idle. */
#define PART 256

/* How long a report runs until it leaves the CPU to others. Where others keep
 * the CPU busy, it waits each time for some milliseconds. */
#define YIELD_US 20

static void quota_read(struct snapshot_limit *list, size_t *count,
                       const struct quota *quota)
{
    struct snapshot_limit *limit = &list[*count];

    if (*count == SNAPSHOT_LIMITS_MAX)
        return;
    limit_read(quota, &limit->status);
    memcpy(limit->name, quota->name, sizeof limit->name);
    limit->status.name = NULL;
    (*count)++;
}

/* Copies the users, which come first, and the keys with limits; if there are
 * too many, the first ones. */
static void quotas_read(struct snapshot *snapshot,
                        const struct quota_list *quotas)
{
    const struct quota *quota = NULL;

    TAILQ_FOREACH(quota, quotas, entry) {
        if (quota->is_key)
            quota_read(snapshot->keys, &snapshot->key_count, quota);
        else
            quota_read(snapshot->users, &snapshot->user_count, quota);
        if (snapshot->key_count == SNAPSHOT_LIMITS_MAX)
            return;
    }
}

void snapshot_begin(struct snapshot *snapshot, const struct daemon *daemon,
                    size_t most)
{
    *snapshot = (struct snapshot){
        .broker = daemon->broker,
        .most = most,
        .self = {.broker = seqb_broker_name(daemon->broker),
                 .version = SEQB_VERSION,
                 .state_dir = daemon->state_dir,
                 .uptime_ms = daemon_now_ms() - daemon->started_ms,
                 .pid = getpid()},
        .counts = daemon->counts,
        .is_stopping = daemon_leaves(daemon) != NULL,
        .connections = daemon->session_count,
        .connections_received = daemon->connections_received,
    };
    stats_read(daemon, &snapshot->stats);
    quotas_read(snapshot, &daemon->access.quotas.list);
    memcpy(snapshot->refused_by, daemon->limits.refused_by,
           sizeof snapshot->refused_by);
    log_tallies(snapshot->events);
}

/* --- the busiest --- */

static bool is_busier(const struct snapshot_rank *one,
                      const struct snapshot_rank *other)
{
    if (one->counts.rate != other->counts.rate)
        return one->counts.rate > other->counts.rate;
    if (one->counts.taken != other->counts.taken)
        return one->counts.taken > other->counts.taken;
    return one->index < other->index;
}

static int64_t shorter(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* Adds a sequence that is not one of the busiest, or no more. */
static void rest_add(struct snapshot_sums *sums,
                     const struct seqb_sequence_counts *counts)
{
    sums->stock += counts->stock;
    sums->rate += counts->rate;
    sums->runway_ms = shorter(sums->runway_ms, counts->runway_ms);
    sums->runs_out_ms = shorter(sums->runs_out_ms, counts->runs_out_ms);
}

/* Inserts at the sorted position. There must be room. */
static void busiest_insert(struct snapshot_sums *sums,
                           const struct snapshot_rank *rank)
{
    size_t i = sums->busiest_count++;

    for (; i > 0 && is_busier(rank, &sums->busiest[i - 1]); i--)
        sums->busiest[i] = sums->busiest[i - 1];
    sums->busiest[i] = *rank;
}

void sums_init(struct snapshot_sums *sums)
{
    *sums = (struct snapshot_sums){.runway_ms = INT64_MAX,
                                   .runs_out_ms = INT64_MAX};
}

void sums_add(struct snapshot_sums *sums, size_t most,
              const struct snapshot_rank *rank)
{
    const struct snapshot_rank *last = &sums->busiest[most - 1];

    sums->taken += rank->counts.taken;
    sums->waits += rank->counts.waits;
    sums->dropped += rank->counts.dropped;
    if (rank->counts.is_removed)
        return;
    sums->sequences++;
    if (sums->busiest_count == most) {
        if (!is_busier(rank, last)) {
            rest_add(sums, &rank->counts);
            return;
        }
        rest_add(sums, &last->counts);
        sums->busiest_count--;
    }
    busiest_insert(sums, rank);
}

/* --- reading --- */

void snapshot_yield(void)
{
    static _Thread_local int64_t yielded_us;

    if (daemon_now_us() - yielded_us < YIELD_US)
        return;
    (void)sched_yield(); /* never fails: sched_yield(2) */
    yielded_us = daemon_now_us();
}

static void sums_read(struct snapshot *snapshot)
{
    struct seqb_sequence_counts counts[PART];
    struct snapshot_rank rank = {.index = 0};
    size_t next = 0;

    sums_init(&snapshot->sums);
    while (seqb_count_sequences(snapshot->broker, &next, counts,
                                sizeof counts[0], PART, NULL) == SEQB_OK &&
           rank.index < next) {
        for (size_t i = 0; rank.index < next; i++, rank.index++) {
            rank.counts = counts[i];
            sums_add(&snapshot->sums, snapshot->most, &rank);
        }
        snapshot_yield();
    }
}

/* Reads the status of the busiest. Their counts are replaced by those that were
 * added to the sums, so that the parts and the totals agree. */
static bool busiest_read(struct snapshot *snapshot)
{
    const struct snapshot_sums *sums = &snapshot->sums;

    if (sums->busiest_count > 0)
        snapshot->sequences =
            calloc(sums->busiest_count, sizeof snapshot->sequences[0]);
    for (size_t i = 0; snapshot->sequences != NULL && i < sums->busiest_count;
         i++) {
        struct seqb_sequence_status *to =
            &snapshot->sequences[snapshot->sequence_count];

        if (seqb_sequence_at(snapshot->broker, sums->busiest[i].index, to,
                             sizeof *to, NULL) != SEQB_OK)
            continue;
        to->taken = sums->busiest[i].counts.taken;
        to->waits = sums->busiest[i].counts.waits;
        to->dropped = sums->busiest[i].counts.dropped;
        snapshot->sequence_count++;
        snapshot_yield();
    }
    return snapshot->sequences != NULL || sums->busiest_count == 0;
}

static bool leases_read(struct snapshot *snapshot)
{
    const size_t one = sizeof snapshot->leases[0];
    size_t room = 0;
    size_t count = 0;

    if (seqb_worker_leases(snapshot->broker, NULL, one, 0, &room, NULL) !=
            SEQB_OK ||
        room == 0)
        return true;
    snapshot->leases = calloc(room, one);
    if (snapshot->leases != NULL &&
        seqb_worker_leases(snapshot->broker, snapshot->leases, one, room,
                           &count, NULL) == SEQB_OK)
        snapshot->lease_count = count < room ? count : room;
    return snapshot->leases != NULL;
}

bool snapshot_read(struct snapshot *snapshot)
{
    struct seqb_broker *broker = snapshot->broker;

    if (seqb_get_health(broker, &snapshot->health, NULL, 0, NULL) != SEQB_OK)
        snapshot->health = SEQB_HEALTH_UNKNOWN;
    if (seqb_clock(broker, &snapshot->clock, sizeof snapshot->clock, NULL) !=
        SEQB_OK)
        snapshot->clock.is_used = false;
    snapshot->partitions =
        status_copy(broker, STATUS_OF_PARTITIONS, &snapshot->partition_count);
    snapshot->lessors =
        status_copy(broker, STATUS_OF_LESSORS, &snapshot->lessor_count);
    if (snapshot->partitions == NULL || snapshot->lessors == NULL ||
        !leases_read(snapshot))
        return false;
    if (snapshot->most == 0) {
        snapshot->sequences =
            status_copy(broker, STATUS_OF_SEQUENCES, &snapshot->sequence_count);
        return snapshot->sequences != NULL;
    }
    sums_read(snapshot);
    return busiest_read(snapshot);
}

void snapshot_fini(struct snapshot *snapshot)
{
    free(snapshot->partitions);
    free(snapshot->lessors);
    free(snapshot->leases);
    free(snapshot->sequences);
}
