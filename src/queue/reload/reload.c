/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces the options of a queue while it serves. All that may fail is done
 * first: new sequences are made and claimed outside the catalog. Then
 * everything is put in place.
 */
#include <stdlib.h>

#include "platform/error.h"
#include "queue/queue_state.h"
#include "queue/reload/reload_state.h"

static enum seqb_status no_memory(struct seqb_error *err)
{
    return error_set(err, SEQB_NO_MEMORY, "reload: out of memory");
}

/* --- preparing --- */

/* Notes a sequence that is refused, and lets the reload look at the others.
 * Other failures are returned. */
static enum seqb_status refusal_note(struct queue_reload *reload,
                                     enum seqb_status status,
                                     const struct seqb_error *why,
                                     struct seqb_error *err)
{
    if (status == SEQB_OK)
        return SEQB_OK;
    if (status != SEQB_LAYOUT)
        return error_copy(err, why);
    if (reload->refused.status == SEQB_OK)
        reload->refused = *why;
    if (reload->refusals != NULL)
        reload->refusals->add(reload->refusals->context, why);
    return SEQB_OK;
}

/* A refusal takes precedence over a later failure. */
static enum seqb_status refusal_or(const struct queue_reload *reload,
                                   enum seqb_status status,
                                   struct seqb_error *err)
{
    return reload->refused.status == SEQB_OK
               ? status
               : error_copy(err, &reload->refused);
}

/* With the catalog locked. */
static enum seqb_status find_listed(
    struct queue_reload *reload, const struct queue_sequence_options *listed,
    const struct queue_sequence_options **absent, struct seqb_error *err)
{
    const struct catalog *catalog = &reload->queue->catalog;
    const size_t i = catalog_find_at(catalog, listed->key, reload->likely);
    const struct template *runs;

    catalog_prefetch(catalog, reload->likely);
    reload->likely = i == CATALOG_NONE ? reload->likely : i + 1;
    *absent = i == CATALOG_NONE ? listed : NULL;
    if (i == CATALOG_NONE) {
        runs = options_template(reload->queue->options, listed->key);
        return runs == NULL ? SEQB_OK
                            : compare_texts(&reload->comparison, listed->key,
                                            runs, listed, err);
    }
    if (i >= reload->known)
        return error_set(err, SEQB_AGAIN,
                         "sequence %s made itself meanwhile; nothing was "
                         "applied: reload again",
                         listed->key);
    reload->wanted[i] = listed;
    return compare_sequence(&reload->comparison, catalog->sequences[i], listed,
                            err);
}

static bool needs_options(const struct queue_sequence_options *options)
{
    return options->period != NULL || options->template != NULL ||
           options->attributes != NULL;
}

static enum seqb_status add_listed(struct queue_reload *reload,
                                   const struct queue_sequence_options *listed,
                                   struct seqb_error *err)
{
    struct seqb_sequence *sequence;
    const enum seqb_status status =
        queue_make(reload->queue, listed, listed->key, &sequence, err);

    if (status != SEQB_OK)
        return status;
    reload->added[reload->added_count++] = sequence;
    reload->is_kept = reload->is_kept || needs_options(listed);
    return SEQB_OK;
}

/* Looks up some of the listed sequences, from `*at` on, and makes those that
 * are missing. */
static enum seqb_status find_part(struct queue_reload *reload, size_t *at,
                                  struct seqb_error *err)
{
    const struct queue_options *options = reload->options;
    const struct queue_sequence_options *absent[RELOAD_PART];
    enum seqb_status status = SEQB_OK;
    size_t count = 0;

    pthread_rwlock_rdlock(&reload->queue->catalog_lock);
    for (; count < RELOAD_PART && *at < options->sequence_count &&
           status == SEQB_OK;
         (*at)++) {
        struct seqb_error why;

        status = find_listed(reload, &options->sequences[*at], &absent[count++],
                             &why);
        status = refusal_note(reload, status, &why, err);
    }
    pthread_rwlock_unlock(&reload->queue->catalog_lock);
    if (reload->added == NULL || reload->refused.status != SEQB_OK)
        return status;
    for (size_t i = 0; i < count && status == SEQB_OK; i++) {
        if (absent[i] != NULL)
            status = add_listed(reload, absent[i], err);
    }
    return status;
}

/* With the catalog locked. A sequence that is not listed may continue as an
 * automatic one. */
