/* SPDX-License-Identifier: Apache-2.0 */
/* The public API over plain counters; see stub_broker.h. Texts are made by
 * stub_texts.c. */
#include "support/stub_broker.h"

#include <stdio.h>
#include <unistd.h>

#include <seqbroker/counts.h>
#include <seqbroker/events.h>
#include <seqbroker/reload.h>

#define RUN_MAX 8

struct seqb_broker {
    int unused;
};

struct stub_broker stub;

pthread_mutex_t stub_advance = PTHREAD_MUTEX_INITIALIZER;

void stub_reset(int64_t stock, enum seqb_status empty, int64_t deadline_ms)
{
    stub = (struct stub_broker){.deadline_ms = deadline_ms};
    for (int i = 0; i < STUB_KEYS; i++)
        stub.sequences[i] = (struct seqb_sequence){
            .next = STUB_FIRST, .stock = stock, .empty = empty};
}

void stub_refill(int64_t stock)
{
    for (int i = 0; i < STUB_KEYS; i++) {
        struct seqb_sequence *sequence = &stub.sequences[i];

        sequence->stock += stock;
        if (sequence->is_armed && sequence->ready != NULL) {
            sequence->is_armed = false;
            sequence->ready(sequence->context);
        }
    }
}

static enum seqb_status fail(struct seqb_error *err, enum seqb_status status)
{
    if (err == NULL)
        return status;
    err->status = status;
    snprintf(err->text, sizeof err->text, "%s", seqb_status_name(status));
    return status;
}

void seqb_topology_free(struct seqb_topology *topology)
{
    (void)topology;
}

enum seqb_status seqb_open_topology(struct seqb_topology *topology,
                                    struct seqb_broker **out,
                                    struct seqb_error *err)
{
    static struct seqb_broker broker;

    (void)topology;
    (void)err;
    if (stub.on_open != NULL)
        stub.on_open();
    *out = &broker;
    return SEQB_OK;
}

void seqb_end_waits(struct seqb_broker *broker, int64_t keep_ms)
{
    (void)broker;
    (void)keep_ms;
}

void seqb_close(struct seqb_broker *broker)
{
    (void)broker;
}

enum seqb_status seqb_get_sequence(struct seqb_broker *broker, const char *key,
                                   struct seqb_sequence **out,
                                   struct seqb_error *err)
{
    (void)broker;
    if (key[0] < 'a' || key[0] >= 'a' + STUB_KEYS || key[1] != '\0')
        return fail(err, SEQB_UNKNOWN_KEY);
    *out = &stub.sequences[key[0] - 'a'];
    return SEQB_OK;
}

static bool stub_take(struct seqb_sequence *sequence, int64_t *out)
{
    if (sequence->stock == 0) {
        sequence->is_armed = true;
        return false;
    }
    sequence->stock--;
    *out = sequence->next++;
    return true;
}

enum seqb_status seqb_try_next(struct seqb_sequence *sequence, int64_t *out,
                               struct seqb_error *err)
{
    stub.singles++;
    return stub_take(sequence, out) ? SEQB_OK : fail(err, sequence->empty);
}

static enum seqb_status take_run(struct seqb_sequence *sequence, size_t count,
                                 int64_t *first, struct seqb_error *err)
{
    int64_t value = 0;

    if (count < 1 || count > RUN_MAX)
        return fail(err, SEQB_INVALID);
    do {
        if (!stub_take(sequence, first))
            return fail(err, sequence->empty);
    } while (stub.memory_bits > 0 &&
             (*first & STUB_RUN_MASK) + (int64_t)count > STUB_RUN_MASK + 1);
    for (size_t i = 1; i < count && stub_take(sequence, &value); i++)
        continue;
    return SEQB_OK;
}

enum seqb_status seqb_take(struct seqb_sequence *sequence,
                           const struct seqb_take_options *options,
                           int64_t *out, struct seqb_taken *taken,
                           struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    taken->count = 0;
    if ((options->flags & SEQB_CONTIGUOUS) != 0) {
        status = take_run(sequence, options->count, out, err);
        taken->count = status == SEQB_OK ? options->count : 0;
        return status;
    }
    if (options->shard < 0 || options->shard > STUB_SHARD_MAX)
        return fail(err, SEQB_INVALID);
    stub.manys++;
    taken->stamp = (struct seqb_stamp){.digits = sequence->next -
                                                 sequence->next % STUB_STAMP};
    for (; taken->count < options->count; taken->count++) {
        if (!stub_take(sequence, out + taken->count))
            return fail(err, sequence->empty);
        out[taken->count] += options->shard * STUB_SHARD;
    }
    return SEQB_OK;
}

void seqb_on_ready(struct seqb_sequence *sequence, void (*ready)(void *context),
                   void *context)
{
    sequence->ready = ready;
    sequence->context = context;
}

