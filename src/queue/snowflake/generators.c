/* SPDX-License-Identifier: Apache-2.0 */
/* The generators of a queue, one for each pool with snowflakes: opens and
 * closes them together, and shows their worker ids. */
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "platform/text_list.h"
#include "queue/queue_state.h"
#include "queue/snowflake/snowflake.h"

/* If only one sequence uses the generator, counting each take would cost it a
 * quarter of its speed. */
static bool is_shared(const struct queue_options *options,
                      const struct lease_options *snowflake)
{
    size_t users = 0;

    for (size_t i = 0; i < options->sequence_count; i++)
        users += options->sequences[i].snowflake == snowflake;
    return users > 1 || (options->automatic != NULL &&
                         options->automatic->snowflake == snowflake);
}

enum seqb_status generators_open(struct queue *queue, struct seqb_error *err)
{
    struct source_context *context = &queue->context;
    const struct queue_options *options = queue->options;
    enum seqb_status status = SEQB_OK;

    if (options->snowflake_count == 0)
        return SEQB_OK;
    context->snowflakes = options->snowflakes;
    context->generators =
        calloc(options->snowflake_count, sizeof *context->generators);
    if (context->generators == NULL)
        return error_set(err, SEQB_NO_MEMORY, "queue: out of memory");
    for (size_t i = 0; i < options->snowflake_count && status == SEQB_OK; i++) {
        struct generator *generator = &context->generators[i];

        generator->is_alive = queue->is_alive;
        generator->clock = context->clock;
        generator->is_shared = is_shared(options, &options->snowflakes[i]);
        status = generator_init(generator, queue->ha, &options->snowflakes[i],
                                context->memory, err);
    }
    return status;
}

/* A reload changes no snowflake. The current options are read only with the
 * catalog locked, because a reload may free them. */
static size_t count_of(const struct queue *queue)
{
    return queue->context.generators == NULL ? 0
                                             : queue->first->snowflake_count;
}

/* All generators ask for their lease before the call waits for any. */
enum seqb_status generators_start(struct queue *queue, int64_t until_ms,
                                  struct seqb_error *err)
{
    struct generator *generators = queue->context.generators;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < count_of(queue) && status == SEQB_OK; i++)
        status = worker_lease_start(generators[i].lease, err);
    for (size_t i = 0; i < count_of(queue) && status == SEQB_OK; i++)
        status = worker_lease_await(generators[i].lease, until_ms, err);
    return status;
}

void generators_shut(struct queue *queue)
{
    for (size_t i = 0; i < count_of(queue); i++)
        generator_shut(&queue->context.generators[i]);
}

void generators_close(struct queue *queue)
{
    for (size_t i = 0; i < count_of(queue); i++)
        generator_close(&queue->context.generators[i]);
}

void generators_free(struct queue *queue)
{
    for (size_t i = 0; i < count_of(queue); i++)
        generator_fini(&queue->context.generators[i], queue->context.memory);
    free(queue->context.generators);
}

enum seqb_status queue_workers(struct queue *queue, struct seqb_worker *out,
                               size_t capacity, size_t *count,
                               struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    *count = 0;
    for (size_t i = 0; i < count_of(queue) && status == SEQB_OK; i++)
        status = worker_lease_list(queue->context.generators[i].lease, out,
                                   capacity, count, err);
    return status;
}

static void lease_describe(struct worker_lease *lease,
                           struct seqb_worker_lease *out)
{
    struct worker_id id;

    *out = (struct seqb_worker_lease){.worker = -1};
    (void)text_copy(out->pool, sizeof out->pool, worker_lease_pool(lease));
    if (worker_lease_get(lease, &id, NULL) != SEQB_OK)
        return;
    out->worker = (int32_t)id.worker;
    out->left_ms = max_of(id.until_ms - clock_boot_ms(), 0);
}

void queue_worker_leases(struct queue *queue, struct seqb_worker_lease *out,
                         size_t capacity, size_t *count)
{
    *count = count_of(queue);
    for (size_t i = 0; i < *count && i < capacity; i++)
        lease_describe(queue->context.generators[i].lease, &out[i]);
}

bool generators_can_make(const struct queue *queue, struct text_list *why)
{
    bool can_all = true;

    for (size_t i = 0; i < count_of(queue); i++) {
        struct seqb_error err;
        const enum seqb_status status =
            generator_look(&queue->context.generators[i], &err);

        if (status == SEQB_OK || status == SEQB_AGAIN)
            continue;
        can_all = false;
        text_list_add(why, err.text);
    }
    return can_all;
}