static enum seqb_status find_automatic(struct queue_reload *reload, size_t i,
                                       struct seqb_error *err)
{
    const struct seqb_sequence *sequence = reload->queue->catalog.sequences[i];

    if (reload->wanted[i] != NULL ||
        !options_match(reload->options, sequence->key))
        return SEQB_OK;
    reload->wanted[i] = reload->options->automatic;
    return compare_sequence(&reload->comparison, sequence,
                            reload->options->automatic, err);
}

static enum seqb_status find_all(struct queue_reload *reload,
                                 struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    size_t at = 0;

    while (at < reload->options->sequence_count && status == SEQB_OK)
        status = find_part(reload, &at, err);
    for (at = 0; at < reload->known && status == SEQB_OK;) {
        pthread_rwlock_rdlock(&reload->queue->catalog_lock);
        for (size_t i = 0;
             i < RELOAD_PART && at < reload->known && status == SEQB_OK;
             i++, at++) {
            struct seqb_error why;

            status = find_automatic(reload, at, &why);
            status = refusal_note(reload, status, &why, err);
        }
        pthread_rwlock_unlock(&reload->queue->catalog_lock);
    }
    return refusal_or(reload, status, err);
}

/* As at the start, except that the reload fails if a store refuses one
 * sequence. */
static enum seqb_status admit_added(struct queue_reload *reload,
                                    struct seqb_error *err)
{
    struct ha_counter **counters =
        calloc(reload->added_count + 1, sizeof(struct ha_counter *));
    enum seqb_status status;

    if (counters == NULL)
        return no_memory(err);
    for (size_t i = 0; i < reload->added_count; i++)
        counters[i] = reload->added[i]->counter;
    reload->is_known = true;
    pthread_mutex_lock(&reload->queue->admit_lock);
    status = reload->added_count == 0 ? SEQB_OK
                                      : ha_admit(reload->queue->ha, counters,
                                                 reload->added_count, err);
    pthread_mutex_unlock(&reload->queue->admit_lock);
    /* ha_admit names one, if none is left. */
    for (size_t i = 0; i < reload->added_count &&
                       (status == SEQB_OK || status == SEQB_LAYOUT);
         i++) {
        struct seqb_error why;

        if (ha_counter_availability(counters[i], &why) == SEQB_LAYOUT)
            (void)refusal_note(reload, SEQB_LAYOUT, &why, err);
    }
    status = refusal_or(reload, status, err);
    free(counters);
    return status == SEQB_OK ? admitter_expect(reload->queue, reload->added,
                                               reload->added_count, err)
                             : status;
}

/* Whether automatic sequences would point to the next options. */
static bool keeps_automatic(const struct queue_sequence_options *runs,
                            const struct queue_sequence_options *next)
{
    if (next == NULL)
        return false;
    return runs == NULL ? needs_options(next)
                        : runs->template != next->template;
}

/* All but the sequences that are to be added. */
static enum seqb_status compare_begin(struct queue *queue,
                                      const struct queue_options *options,
                                      const struct queue_refusals *refusals,
                                      struct queue_reload *reload,
                                      struct seqb_error *err)
{
    *reload = (struct queue_reload){.queue = queue,
                                    .options = options,
                                    .refusals = refusals,
                                    .comparison = {.options = options}};
    pthread_rwlock_rdlock(&queue->catalog_lock);
    reload->known = queue->catalog.count;
    pthread_rwlock_unlock(&queue->catalog_lock);
    reload->wanted = calloc(reload->known + 1,
                            sizeof(const struct queue_sequence_options *));
    return reload->wanted == NULL ? no_memory(err) : SEQB_OK;
}

enum seqb_status queue_check(struct queue *queue,
                             const struct queue_options *options,
                             const struct queue_refusals *refusals,
                             struct seqb_error *err)
{
    struct queue_reload reload;
    enum seqb_status status =
        compare_begin(queue, options, refusals, &reload, err);

    if (status == SEQB_OK)
        status = find_all(&reload, err);
    free(reload.wanted);
    return status;
}

/* Compares all sequences, and makes and claims those that are new. */
static enum seqb_status prepare(struct queue_reload *reload,
                                struct seqb_error *err)
{
    const struct queue_options *options = reload->options;
    enum seqb_status status;

