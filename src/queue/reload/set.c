/* SPDX-License-Identifier: Apache-2.0 */
/* The last step of a reload: each sequence gets the settings that it is to
 * have, or is taken out. */
#include "platform/error.h"
#include "queue/flusher/flusher.h"
#include "queue/reload/reload_state.h"

/* Settings that do not change are not written: each write makes callers fetch
 * another cache line again. */
static bool has_settings(const struct sequence_settings *settings,
                         const struct queue_sequence_options *options)
{
    return !settings->is_removed &&
           settings->deadline_ms == options->deadline_ms &&
           settings->runway_ms == options->runway_ms &&
           settings->max_unused == options->max_unused &&
           settings->idle_after_ms == options->idle_after_ms &&
           settings->prefetch == options->prefetch &&
           settings->warm == options->warm &&
           settings->full_waits == options->full_waits;
}

/* The state while a reload visits all sequences. */
struct setting {
    struct queue_reload *reload;
    size_t at; /* index of the next one in the catalog */
    bool has_removed;
    bool has_returned; /* a sequence that had been removed is listed again */
};

static void remove_one(struct setting *setting, struct seqb_sequence *sequence)
{
    if (sequence_is_removed(sequence))
        return;
    sequence_remove(sequence, setting->reload->queue->flusher != NULL &&
                                  sequence->source->permits(
                                      sequence, SOURCE_SPOOL, NULL) == SEQB_OK);
    sequence_wake(sequence);
    setting->has_removed = true;
}

/* An automatic sequence that was made meanwhile was not compared before. It
 * keeps its template if that may not change. */
static void set_texts(struct queue_reload *reload,
                      struct seqb_sequence *sequence,
                      const struct queue_sequence_options *wanted)
{
    struct seqb_error why;
    bool is_same;

    if (compare_templates(&reload->comparison, queue_template(sequence), wanted,
                          &is_same, &why) == SEQB_OK &&
        !is_same) {
        sequence_set_texts(sequence, wanted);
        sequence_wake(sequence); /* its width may have room again */
    }
}

/* With the catalog locked, in the catalog's order: the sequences that were
 * known, those that were made automatically meanwhile, and those that were
 * added. */
static void set_next(void *context, struct seqb_sequence *sequence)
{
    struct setting *setting = context;
    struct queue_reload *reload = setting->reload;
    const struct queue_sequence_options *wanted = NULL;
    const size_t i = setting->at++;

    if (i >= reload->old)
        return;
    if (i < reload->known)
        wanted = reload->wanted[i];
    else if (options_match(reload->options, sequence->key))
        wanted = reload->options->automatic;
    if (wanted == NULL) {
        remove_one(setting, sequence);
        return;
    }
    set_texts(reload, sequence, wanted);
    if (!has_settings(sequence->settings, wanted)) {
        setting->has_returned |= sequence_is_removed(sequence);
        sequence_set(sequence, wanted);
        sequence_wake(sequence);
    }
}

/* Tells the pools which sequences are listed. With no lock held, because that
 * reports events. */
static void set_listed(struct queue_reload *reload)
{
    struct queue *queue = reload->queue;
    struct seqb_sequence *part[RELOAD_PART];
    size_t at = 0;

    while (at < reload->old) {
        size_t count = 0;

        pthread_rwlock_rdlock(&queue->catalog_lock);
        for (; count < RELOAD_PART && at < reload->old; at++)
            part[count++] = queue->catalog.sequences[at];
        pthread_rwlock_unlock(&queue->catalog_lock);
        for (size_t i = 0; i < count; i++)
            sequence_set_listed(part[i], !sequence_is_removed(part[i]));
    }
}

void reload_set_all(struct queue_reload *reload)
{
    struct setting setting = {.reload = reload};
    struct queue *queue = reload->queue;
    size_t at = 0;

    while (queue_visit(queue, &at, set_next, &setting))
        continue;
    for (size_t i = 0; i < reload->added_count; i++) {
        if (reload->added[i]->settings->warm)
            sequence_wake(reload->added[i]);
    }
    flusher_set(queue->flusher, reload->options);
    if (setting.has_removed || setting.has_returned) {
        set_listed(reload);
        admitter_retry_now(queue);
    }
    if (setting.has_removed)
        flusher_keep_removed(queue->flusher);
}
