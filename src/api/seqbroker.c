/* SPDX-License-Identifier: Apache-2.0 */
/* The client API: opens config, ha and queue in this order; the other calls are
 * passed on. */
#include "api/broker.h"

#include <stdlib.h>

#include "number/number.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/log.h"

/* Grants arrive until the ha is closed. Its options belong to the topologies,
 * which are closed last. */
static void broker_free(struct seqb_broker *broker)
{
    queue_stop(broker->queue);
    ha_close(broker->ha);
    queue_free(broker->queue);
    configs_close(broker);
    pthread_mutex_destroy(&broker->config_lock);
    pthread_mutex_destroy(&broker->reload_lock);
    free((void *)broker->engines);
    free(broker);
}

/* A later reload needs the engines, and the caller's list is valid only during
 * the call. */
static bool engines_keep(struct seqb_broker *broker,
                         const struct seqb_backend_ops *const *engines)
{
    const struct seqb_backend_ops **copy;
    size_t count = 0;

    if (engines == NULL)
        return true;
    while (engines[count] != NULL)
        count++;
    copy = calloc(count + 1, sizeof(const struct seqb_backend_ops *));
    for (size_t i = 0; copy != NULL && i < count; i++)
        copy[i] = engines[i];
    broker->engines = copy;
    return copy != NULL;
}

static enum seqb_status
broker_start(struct seqb_broker *broker, struct config *config,
             const struct seqb_backend_ops *const *engines,
             struct seqb_error *err)
{
    const struct config_topology *topology = config_topology(config);
    enum seqb_status status;

    broker->first = config;
    broker->config = config;
    if (!engines_keep(broker, engines))
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    status = file_make_folder(topology->state_dir, err);
    if (status == SEQB_OK)
        status = ha_open(&topology->ha, &broker->ha, err);
    if (status == SEQB_OK)
        status = queue_open(&topology->queue, broker->ha, &broker->queue, err);
    return status;
}

static void report_open(const struct seqb_broker *broker)
{
    char state_dir[LOG_VALUE_SIZE];

    log_line(SEQB_LOG_INFO, "event=open broker=%s state_dir=%s",
             seqb_broker_name(broker),
             log_value(state_dir, sizeof state_dir,
                       config_topology(broker->config)->state_dir));
}

/* The config is the broker's, also if this fails. */
static enum seqb_status
broker_open(struct config *config,
            const struct seqb_backend_ops *const *engines,
            struct seqb_broker **out, struct seqb_error *err)
{
    struct seqb_broker *broker = calloc(1, sizeof *broker);
    enum seqb_status status;

    if (broker == NULL) {
        config_close(config);
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    }
    pthread_mutex_init(&broker->reload_lock, NULL);
    pthread_mutex_init(&broker->config_lock, NULL);
    status = broker_start(broker, config, engines, err);
    if (status != SEQB_OK) {
        broker_free(broker);
        return status;
    }
    report_open(broker);
    *out = broker;
    return SEQB_OK;
}

enum seqb_status seqb_open_with(const char *topology,
                                const struct seqb_backend_ops *const *engines,
                                struct seqb_broker **out,
                                struct seqb_error *err)
{
    const struct config_request request = {.path = topology,
                                           .engines = engines};
    struct config *config;
    const enum seqb_status status = config_open(&request, &config, err);

    return status == SEQB_OK ? broker_open(config, engines, out, err) : status;
}

enum seqb_status seqb_open_topology(struct seqb_topology *topology,
                                    struct seqb_broker **out,
                                    struct seqb_error *err)
{
    return broker_open(topology_take(topology), NULL, out, err);
}

enum seqb_status seqb_open(const char *topology, struct seqb_broker **out,
                           struct seqb_error *err)
{
    return seqb_open_with(topology, NULL, out, err);
}

/* In a forked child the threads are gone, locks may be held for ever, and the
 * connections are the parent's. So nothing may be touched. */