int64_t seqb_deadline_ms(const struct seqb_sequence *sequence)
{
    (void)sequence;
    return stub.deadline_ms;
}

enum seqb_status seqb_decode(const struct seqb_sequence *sequence,
                             int64_t value, struct seqb_decoded *out,
                             struct seqb_error *err)
{
    (void)sequence;
    if (value < 1)
        return fail(err, SEQB_INVALID);
    *out = (struct seqb_decoded){.counter = value,
                                 .memory_bits = stub.memory_bits,
                                 .memory = value & STUB_RUN_MASK,
                                 .time_ms = -1,
                                 .shard = -1,
                                 .datacenter = -1,
                                 .worker = -1,
                                 .number = value};
    if (value < STUB_SHARD)
        return SEQB_OK;
    out->time_ms = value;
    out->shard = value / STUB_SHARD;
    out->number = value % STUB_SHARD;
    return SEQB_OK;
}

enum seqb_status seqb_decode_key(struct seqb_broker *broker, const char *key,
                                 int64_t value, struct seqb_decoded *out,
                                 struct seqb_error *err)
{
    struct seqb_sequence *sequence;
    const enum seqb_status status =
        seqb_get_sequence(broker, key, &sequence, err);

    return status == SEQB_OK ? seqb_decode(sequence, value, out, err) : status;
}

enum seqb_status seqb_check_take(struct seqb_broker *broker, const char *key,
                                 const struct seqb_take_options *options,
                                 struct seqb_error *err)
{
    struct seqb_sequence *sequence;

    (void)options;
    return seqb_get_sequence(broker, key, &sequence, err);
}

enum seqb_status seqb_parse_key(struct seqb_broker *broker, const char *key,
                                const char *text, struct seqb_parsed *out,
                                struct seqb_error *err)
{
    struct seqb_sequence *sequence;
    const enum seqb_status status =
        seqb_get_sequence(broker, key, &sequence, err);

    return status == SEQB_OK ? seqb_parse(sequence, text, out, err) : status;
}

/* --- what operators ask, in as few words as will do --- */

const char *seqb_broker_name(const struct seqb_broker *broker)
{
    (void)broker;
    return "stub";
}

const char *seqb_library(size_t i)
{
    (void)i;
    return NULL;
}

enum seqb_status seqb_get_health(struct seqb_broker *broker,
                                 enum seqb_health *out, char *reason,
                                 size_t size, struct seqb_error *err)
{
    (void)broker;
    (void)err;
    *out = SEQB_HEALTH_SERVING;
    if (size > 0)
        reason[0] = '\0';
    return SEQB_OK;
}

enum seqb_status seqb_command(struct seqb_broker *broker, const char *pool,
                              int32_t partition, enum seqb_order order,
                              struct seqb_error *err)
{
    (void)broker;
    (void)pool;
    (void)partition;
    (void)order;
    return fail(err, SEQB_INVALID);
}

enum seqb_status seqb_reload(struct seqb_broker *broker, const char *topology,
                             const struct seqb_reload_options *options,
                             struct seqb_error *err)
{
    (void)broker;
    (void)topology;
    (void)options;
    (void)err;
    pthread_mutex_lock(&stub_advance);
    pthread_mutex_unlock(&stub_advance);
    return SEQB_OK;
}

const char *seqb_reload_need_name(enum seqb_reload_need need)
{
    (void)need;
    return "nothing";
}

static struct {
    void (*callback)(void *context, const struct seqb_event *event);
    void *context;
} listener;

enum seqb_status seqb_highest(struct seqb_broker *broker, const char *key,
                              int64_t *out, struct seqb_error *err)
{
    (void)broker;
    (void)key;
    (void)err;
    *out = STUB_FIRST;
    return SEQB_OK;
}

enum seqb_status seqb_advance(struct seqb_broker *broker, const char *key,
                              int64_t to, struct seqb_error *err)
{
    const struct seqb_event event = {.kind = SEQB_EVENT_ADVANCED, .key = key};

    (void)broker;
    if (stub.on_advance != NULL)
        stub.on_advance();
    pthread_mutex_lock(&stub_advance);
    pthread_mutex_unlock(&stub_advance);
    if (to != STUB_IN_PART)
        return fail(err, SEQB_INVALID);
    listener.callback(listener.context, &event);
    return fail(err, SEQB_UNAVAILABLE);
}

enum seqb_status seqb_on_event(struct seqb_broker *broker,
                               void (*callback)(void *context,
                                                const struct seqb_event *event),
                               void *context, struct seqb_error *err)
{
    (void)broker;
    (void)err;
    listener.callback = callback;
    listener.context = context;
    return SEQB_OK;
}

enum seqb_status seqb_partitions(struct seqb_broker *broker,
                                 struct seqb_partition_status *out, size_t size,
                                 size_t capacity, size_t *count,
                                 struct seqb_error *err)
{
    (void)broker;
    (void)size;
    (void)out;
    (void)capacity;
    (void)err;
    *count = 0;
    return SEQB_OK;
}

