/* SPDX-License-Identifier: Apache-2.0 */
/* The operator API: the status, and the settings of a topology. */
#include "api/broker.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/events.h>

#include "api/sized.h"
#include "backends/backends.h"
#include "number/number.h"
#include "offline/offline.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/text.h"

static enum seqb_status check_fork(const struct seqb_broker *broker,
                                   struct seqb_error *err)
{
    return queue_is_forked(broker->queue) ? queue_forked(err) : SEQB_OK;
}

/* Where structs go that may grow. `last` is the last member of the first
 * release, so that it stays. */
#define SIZED_OUT(type, last, to, size, capacity)                              \
    {                                                                          \
#type, (to), (size), (capacity), sizeof(struct type),                  \
            offsetof(struct type, last) + sizeof(((struct type *)0)->last),    \
            NULL                                                               \
    }

static enum seqb_status status_begin(const struct seqb_broker *broker,
                                     struct sized_out *structs,
                                     struct seqb_error *err)
{
    const enum seqb_status status = check_fork(broker, err);

    return status == SEQB_OK ? sized_begin(structs, err) : status;
}

enum seqb_status seqb_clock(struct seqb_broker *broker,
                            struct seqb_clock_status *out, size_t size,
                            struct seqb_error *err)
{
    struct sized_out one = SIZED_OUT(seqb_clock_status, reason, out, size, 1);
    const enum seqb_status status = status_begin(broker, &one, err);

    if (status != SEQB_OK)
        return status;
    queue_clock(broker->queue, one.structs);
    sized_end(&one, 1);
    return SEQB_OK;
}

enum seqb_status seqb_workers(struct seqb_broker *broker,
                              struct seqb_worker *out, size_t size,
                              size_t capacity, size_t *count,
                              struct seqb_error *err)
{
    struct sized_out all =
        SIZED_OUT(seqb_worker, used_upto_ms, out, size, capacity);
    enum seqb_status status = status_begin(broker, &all, err);

    if (status != SEQB_OK)
        return status;
    status = queue_workers(broker->queue, all.structs, capacity, count, err);
    sized_end(&all, status == SEQB_OK ? *count : 0);
    return status;
}

enum seqb_status seqb_worker_leases(struct seqb_broker *broker,
                                    struct seqb_worker_lease *out, size_t size,
                                    size_t capacity, size_t *count,
                                    struct seqb_error *err)
{
    struct sized_out all =
        SIZED_OUT(seqb_worker_lease, left_ms, out, size, capacity);
    const enum seqb_status status = status_begin(broker, &all, err);

    if (status != SEQB_OK)
        return status;
    queue_worker_leases(broker->queue, all.structs, capacity, count);
    sized_end(&all, *count);
    return SEQB_OK;
}

enum seqb_status seqb_partitions(struct seqb_broker *broker,
                                 struct seqb_partition_status *out, size_t size,
                                 size_t capacity, size_t *count,
                                 struct seqb_error *err)
{
    struct sized_out all =
        SIZED_OUT(seqb_partition_status, refused, out, size, capacity);
    const enum seqb_status status = status_begin(broker, &all, err);

    if (status != SEQB_OK)
        return status;
    ha_status(broker->ha, all.structs, capacity, count);
    sized_end(&all, *count);
    return SEQB_OK;
}

enum seqb_status seqb_partition_reason(struct seqb_broker *broker,
                                       const char *pool, int32_t partition,
                                       char *out, size_t size,
                                       struct seqb_error *err)
{
    char whole[SEQB_REASON_SIZE];
    enum seqb_status status = check_fork(broker, err);

    if (status == SEQB_OK)
        status = ha_reason(broker->ha, pool, partition, whole, err);
    if (status == SEQB_OK)
        (void)text_copy(out, size, whole);
    return status;
}