void seqb_close(struct seqb_broker *broker)
{
    if (broker != NULL && !queue_is_forked(broker->queue))
        broker_free(broker);
}

enum seqb_status seqb_get_sequence(struct seqb_broker *broker, const char *key,
                                   struct seqb_sequence **out,
                                   struct seqb_error *err)
{
    return queue_find(broker->queue, key, out, err);
}

enum seqb_status seqb_next(struct seqb_sequence *sequence, int64_t *out,
                           struct seqb_error *err)
{
    return queue_next(sequence, out, err);
}

enum seqb_status seqb_try_next(struct seqb_sequence *sequence, int64_t *out,
                               struct seqb_error *err)
{
    return queue_try_next(sequence, out, err);
}

enum seqb_status seqb_cursor_open(struct seqb_sequence *sequence, size_t slice,
                                  struct seqb_cursor **out,
                                  struct seqb_error *err)
{
    return queue_cursor_open(sequence, slice, out, err);
}

enum seqb_status seqb_cursor_refill(struct seqb_cursor *cursor, int64_t *out,
                                    struct seqb_error *err)
{
    return queue_cursor_refill(cursor, out, err);
}

void seqb_cursor_close(struct seqb_cursor *cursor)
{
    queue_cursor_close(cursor);
}

static enum seqb_status check_value(int64_t value, struct seqb_error *err)
{
    return value >= 1 ? SEQB_OK
                      : error_set(err, SEQB_INVALID,
                                  "%lld is no number: they are 1 or more",
                                  (long long)value);
}

enum seqb_status seqb_decode(const struct seqb_sequence *sequence,
                             int64_t value, struct seqb_decoded *out,
                             struct seqb_error *err)
{
    const enum seqb_status status = check_value(value, err);

    if (status == SEQB_OK)
        queue_decode(sequence, value, out);
    return status;
}

struct decoding {
    int64_t value;
    struct seqb_decoded *out;
};

static enum seqb_status decode_as(void *context,
                                  const struct queue_meaning *meaning,
                                  struct seqb_error *err)
{
    const struct decoding *decoding = context;
    const enum seqb_status status = check_value(decoding->value, err);

    if (status == SEQB_OK)
        queue_meaning_decode(meaning, decoding->value, decoding->out);
    return status;
}

enum seqb_status seqb_decode_key(struct seqb_broker *broker, const char *key,
                                 int64_t value, struct seqb_decoded *out,
                                 struct seqb_error *err)
{
    struct decoding decoding = {value, out};

    return queue_look_up(broker->queue, key, decode_as, &decoding, err);
}

size_t seqb_number_size(const struct seqb_sequence *sequence)
{
    const struct template *template = queue_template(sequence);

    return template == NULL ? 0 : template_length(template) + 1;
}

enum seqb_status seqb_parse(const struct seqb_sequence *sequence,
                            const char *text, struct seqb_parsed *out,
                            struct seqb_error *err)
{
    return number_parse(sequence, text, out, err);
}

struct parsing {
    const char *text;
    struct seqb_parsed *out;
};

static enum seqb_status parse_as(void *context,
                                 const struct queue_meaning *meaning,
                                 struct seqb_error *err)
{
    const struct parsing *parsing = context;

    return number_parse_as(meaning->template, meaning->key, parsing->text,
                           parsing->out, err);
}

enum seqb_status seqb_parse_key(struct seqb_broker *broker, const char *key,
                                const char *text, struct seqb_parsed *out,
                                struct seqb_error *err)
{
    struct parsing parsing = {text, out};

    return queue_look_up(broker->queue, key, parse_as, &parsing, err);
}

enum seqb_status seqb_register_field(const struct seqb_field *field,
                                     struct seqb_error *err)
{
    return number_register(field, err);
}

void seqb_on_ready(struct seqb_sequence *sequence, void (*ready)(void *context),
                   void *context)
{
    queue_on_ready(sequence, ready, context);
}