    reload->added =
        calloc(options->sequence_count + 1, sizeof(struct seqb_sequence *));
    if (reload->added == NULL)
        return no_memory(err);
    status = find_all(reload, err);
    return status == SEQB_OK ? admit_added(reload, err) : status;
}

enum seqb_status queue_prepare(struct queue *queue,
                               const struct queue_options *options,
                               const struct queue_refusals *refusals,
                               struct queue_reload **out,
                               struct seqb_error *err)
{
    struct queue_reload *reload = malloc(sizeof *reload);
    enum seqb_status status;

    if (reload == NULL)
        return no_memory(err);
    *out = reload;
    status = compare_begin(queue, options, refusals, reload, err);
    return status == SEQB_OK ? prepare(reload, err) : status;
}

/* --- putting in place --- */

/* With the catalog locked for writing: SEQB_AGAIN if an automatic sequence was
 * made meanwhile under the key of one that is to be added. */
static enum seqb_status check_added(const struct queue_reload *reload,
                                    struct seqb_error *err)
{
    const struct catalog *catalog = &reload->queue->catalog;

    if (catalog->count == reload->known)
        return SEQB_OK;
    for (size_t i = 0; i < reload->added_count; i++) {
        if (catalog_find(catalog, reload->added[i]->key) != CATALOG_NONE)
            return error_set(err, SEQB_AGAIN,
                             "sequence %s made itself meanwhile; nothing was "
                             "applied: reload again",
                             reload->added[i]->key);
    }
    return SEQB_OK;
}

/* With the catalog locked for writing. */
static void count_automatic(struct queue_reload *reload)
{
    const struct queue_options *options = reload->options;
    struct queue *queue = reload->queue;
    /* Reading the mark of each sequence would keep callers from the catalog. */
    const bool is_marked = atomic_load(&queue->context.without_number) > 0;

    /* Automatic ones that were made since. */
    queue->automatic = (int64_t)(queue->catalog.count - reload->known);
    for (size_t i = 0; i < reload->known; i++) {
        struct seqb_sequence *sequence = queue->catalog.sequences[i];

        if (reload->wanted[i] != NULL &&
            reload->wanted[i] == options->automatic &&
            sequence_admission(sequence) != SEQUENCE_REFUSED)
            queue->automatic++;
        else if (is_marked)
            sequence_has_number(sequence);
    }
}

/* With the catalog locked for writing. */
static enum seqb_status add_all(struct queue_reload *reload,
                                struct seqb_error *err)
{
    struct queue *queue = reload->queue;
    const enum seqb_status status = check_added(reload, err);

    if (status != SEQB_OK)
        return status;
    if (!catalog_reserve(&queue->catalog, reload->added_count))
        return no_memory(err);
    count_automatic(reload);
    /* Automatic sequences will point there, too. */
    if (reload->comparison.has_other_texts ||
        keeps_automatic(queue->options->automatic, reload->options->automatic))
        reload->is_kept = true;
    reload->old = queue->catalog.count;
    for (size_t i = 0; i < reload->added_count; i++)
        (void)catalog_add(&queue->catalog, reload->added[i]);
    queue->options = reload->options;
    return SEQB_OK;
}

bool queue_keeps_options(const struct queue_reload *reload)
{
    return reload->is_known && reload->is_kept;
}

enum seqb_status queue_commit(struct queue_reload *reload,
                              struct seqb_error *err)
{
    struct queue *queue = reload->queue;
    enum seqb_status status;

    pthread_rwlock_wrlock(&queue->catalog_lock);
    status = add_all(reload, err);
    pthread_rwlock_unlock(&queue->catalog_lock);
    if (status != SEQB_OK)
        return status;
    queue->context.interval_ms = reload->options->interval_ms;
    admitter_put_off(queue, reload->added, reload->added_count);
    reload_set_all(reload);
    reload->added_count = 0;
    return SEQB_OK;
}

void queue_reload_free(struct queue_reload *reload)
{
    if (reload == NULL)
        return;
    for (size_t i = 0; i < reload->added_count; i++) {
        struct seqb_sequence *sequence = reload->added[i];

        if (reload->is_known) {
            sequence_set_listed(sequence, false);
            sequence->next_aside = reload->queue->abandoned;
            reload->queue->abandoned = sequence;
        } else {
            sequence->source->free(sequence);
        }
    }
    free(reload->added);
    free(reload->wanted);
    free(reload);
}
