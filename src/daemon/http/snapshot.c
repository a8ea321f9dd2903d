/* SPDX-License-Identifier: Apache-2.0 */
/* Reading how the broker is; see snapshot.h. */
#include "daemon/http/snapshot.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/commands/commands.h"
#include "daemon/daemon.h"

void snapshot_begin(struct snapshot *snapshot, const struct daemon *daemon)
{
    *snapshot = (struct snapshot){
        .broker = daemon->broker,
        .self = {.broker = seqb_broker_name(daemon->broker),
                 .version = SEQB_VERSION,
                 .state_dir = daemon->state_dir,
                 .uptime_ms = daemon_now_ms() - daemon->started_ms,
                 .pid = getpid()},
        .counts = daemon->counts,
        .connections = daemon->session_count,
        .connections_received = daemon->connections_received,
    };
}

void snapshot_read(struct snapshot *snapshot)
{
    struct seqb_broker *broker = snapshot->broker;

    if (seqb_get_health(broker, &snapshot->health, snapshot->reason,
                        sizeof snapshot->reason, NULL) != SEQB_OK)
        snapshot->health = SEQB_HEALTH_UNKNOWN;
    if (seqb_clock(broker, &snapshot->clock, sizeof snapshot->clock, NULL) !=
        SEQB_OK)
        snapshot->clock.is_used = false;
    snapshot->partitions =
        status_copy(broker, STATUS_OF_PARTITIONS, &snapshot->partition_count);
    snapshot->lessors =
        status_copy(broker, STATUS_OF_LESSORS, &snapshot->lessor_count);
    snapshot->sequences =
        status_copy(broker, STATUS_OF_SEQUENCES, &snapshot->sequence_count);
}

void snapshot_fini(struct snapshot *snapshot)
{
    free(snapshot->partitions);
    free(snapshot->lessors);
    free(snapshot->sequences);
}

bool snapshot_is_busier(const struct seqb_sequence_status *one,
                        const struct seqb_sequence_status *other)
{
    if (one->rate != other->rate)
        return one->rate > other->rate;
    if (one->taken != other->taken)
        return one->taken > other->taken;
    return strcmp(one->key, other->key) < 0;
}

/* Into its place among those that are sorted already; the last one falls out
 * where there is no room. */
static void busiest_insert(struct snapshot_busiest *busiest, size_t most,
                           const struct seqb_sequence_status *sequence)
{
    size_t i = busiest->count;

    if (i == most &&
        (most == 0 || !snapshot_is_busier(sequence, busiest->rows[i - 1])))
        return;
    if (i == most)
        i--;
    else
        busiest->count++;
    for (; i > 0 && snapshot_is_busier(sequence, busiest->rows[i - 1]); i--)
        busiest->rows[i] = busiest->rows[i - 1];
    busiest->rows[i] = sequence;
}

void snapshot_find_busiest(const struct snapshot *snapshot, size_t most,
                           struct snapshot_busiest *out)
{
    out->count = 0;
    for (size_t i = 0; i < snapshot->sequence_count; i++)
        busiest_insert(out, most, &snapshot->sequences[i]);
}