static void lessor_copy(const struct ha_lessor *from, struct seqb_lessor *to)
{
    *to = (struct seqb_lessor){.partition = from->partition,
                               .state = ha_lessor_state_name(from->state),
                               .since_ms = from->since_ms,
                               .leases_per_minute = from->leases_per_minute};
    (void)text_copy(to->pool, sizeof to->pool, from->pool);
    (void)text_copy(to->backend, sizeof to->backend, from->backend);
    if (from->waits_for != NULL)
        (void)text_copy(to->waits_for, sizeof to->waits_for, from->waits_for);
}

/* `*count` is 0 if out of memory. */
static enum seqb_status lessors_copy(struct seqb_broker *broker,
                                     struct seqb_lessor *out, size_t capacity,
                                     size_t *count, struct seqb_error *err)
{
    struct ha_lessor *all = NULL;

    *count = 0;
    if (capacity > 0 && (all = calloc(capacity, sizeof *all)) == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    ha_lessors(broker->ha, all, capacity, count);
    for (size_t i = 0; i < *count && i < capacity; i++)
        lessor_copy(&all[i], &out[i]);
    free(all);
    return SEQB_OK;
}

enum seqb_status seqb_lessors(struct seqb_broker *broker,
                              struct seqb_lessor *out, size_t size,
                              size_t capacity, size_t *count,
                              struct seqb_error *err)
{
    struct sized_out all =
        SIZED_OUT(seqb_lessor, leases_per_minute, out, size, capacity);
    enum seqb_status status = status_begin(broker, &all, err);

    if (status != SEQB_OK)
        return status;
    status = lessors_copy(broker, all.structs, capacity, count, err);
    sized_end(&all, *count);
    return status;
}

enum seqb_status seqb_sequences(struct seqb_broker *broker,
                                struct seqb_sequence_status *out, size_t size,
                                size_t capacity, size_t *count,
                                struct seqb_error *err)
{
    struct sized_out all =
        SIZED_OUT(seqb_sequence_status, pool_numbers, out, size, capacity);
    const enum seqb_status status = status_begin(broker, &all, err);

    if (status != SEQB_OK)
        return status;
    queue_status(broker->queue, all.structs, capacity, count);
    sized_end(&all, *count);
    return SEQB_OK;
}

enum seqb_status seqb_count_sequences(struct seqb_broker *broker, size_t *next,
                                      struct seqb_sequence_counts *out,
                                      size_t size, size_t capacity,
                                      struct seqb_error *err)
{
    struct sized_out all =
        SIZED_OUT(seqb_sequence_counts, runs_out_ms, out, size, capacity);
    const enum seqb_status status = status_begin(broker, &all, err);
    size_t count;

    if (status != SEQB_OK)
        return status;
    count = queue_counts(broker->queue, *next, all.structs, capacity);
    sized_end(&all, count);
    *next += count;
    return SEQB_OK;
}

enum seqb_status seqb_sequence_at(struct seqb_broker *broker, size_t index,
                                  struct seqb_sequence_status *out, size_t size,
                                  struct seqb_error *err)
{
    struct sized_out one =
        SIZED_OUT(seqb_sequence_status, pool_numbers, out, size, 1);
    enum seqb_status status = status_begin(broker, &one, err);

    if (status != SEQB_OK)
        return status;
    status = queue_status_at(broker->queue, index, one.structs);
    sized_end(&one, status == SEQB_OK);
    if (status == SEQB_OK)
        return SEQB_OK;
    return error_set(err, status, "there is no sequence %zu%s", index,
                     status == SEQB_INVALID ? "" : ": it was removed");
}

enum seqb_status seqb_command(struct seqb_broker *broker, const char *pool,
                              int32_t partition, enum seqb_order order,
                              struct seqb_error *err)
{
    const enum seqb_status status = check_fork(broker, err);

    if (status != SEQB_OK)
        return status;
    return ha_command(broker->ha, pool, partition, order, err);
}

enum seqb_status seqb_get_health(struct seqb_broker *broker,
                                 enum seqb_health *out, char *reason,
                                 size_t size, struct seqb_error *err)
{
    const enum seqb_status status = check_fork(broker, err);

    if (status == SEQB_OK)
        *out = queue_health(broker->queue, reason, size);
    return status;
}

enum seqb_status seqb_advance(struct seqb_broker *broker, const char *key,
                              int64_t to, struct seqb_error *err)
{
    return queue_advance(broker->queue, key, to, err);
}

void seqb_end_waits(struct seqb_broker *broker, int64_t keep_ms)
{
    if (!queue_is_forked(broker->queue))
        queue_end_waits(broker->queue, clock_now_ms() + keep_ms);
}

enum seqb_status seqb_highest(struct seqb_broker *broker, const char *key,
                              int64_t *out, struct seqb_error *err)
{
    return queue_highest(broker->queue, key, out, err);
}

enum seqb_status seqb_on_event(struct seqb_broker *broker,
                               void (*callback)(void *context,
                                                const struct seqb_event *event),
                               void *context, struct seqb_error *err)
{
    const enum seqb_status status = check_fork(broker, err);

    if (status == SEQB_OK)
        ha_on_event(broker->ha, callback, context);
    return status;
}

const char *seqb_broker_name(const struct seqb_broker *broker)
{
    return config_topology(broker->first)->broker_name;
}

int64_t seqb_deadline_ms(const struct seqb_sequence *sequence)
{
    return queue_deadline_ms(sequence);
}

enum seqb_status seqb_state_dir(const char *topology, char *out, size_t size,
                                struct seqb_error *err)
{
    const struct config_request request = {.path = topology};
    struct config *config;
    enum seqb_status status = config_open(&request, &config, err);

    if (status != SEQB_OK)
        return status;
    if (!text_copy(out, size, config_topology(config)->state_dir))
        status = error_set(err, SEQB_INVALID,
                           "the state directory's name needs more than %zu "
                           "bytes",
                           size);
    config_close(config);
    return status;
}

enum seqb_status seqb_make_state_dir(const char *folder, struct seqb_error *err)
{
    return file_make_folder(folder, err);
}

static void report_line(const struct config_request *to, const char *kind,
                        const char *line)
{
    char text[1100];

    (void)text_format(text, sizeof text, "%s: %s", kind, line);
    to->report(to->context, text);
}

static void report_lines(const struct config_request *to, const char *kind,
                         const char *const *lines)
{
    for (; *lines != NULL; lines++)
        report_line(to, kind, *lines);
}

static void report_note(void *context, const char *line)
{
    report_line(context, "note", line);
}

enum seqb_status seqb_check_topology(const char *topology,
                                     void (*report)(void *context,
                                                    const char *line),
                                     void *context, struct seqb_error *err)
{
    struct config_request request = {
        .path = topology, .report = report, .context = context};
    struct config *config = NULL;
    const enum seqb_status status = config_open(&request, &config, err);

    if (status == SEQB_OK && report != NULL) {
        const struct config_topology *found = config_topology(config);

        report_lines(&request, "note", found->notes);
        offline_explain(&found->stores, report_note, &request);
        report_lines(&request, "warning", found->warnings);
    }
    config_close(config);
    return status;
}

/* Lists the sequences with plain counters. Free the list with free(). NULL: out
 * of memory. */
static struct offline_listed *listed_make(const struct queue_options *queue,
                                          size_t *count)
{
    struct offline_listed *listed =
        calloc(queue->sequence_count + 1, sizeof *listed);

    *count = 0;
    for (size_t i = 0; listed != NULL && i < queue->sequence_count; i++) {
        const struct queue_sequence_options *sequence = &queue->sequences[i];

        if (sequence->period == NULL && sequence->snowflake == NULL)
            listed[(*count)++] = (struct offline_listed){
                .pool = (size_t)sequence->pool, .key = sequence->key};
    }
    return listed;
}

static enum seqb_status probe_run(const struct config_topology *topology,
                                  const struct seqb_probe_listener *listener,
                                  const struct seqb_progress *progress,
                                  struct seqb_error *err)
{
    const struct queue_sequence_options *automatic = topology->queue.automatic;
    struct offline_inspection inspection = {.topology = &topology->stores,
                                            .progress = progress};
    struct offline_listed *listed =
        listed_make(&topology->queue, &inspection.listed_count);
    enum seqb_status status;

    if (listed == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    inspection.listed = listed;
    if (automatic != NULL && automatic->period == NULL &&
        automatic->snowflake == NULL) {
        inspection.has_automatic = true;
        inspection.automatic_pool = (size_t)automatic->pool;
    }
    status = offline_probe(&inspection, listener, err);
    free(listed);
    return status;
}

enum seqb_status seqb_probe_topology(
    const char *topology, const struct seqb_backend_ops *const *engines,
    const struct seqb_probe_listener *listener, struct seqb_error *err)
{
    return seqb_probe_watched(topology, engines, listener, NULL, err);
}

enum seqb_status seqb_migrate(const char *old_topology,
                              const char *new_topology,
                              const struct seqb_migrate_options *options,
                              struct seqb_error *err)
{
    return seqb_migrate_watched(old_topology, new_topology, options, NULL, err);
}

enum seqb_status
seqb_probe_watched(const char *topology,
                   const struct seqb_backend_ops *const *engines,
                   const struct seqb_probe_listener *listener,
                   const struct seqb_progress *progress, struct seqb_error *err)
{
    const struct config_request request = {.path = topology,
                                           .engines = engines,
                                           .report = listener->diagnostic,
                                           .context = listener->context};
    const char *const *warnings;
    struct config *config;
    enum seqb_status status = config_open(&request, &config, err);

    if (status != SEQB_OK)
        return status;
    status = probe_run(config_topology(config), listener, progress, err);
    warnings = config_topology(config)->warnings;
    for (; listener->warning != NULL && *warnings != NULL; warnings++)
        listener->warning(listener->context, *warnings);
    config_close(config);
    return status;
}

enum seqb_status seqb_visit_settings(
    struct seqb_broker *broker,
    void (*visit)(void *context, const struct seqb_setting_value *setting),
    void *context, struct seqb_error *err)
{
    struct seqb_settings_part all = {.count = SIZE_MAX};

    return seqb_visit_settings_part(broker, &all, visit, context, err);
}

enum seqb_status seqb_visit_settings_part(
    struct seqb_broker *broker, struct seqb_settings_part *part,
    void (*visit)(void *context, const struct seqb_setting_value *setting),
    void *context, struct seqb_error *err)
{
    const enum seqb_status status = check_fork(broker, err);

    if (status != SEQB_OK)
        return status;
    pthread_mutex_lock(&broker->config_lock);
    config_visit(broker->config, part, visit, context);
    pthread_mutex_unlock(&broker->config_lock);
    return SEQB_OK;
}

const struct seqb_setting *seqb_settings(size_t *count)
{
    return config_settings(count);
}

const char *seqb_embedded_topology(void)
{
    return config_embedded_text();
}

/* Several engines may have the same library. */
static bool library_is_new(size_t engine)
{
    const char *library = backend_at(engine)->library();

    for (size_t i = 0; i < engine; i++) {
        if (strcmp(backend_at(i)->library(), library) == 0)
            return false;
    }
    return true;
}

const char *seqb_library(size_t i)
{
    const struct seqb_backend_ops *ops = NULL;

    for (size_t engine = 0; (ops = backend_at(engine)) != NULL; engine++) {
        if (library_is_new(engine) && i-- == 0)
            return ops->library();
    }
    if (i == 0)
        return config_library();
    return i == 1 ? shuffle_library() : NULL;
}
