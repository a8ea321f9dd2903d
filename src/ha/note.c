/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value kept in a store under a name, the highest ever: a claim that is
 * swapped for a higher one, on the store's worker's thread. No counter, which
 * would begin after the base, or bind that of a store that changed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ha/ask.h"
#include "ha/startup.h"
#include "ha/worker_connection.h"
#include "platform/error.h"
#include "platform/text.h"

#define NUMBER_SIZE 24
#define SWAPS       8

struct note {
    struct ask ask; /* first: the answer is `standing` */
    char name[SEQB_COUNTER_SIZE];
    int64_t value;
    int64_t standing;
};

static void note_free(struct ask *ask)
{
    ask_fini(ask);
    free(ask);
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

static enum seqb_status note_run(struct worker *worker, struct ask *ask,
                                 struct seqb_error *err)
{
    struct note *note = (struct note *)ask;
    enum seqb_status status;

    if (!worker_may_connect(worker, err) ||
        worker_connect(worker, err) != SEQB_OK)
        status = err->status;
    else
        status = note_raise(worker, note, &note->standing, err);
    if (status == SEQB_UNREACHABLE || status == SEQB_UNCERTAIN)
        worker_fail(worker, err, 0);
    return status;
}

static struct note *note_new(const struct ha_entry *entry)
{
    struct note *note = calloc(1, sizeof *note);

    if (note == NULL)
        return NULL;
    ask_init(&note->ask, note_run, note_free);
    note->value = entry->value;
    (void)text_copy(note->name, sizeof note->name, entry->name);
    return note;
}

enum seqb_status ha_note(struct ha *ha, const struct ha_entry *entry,
                         int64_t until_ms, int64_t *standing,
                         struct seqb_error *err)
{
    struct worker *worker = &ha->workers[entry->backend];
    const char *store = worker_name(worker);
    struct note *note = note_new(entry);
    struct seqb_error why;
    enum seqb_status status;

    if (note == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", entry->name);
    if (!worker_ask(worker, &note->ask, until_ms, &why)) {
        if (why.status == SEQB_CLOSED)
            return error_copy(err, &why);
        return error_set(err, SEQB_UNAVAILABLE, "backend %s: %s to %s", store,
                         why.text, entry->name);
    }
    status = note->ask.error.status;
    if (status != SEQB_OK && status != SEQB_CLOSED)
        status = SEQB_UNAVAILABLE;
    if (status == SEQB_OK)
        *standing = note->standing;
    else
        (void)error_set(err, status, "backend %s: %s: %s", store, entry->name,
                        note->ask.error.text);
    ask_release(&note->ask);
    return status;
}
