/* SPDX-License-Identifier: Apache-2.0 */
/* The operator API: status, and what a topology may say. */
#include "api/broker.h"

#include "backends/backends.h"
#include "number/number.h"
#include "offline/offline.h"
#include "platform/error.h"
#include "platform/text.h"

static enum seqb_status check_fork(const struct seqb_broker *broker,
                                   struct seqb_error *err)
{
    if (!queue_is_forked(broker->queue))
        return SEQB_OK;
    return error_set(err, SEQB_FORKED,
                     "the broker was opened before fork(): open one in the "
                     "child");
}

enum seqb_status seqb_clock(struct seqb_broker *broker,
                            struct seqb_clock_status *out,
                            struct seqb_error *err)
{
    if (check_fork(broker, err) != SEQB_OK)
        return SEQB_FORKED;
    queue_clock(broker->queue, out);
    return SEQB_OK;
}

enum seqb_status seqb_workers(struct seqb_broker *broker,
                              struct seqb_worker *out, size_t capacity,
                              size_t *count, struct seqb_error *err)
{
    if (check_fork(broker, err) != SEQB_OK)
        return SEQB_FORKED;
    return ha_workers(broker->ha, out, capacity, count, err);
}

enum seqb_status seqb_partitions(struct seqb_broker *broker,
                                 struct seqb_partition_status *out,
                                 size_t capacity, size_t *count,
                                 struct seqb_error *err)
{
    const enum seqb_status status = check_fork(broker, err);

    if (status == SEQB_OK)
        ha_status(broker->ha, out, capacity, count);
    return status;
}

enum seqb_status seqb_sequences(struct seqb_broker *broker,
                                struct seqb_sequence_status *out,
                                size_t capacity, size_t *count,
                                struct seqb_error *err)
{
    const enum seqb_status status = check_fork(broker, err);

    if (status == SEQB_OK)
        queue_status(broker->queue, out, capacity, count);
    return status;
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

enum seqb_status seqb_health(struct seqb_broker *broker, enum seqb_health *out,
                             char *reason, size_t size, struct seqb_error *err)
{
    const enum seqb_status status = check_fork(broker, err);

    if (status == SEQB_OK)
        *out = ha_health(broker->ha, reason, size);
    return status;
}

enum seqb_status seqb_advance(struct seqb_broker *broker, const char *key,
                              int64_t to, struct seqb_error *err)
{
    return queue_advance(broker->queue, key, to, err);
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
    return config_topology(broker->config)->broker_name;
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

/* Who is told of a topology, of its warnings as well. */
struct listener {
    void (*report)(void *context, const char *line);
    void *context;
};

static void report_line(const struct listener *listener, const char *kind,
                        const char *line)
{
    char text[1024];

    (void)text_format(text, sizeof text, "%s: %s", kind, line);
    listener->report(listener->context, text);
}

static void report_note(void *context, const char *line)
{
    report_line(context, "note", line);
}

static void report_warning(void *context, const char *line)
{
    report_line(context, "warning", line);
}

enum seqb_status seqb_check_topology(const char *topology,
                                     void (*report)(void *context,
                                                    const char *line),
                                     void *context, struct seqb_error *err)
{
    const struct config_request request = {
        .path = topology, .report = report, .context = context};
    struct listener listener = {report, context};
    struct config *config = NULL;
    const enum seqb_status status = config_open(&request, &config, err);

    if (status == SEQB_OK && report != NULL) {
        config_note(config, report_note, &listener);
        config_warn(config, report_warning, &listener);
    }
    config_close(config);
    return status;
}

enum seqb_status seqb_probe(const char *topology,
                            const struct seqb_backend_ops *const *engines,
                            const struct seqb_probe_listener *listener,
                            struct seqb_error *err)
{
    const struct config_request request = {.path = topology,
                                           .engines = engines,
                                           .report = listener->mistake,
                                           .context = listener->context};
    struct config *config;
    enum seqb_status status = config_open(&request, &config, err);

    if (status != SEQB_OK)
        return status;
    status = offline_probe(&config_topology(config)->stores, listener, err);
    if (listener->warning != NULL)
        config_warn(config, listener->warning, listener->context);
    config_close(config);
    return status;
}

const struct seqb_setting *seqb_settings(size_t *count)
{
    return config_settings(count);
}

const char *seqb_embedded_topology(void)
{
    return config_embedded_text();
}

const char *seqb_library(size_t i)
{
    const struct seqb_backend_ops *ops = backend_at(i);
    size_t engines = 0;

    if (ops != NULL)
        return ops->library();
    while (backend_at(engines) != NULL)
        engines++;
    if (i == engines)
        return config_library();
    return i == engines + 1 ? shuffle_library() : NULL;
}
