/* SPDX-License-Identifier: Apache-2.0 */
/* Leasing windows ahead of need. */
#include "ha/window.h"

#include <stdlib.h>

#include "ha/worker.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"

/* Of a stamp for which a second window is leased ahead. */
#define SPARE_LEAST_MS INT64_C(3600000)

struct window_source {
    struct slot lease;        /* the counter of windows at the authority */
    struct worker *authority; /* serves the lease */
    pthread_mutex_t lock;     /* guards what follows */
    pthread_cond_t changed;
    bool is_asked; /* a lease is under way */
    int64_t spare; /* leased and not yet taken; SEQB_NO_WINDOW: none */
    enum seqb_status status; /* of the last lease */
    bool is_refused;         /* it failed alone: the authority is well */
    char *why;               /* it failed; NULL: no words for it */
};

static struct window_source *source_of(struct slot *lease)
{
    return (struct window_source *)lease;
}

/* With the lock held: how a lease went, NULL for well. */
static void source_note(struct window_source *source, bool is_refused,
                        const struct seqb_error *why)
{
    free(source->why);
    source->why = why == NULL ? NULL : text_copy_of(why->text);
    source->status = why == NULL ? SEQB_OK : why->status;
    source->is_refused = is_refused;
}

/* On the authority's thread: the lease was answered. */
static void lease_done(struct slot *lease)
{
    struct window_source *source = source_of(lease);

    pthread_mutex_lock(&source->lock);
    source->is_asked = false;
    if (lease->why == NULL)
        source->spare = lease->block.first;
    source_note(source, lease->is_refused, lease->why);
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(&source->lock);
}

static struct window_source *source_new(struct slot *slot)
{
    struct window_source *source = calloc(1, sizeof *source);

    if (source == NULL)
        return NULL;
    source->authority = slot->counter->pool->authority;
    source->spare = SEQB_NO_WINDOW;
    source->lease = (struct slot){.counter = slot->counter,
                                  .partition = slot->partition,
                                  .is_lease = true,
                                  .want = 1,
                                  .done = lease_done,
                                  .mark = FENCE_NOTHING};
    pthread_mutex_init(&source->lock, NULL);
    condition_init(&source->changed);
    return source;
}

void window_source_free(struct window_source *source)
{
    if (source == NULL)
        return;
    pthread_cond_destroy(&source->changed);
    pthread_mutex_destroy(&source->lock);
    free(source->why);
    free(source);
}

bool window_is_asked(const struct slot *slot)
{
    struct window_source *source = slot->windows;
    bool is_asked;

    if (source == NULL)
        return false;
    pthread_mutex_lock(&source->lock);
    is_asked = source->is_asked;
    pthread_mutex_unlock(&source->lock);
    return is_asked;
}

void window_renew(struct slot *slot)
{
    struct window_source *source = slot->windows;

    if (source == NULL)
        return;
    pthread_mutex_lock(&source->lock);
    source->spare = SEQB_NO_WINDOW;
    source->lease.mark = FENCE_NOTHING;
    source_note(source, false, NULL);
    pthread_mutex_unlock(&source->lock);
}

/* With the lock held: asks the authority unless it has been. */
static void lease_ask(struct window_source *source, int64_t floor)
{
    struct seqb_error why;

    if (source->is_asked)
        return;
    source->is_asked = true;
    source->lease.floor = floor;
    if (!worker_post(source->authority, &source->lease.job)) {
        source->is_asked = false;
        (void)error_set(&why, SEQB_CLOSED, "the broker is closing");
        source_note(source, false, &why);
    }
}

/* With the lock held: waits for the lease under way; false if it is still
 * not answered at the deadline. */
static bool lease_wait(struct window_source *source, int64_t deadline_ms)
{
    while (source->is_asked) {
        if (!condition_wait(&source->changed, &source->lock, deadline_ms))
            return !source->is_asked;
    }
    return true;
}

static enum seqb_status authority_fails(const struct window_source *source,
                                        struct seqb_error *err)
{
    const char *why =
        source->why != NULL ? source->why : seqb_status_text(source->status);

    if (source->status == SEQB_EXHAUSTED)
        return error_set(err, SEQB_EXHAUSTED, "%s", why);
    return error_set(
        err, source->is_refused ? source->status : SEQB_UNAVAILABLE,
        "no window: authority %s: %s", worker_name(source->authority),
        source->is_asked ? "no answer in time" : why);
}

/* A short stamp is over before it needs a second window. */
static bool has_spare(const struct window_source *source)
{
    const struct ha_stamp *stamp = &source->lease.counter->stamp;

    return stamp->digits == 0 ||
           stamp->ends_ms - stamp->begins_ms >= SPARE_LEAST_MS;
}

static enum seqb_status source_take(struct window_source *source, int64_t floor,
                                    int64_t deadline_ms, int64_t *out,
                                    struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    pthread_mutex_lock(&source->lock);
    while (source->spare <= floor) {
        source->spare = SEQB_NO_WINDOW; /* too low: dropped for good */
        source_note(source, false, NULL);
        lease_ask(source, floor);
        if (!lease_wait(source, deadline_ms) || source->status != SEQB_OK) {
            status = authority_fails(source, err);
            break;
        }
    }
    if (status == SEQB_OK) {
        *out = source->spare;
        source->spare = SEQB_NO_WINDOW;
        if (has_spare(source))
            lease_ask(source, *out); /* the next one, in the background */
    }
    pthread_mutex_unlock(&source->lock);
    return status;
}

enum seqb_status window_take(struct slot *slot, int64_t floor,
                             int64_t deadline_ms, int64_t *out,
                             struct seqb_error *err)
{
    enum seqb_status status;

    if (slot->windows == NULL)
        slot->windows = source_new(slot);
    if (slot->windows == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sequence %s: out of memory",
                         slot->counter->key);
    status = source_take(slot->windows, floor, deadline_ms, out, err);
    slot->is_refused = status != SEQB_UNAVAILABLE;
    return status;
}
