/* SPDX-License-Identifier: Apache-2.0 */
/* A text that a direct store keeps under a name: the store's worker reads it,
 * or replaces it. */
#include <stdlib.h>
#include <string.h>

#include "ha/ask.h"
#include "ha/worker_connection.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

struct text_ask {
    struct ask ask; /* first: the answer is `answer` */
    struct ha_pool *pool;
    int32_t member;
    bool is_swap; /* else it only reads */
    char name[SEQB_COUNTER_SIZE];
    char expected[HA_TEXT_SIZE];
    char text[HA_TEXT_SIZE];
    char origin[SEQB_ORIGIN_SIZE]; /* "": any origin */
    struct ha_answer answer;
};

/* --- on the worker's thread --- */

/* Orders of an operator and losses of the store apply to its texts as well. */
static enum seqb_status check_state(const struct text_ask *text,
                                    struct seqb_error *err)
{
    struct ha_pool *pool = text->pool;
    enum seqb_partition_state state;

    pthread_mutex_lock(pool->lock);
    state = pool->pool.member[text->member].state;
    pthread_mutex_unlock(pool->lock);
    if (state != SEQB_PARTITION_DRAINED && state != SEQB_PARTITION_REFUSED &&
        state != SEQB_PARTITION_POISONED)
        return SEQB_OK;
    return error_set(err, SEQB_UNAVAILABLE, "it is %s",
                     seqb_partition_state_name(state));
}

/* The origin is compared on the connection that is used next, which may be
 * another one than in the call before. */
static enum seqb_status text_call(struct text_ask *text,
                                  struct connection *connection,
                                  struct seqb_error *err)
{
    struct ha_answer *answer = &text->answer;
    const struct seqb_swap swap = {
        .name = text->name, .expected = text->expected, .text = text->text};

    (void)text_copy(answer->origin, sizeof answer->origin,
                    connection->backend->origin);
    answer->latest_ms = connection_latest_ms(connection);
    if (text->origin[0] != '\0' && strcmp(text->origin, answer->origin) != 0)
        return error_set(err, SEQB_FENCED, "it is not what it was");
    return text->is_swap ? connection_swap(connection, &swap, answer->standing,
                                           sizeof answer->standing, err)
                         : connection_claim(connection, text->name, NULL,
                                            answer->standing,
                                            sizeof answer->standing, err);
}

static enum seqb_status text_run(struct worker *worker, struct ask *ask,
                                 struct seqb_error *err)
{
    struct text_ask *text = (struct text_ask *)ask;
    const int64_t start_us = clock_now_us();
    enum seqb_status status = check_state(text, err);

    if (status == SEQB_OK && (!worker_may_connect(worker, err) ||
                              worker_connect(worker, err) != SEQB_OK))
        status = err->status;
    if (status != SEQB_OK)
        return status;
    status = text_call(text, &worker->connection, err);
    if (status != SEQB_OK && !connection_was_refused(status))
        worker_fail(worker, err, clock_now_us() - start_us);
    return status;
}

/* --- asking --- */

static struct text_ask *text_new(struct ha_pool *pool,
                                 const struct ha_text *about)
{
    struct text_ask *text = calloc(1, sizeof *text);

    if (text == NULL)
        return NULL;
    ask_init(&text->ask, text_run, ask_free);
    text->pool = pool;
    text->member = about->member;
    text->is_swap = about->text != NULL;
    (void)text_copy(text->name, sizeof text->name, about->name);
    if (about->origin != NULL)
        (void)text_copy(text->origin, sizeof text->origin, about->origin);
    if (text->is_swap) {
        (void)text_copy(text->expected, sizeof text->expected, about->expected);
        (void)text_copy(text->text, sizeof text->text, about->text);
    }
    return text;
}

enum seqb_status ha_text(struct ha_pool *pool, const struct ha_text *about,
                         int64_t until_ms, struct ha_answer *out,
                         struct seqb_error *err)
{
    struct worker *worker = pool->workers[about->member];
    struct text_ask *text = text_new(pool, about);
    enum seqb_status status;

    if (text == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", about->name);
    if (!worker_ask(worker, &text->ask, until_ms, err))
        return err->status;
    status = text->ask.error.status;
    *out = text->answer;
    if (status != SEQB_OK)
        (void)error_copy(err, &text->ask.error);
    ask_release(&text->ask);
    return status;
}

int64_t ha_text_patience_ms(const struct ha_pool *pool, int32_t member)
{
    const struct seqb_backend_options *options =
        &pool->workers[member]->connection.options->options;

    return (int64_t)options->connect_timeout_ms + options->timeout_ms;
}

bool ha_pool_keeps(const struct ha_pool *pool, int32_t member)
{
    return member < pool->members &&
           worker_guarantee(pool->workers[member]) == SEQB_DIRECT;
}

bool ha_pool_has_neighbours(const struct ha_pool *pool)
{
    return pool->lessors.count > 0;
}

int32_t ha_pool_lessor(const struct ha_pool *pool, int32_t i)
{
    int32_t member = layout_authority(&pool->options->layout);

    if (ha_pool_has_neighbours(pool))
        return i < pool->lessors.count ? pool->lessors.lessor[i].member : -1;
    if (i > 0 || member >= 0)
        return i > 0 ? -1 : member;
    for (member = 0; member < pool->members; member++) {
        if (ha_pool_keeps(pool, member))
            return member;
    }
    return -1;
}

const char *ha_pool_member_name(const struct ha_pool *pool, int32_t member)
{
    return worker_name(pool->workers[member]);
}

const struct layout *ha_pool_shape(const struct ha_pool *pool)
{
    return &pool->options->layout;
}