enum seqb_status seqb_partition_reason(struct seqb_broker *broker,
                                       const char *pool, int32_t partition,
                                       char *out, size_t size,
                                       struct seqb_error *err)
{
    (void)broker;
    (void)pool;
    (void)partition;
    (void)out;
    (void)size;
    return fail(err, SEQB_INVALID);
}

enum seqb_status seqb_lessors(struct seqb_broker *broker,
                              struct seqb_lessor *out, size_t size,
                              size_t capacity, size_t *count,
                              struct seqb_error *err)
{
    (void)broker;
    (void)size;
    (void)err;
    *count = stub.lessor.backend[0] != '\0';
    if (capacity > 0)
        out[0] = stub.lessor;
    return SEQB_OK;
}

enum seqb_status seqb_worker_leases(struct seqb_broker *broker,
                                    struct seqb_worker_lease *out, size_t size,
                                    size_t capacity, size_t *count,
                                    struct seqb_error *err)
{
    (void)broker;
    (void)out;
    (void)size;
    (void)capacity;
    (void)err;
    *count = 0;
    return SEQB_OK;
}

static size_t listed_count(void)
{
    if (stub.status.key[0] == '\0')
        return 0;
    return stub.status_count == 0 ? 1 : stub.status_count;
}

enum seqb_status seqb_sequences(struct seqb_broker *broker,
                                struct seqb_sequence_status *out, size_t size,
                                size_t capacity, size_t *count,
                                struct seqb_error *err)
{
    (void)broker;
    (void)size;
    (void)err;
    *count = listed_count();
    for (size_t i = 0; i < *count && i < capacity; i++)
        out[i] = stub.status;
    return SEQB_OK;
}

enum seqb_status seqb_count_sequences(struct seqb_broker *broker, size_t *next,
                                      struct seqb_sequence_counts *out,
                                      size_t size, size_t capacity,
                                      struct seqb_error *err)
{
    (void)broker;
    (void)size;
    (void)err;
    if (*next > 0 || capacity == 0 || stub.status.key[0] == '\0')
        return SEQB_OK;
    *next = 1;
    out[0] = (struct seqb_sequence_counts){
        .taken = stub.status.taken,
        .waits = stub.status.waits,
        .stock = stub.status.stock,
        .rate = stub.status.rate,
        .runway_ms = stub.status.runway_ms,
        .runs_out_ms = stub.status.runs_out_ms,
    };
    return SEQB_OK;
}

enum seqb_status seqb_sequence_at(struct seqb_broker *broker, size_t index,
                                  struct seqb_sequence_status *out, size_t size,
                                  struct seqb_error *err)
{
    (void)broker;
    (void)size;
    (void)err;
    if (index < stub.removed_count)
        return SEQB_UNKNOWN_KEY;
    if (index - stub.removed_count >= listed_count())
        return SEQB_INVALID;
    *out = stub.status;
    return SEQB_OK;
}

enum seqb_status seqb_clock(struct seqb_broker *broker,
                            struct seqb_clock_status *out, size_t size,
                            struct seqb_error *err)
{
    char byte;

    (void)broker;
    (void)size;
    if (stub.clock_gate > 0 && read(stub.clock_gate, &byte, 1) < 0)
        return fail(err, SEQB_UNREACHABLE);
    *out = stub.clock;
    return SEQB_OK;
}

/* Groups of one setting each. */
enum seqb_status seqb_visit_settings_part(
    struct seqb_broker *broker, struct seqb_settings_part *part,
    void (*visit)(void *context, const struct seqb_setting_value *setting),
    void *context, struct seqb_error *err)
{
    const struct seqb_setting_value setting = {"broker.name", "stub", true};
    const size_t groups = stub.groups > 0 ? stub.groups : 1;

    (void)broker;
    (void)err;
    for (size_t i = 0; i < part->count && part->first + i < groups; i++) {
        stub.groups_visited++;
        visit(context, &setting);
    }
    part->is_last = part->first + part->count >= groups;
    return SEQB_OK;
}

enum seqb_status seqb_make_state_dir(const char *folder, struct seqb_error *err)
{
    (void)folder;
    (void)err;
    return SEQB_OK;
}

enum seqb_status seqb_workers(struct seqb_broker *broker,
                              struct seqb_worker *out, size_t size,
                              size_t capacity, size_t *count,
                              struct seqb_error *err)
{
    char byte;

    (void)broker;
    (void)size;
    if (stub.workers_gate > 0 && read(stub.workers_gate, &byte, 1) < 0)
        return fail(err, SEQB_UNREACHABLE);
    if (capacity > 0)
        out[0] = stub.worker;
    *count = 1;
    return SEQB_OK;
}
