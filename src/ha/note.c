/* SPDX-License-Identifier: Apache-2.0 */
/* The highest value ever noted under a name in a store, kept by the store's
 * worker. */
#include <stdlib.h>

#include "ha/ask.h"
#include "ha/startup.h"
#include "ha/worker_connection.h"
#include "platform/error.h"
#include "platform/text.h"

struct note {
    struct ask ask; /* first: the answer is `standing` */
    char name[SEQB_COUNTER_SIZE];
    int64_t value;
    int64_t standing;
};

static enum seqb_status note_run(struct worker *worker, struct ask *ask,
                                 struct seqb_error *err)
{
    struct note *note = (struct note *)ask;
    enum seqb_status status;

    if (!worker_may_connect(worker, err) ||
        worker_connect(worker, err) != SEQB_OK)
        status = err->status;
    else
        status = claim_raise(&worker->connection, note->name, note->value,
                             &note->standing, err);
    if (status == SEQB_UNREACHABLE || status == SEQB_UNCERTAIN)
        worker_fail(worker, err, 0);
    return status;
}

static struct note *note_new(const struct ha_entry *entry)
{
    struct note *note = calloc(1, sizeof *note);

    if (note == NULL)
        return NULL;
    ask_init(&note->ask, note_run, ask_free);
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
