/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes automatic sequences, and limits their number. A sequence that was made
 * while no store answered counts against the limit only from its first number
 * on. Its key may be a typing mistake, and must not keep out others. A key that
 * the stores know is admitted above the limit: see looks/looks.h.
 */
#include <string.h>

#include "platform/error.h"
#include "platform/minmax.h"
#include "queue/queue_state.h"

/* The longest key of a sequence with a period: its counters' names hold the
 * stamp, too. */
#define KEY_MAX_WITH_PERIOD 48

/* While no store answers, there may be this many sequences without a number, or
 * auto_limit if that is more. They stay until the queue is closed. */
#define WITHOUT_MIN 1000

static struct ha_pool *pool_of(const struct queue *queue)
{
    return ha_pool_at(queue->ha, (size_t)queue->options->automatic->pool);
}

static int64_t without_number(struct queue *queue)
{
    return atomic_load_explicit(&queue->context.without_number,
                                memory_order_relaxed);
}

/* Whether the sequences that count have reached the limit. */
static bool is_full(struct queue *queue)
{
    const int64_t forgotten = min_of(queue->forgotten, without_number(queue));

    return queue->automatic - forgotten >= queue->options->auto_limit;
}

static enum seqb_status too_many_without(const char *key,
                                         struct seqb_error *err)
{
    return error_set(err, SEQB_UNAVAILABLE,
                     "sequence %s is not there yet: no store answers, and very "
                     "many others wait for their first number",
                     key);
}

/*
 * A sequence of an earlier layout that was not migrated must be refused before
 * its first number, by the stores that know it: the other stores would start it
 * again. The same holds for a sequence whose codes were made with another key,
 * and for one that another pool was used for.
 */
static bool asks_first(const struct queue *queue,
                       const struct seqb_sequence *sequence)
{
    return sequence->options->claims_first ||
           ha_counter_has_past(sequence->counter) ||
           ha_pool_count(queue->ha) > 1;
}

static enum seqb_status admit_new(struct queue *queue,
                                  struct seqb_sequence *sequence,
                                  struct seqb_error *err)
{
    const enum seqb_status status = admitter_add(queue, sequence, err);

    if (status == SEQB_OK)
        return SEQB_OK;
    catalog_remove_last(&queue->catalog);
    sequence->source->free(sequence);
    return status;
}

enum seqb_status automatic_check(const struct queue_sequence_options *options,
                                 const char *key, struct seqb_error *err)
{
    if (options->period == NULL || strlen(key) <= KEY_MAX_WITH_PERIOD)
        return SEQB_OK;
    return error_set(err, SEQB_INVALID,
                     "not a key of a sequence with a period: these have at "
                     "most %d characters",
                     KEY_MAX_WITH_PERIOD);
}

enum seqb_status automatic_may_add(struct queue *queue, const char *key,
                                   struct seqb_error *err)
{
    if (!is_full(queue) || (without_number(queue) > queue->forgotten &&
                            !ha_pool_answers(pool_of(queue))))
        return SEQB_AGAIN;
    return looks_ask(queue, key, err);
}

/* While no store answers, sequences without a number do not count. */
static enum seqb_status check_room(struct queue *queue, const char *key,
                                   bool *answers, struct seqb_error *err)
{
    const int64_t most = max_of(queue->options->auto_limit, WITHOUT_MIN);

    *answers = ha_pool_answers(pool_of(queue));
    if (!*answers)
        queue->forgotten = without_number(queue);
    if (is_full(queue))
        return looks_ask(queue, key, err);
    return !*answers && queue->forgotten >= most ? too_many_without(key, err)
                                                 : SEQB_OK;
}

/* With the catalog locked for writing. `answers`: some store does. */
static enum seqb_status automatic_make(struct queue *queue, const char *key,
                                       bool answers, struct seqb_sequence **out,
                                       struct seqb_error *err)
{
    const struct queue_sequence_options *options = queue->options->automatic;
    struct seqb_sequence *made = NULL;
    enum seqb_status status = queue_add(queue, options, key, &made, err);

    if (made != NULL && asks_first(queue, made))
        status = admit_new(queue, made, err);
    if (status != SEQB_OK || made == NULL)
        return status;
    queue->automatic++;
    if (options->snowflake == NULL) /* a snowflake gets no numbers from a
                                       store */
        sequence_set_without_number(made);
    if (!answers)
        queue->forgotten = without_number(queue);
    *out = made;
    return SEQB_OK;
}

enum seqb_status automatic_add(struct queue *queue, const char *key,
                               struct seqb_sequence **out,
                               struct seqb_error *err)
{
    bool answers;
    enum seqb_status status =
        automatic_check(queue->options->automatic, key, err);

    if (status == SEQB_OK)
        status = check_room(queue, key, &answers, err);
    return status == SEQB_OK ? automatic_make(queue, key, answers, out, err)
                             : status;
}

void automatic_add_known(struct queue *queue, const char *key)
{
    struct seqb_sequence *made;

    pthread_rwlock_wrlock(&queue->catalog_lock);
    if (!looks_are_shut(&queue->looks) &&
        catalog_get(&queue->catalog, key) == NULL &&
        options_match(queue->options, key) &&
        automatic_check(queue->options->automatic, key, NULL) == SEQB_OK)
        (void)automatic_make(queue, key, true, &made, NULL);
    pthread_rwlock_unlock(&queue->catalog_lock);
}
