/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value kept in a store under a name, the highest ever: a claim that is
 * swapped for a higher one, on the store's worker's thread. No counter, which
 * would begin after the base, or bind that of a store that changed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ha/startup.h"
#include "ha/worker.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "store/store.h"

#define NUMBER_SIZE 24
#define SWAPS       8

struct note {
    struct worker_job job; /* first: it is posted to the worker */
    char name[SEQB_COUNTER_SIZE];
    int64_t value;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t answered;
    bool is_answered;
    bool is_abandoned; /* nobody waits: whoever answers frees it */
    int64_t standing;
    struct seqb_error error; /* status OK: `standing` is valid */
};

static void note_free(struct note *note)
{
    pthread_cond_destroy(&note->answered);
    pthread_mutex_destroy(&note->lock);
    free(note);
}

static void note_answer(struct note *note, int64_t standing,
                        const struct seqb_error *why)
{
    bool is_abandoned;

    pthread_mutex_lock(&note->lock);
    note->standing = standing;
    note->error.status = SEQB_OK;
    if (why != NULL)
        note->error = *why;
    note->is_answered = true;
    is_abandoned = note->is_abandoned;
    pthread_cond_signal(&note->answered);
    pthread_mutex_unlock(&note->lock);
    if (is_abandoned)
        note_free(note);
}

/* What stands there, "" is 0. */
static enum seqb_status note_parse(const struct note *note, const char *text,
                                   int64_t *out, struct seqb_error *err)
{
    *out = 0;
    if (text[0] == '\0' ||
        (text_to_int64(text, strlen(text), out) && *out >= 0))
        return SEQB_OK;
    return error_set(err, SEQB_CORRUPT,
                     "'%s' stands where a number ought to: remove the claim %s",
                     text, note->name);
}

/* Another broker may be faster, with a value as good as ours or lower. */
static enum seqb_status note_raise(struct worker *worker,
                                   const struct note *note, int64_t *standing,
                                   struct seqb_error *err)
{
    char was[NUMBER_SIZE];
    char text[NUMBER_SIZE];
    const struct seqb_swap swap = {note->name, was, text};
    enum seqb_status status = connection_claim(&worker->connection, note->name,
                                               NULL, was, sizeof was, err);

    (void)text_format(text, sizeof text, "%" PRId64, note->value);
    for (int i = 0; status == SEQB_OK && i < SWAPS; i++) {
        char is[NUMBER_SIZE];

        status = note_parse(note, was, standing, err);
        if (status != SEQB_OK || *standing >= note->value)
            return status;
        status =
            connection_swap(&worker->connection, &swap, is, sizeof is, err);
        (void)text_copy(was, sizeof was, is);
    }
    return status == SEQB_OK
               ? error_set(err, SEQB_AGAIN, "other brokers were faster")
               : status;
}

static void note_run(struct worker *worker, struct worker_job *job)
{
    struct note *note = (struct note *)job;
    struct seqb_error err;
    int64_t standing = 0;
    enum seqb_status status = SEQB_OK;

    if (!worker_may_connect(worker, &err) ||
        worker_connect(worker, &err) != SEQB_OK)
        status = err.status;
    else
        status = note_raise(worker, note, &standing, &err);
    if (status == SEQB_UNREACHABLE || status == SEQB_UNCERTAIN)
        worker_fail(worker, &err, 0);
    note_answer(note, standing, status == SEQB_OK ? NULL : &err);
}

static void note_abandon(struct worker_job *job)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_CLOSED, "the broker is closing");
    note_answer((struct note *)job, 0, &why);
}

static struct note *note_new(const struct ha_entry *entry)
{
    struct note *note = calloc(1, sizeof *note);

    if (note == NULL)
        return NULL;
    note->job.call = note_run;
    note->job.abandon = note_abandon;
    note->value = entry->value;
    (void)text_copy(note->name, sizeof note->name, entry->name);
    pthread_mutex_init(&note->lock, NULL);
    condition_init(&note->answered);
    return note;
}

/* False, and the note is the worker's to free, if no answer came in time. */
static bool note_wait(struct note *note, int64_t until_ms)
{
    bool in_time = true;

    pthread_mutex_lock(&note->lock);
    while (!note->is_answered && in_time)
        in_time = condition_wait(&note->answered, &note->lock, until_ms);
    in_time = note->is_answered;
    note->is_abandoned = !in_time;
    pthread_mutex_unlock(&note->lock);
    return in_time;
}

enum seqb_status ha_note(struct ha *ha, const struct ha_entry *entry,
                         int64_t until_ms, int64_t *standing,
                         struct seqb_error *err)
{
    struct worker *worker = &ha->workers[entry->backend];
    const char *store = worker_name(worker);
    const char *name = entry->name;
    struct note *note = note_new(entry);
    enum seqb_status status;

    if (note == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", name);
    if (!worker_post(worker, &note->job)) {
        note_free(note);
        return error_set(err, SEQB_CLOSED, "the broker is closing");
    }
    if (!note_wait(note, until_ms))
        return error_set(err, SEQB_UNAVAILABLE,
                         "backend %s: no answer in time to %s", store, name);
    status = note->error.status;
    if (status != SEQB_OK && status != SEQB_CLOSED)
        status = SEQB_UNAVAILABLE;
    if (status == SEQB_OK)
        *standing = note->standing;
    else
        (void)error_set(err, status, "backend %s: %s: %s", store, name,
                        note->error.text);
    note_free(note);
    return status;
}
