/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes the counters of old stamps in the background, a few in each call. A
 * store first notes the time before which counters are not made again. Older
 * counters are only deleted in a later call, when all that was under way then
 * has ended. Each store goes on where it is: one that was away begins with its
 * note.
 */
#include <stdlib.h>
#include <string.h>

#include "ha/ha.h"
#include "ha/worker_connection.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"

#define PURGE_MOST    256              /* counters deleted in one call */
#define AHEAD_MOST_MS INT64_C(1800000) /* our lead over the store's clock */

/* The counters of one partition: in its own store, or the counters of its
 * windows in the store of each lessor, or the cells that count in these
 * windows. */
struct purge_job {
    struct worker_job job; /* first: it is posted to the worker */
    struct purge *purge;
    struct worker *worker; /* NULL: nothing to do */
    int32_t partition;
    bool is_done;       /* what is older than the purge's `keep` is deleted */
    int64_t noted;      /* digits that an earlier call noted: this one deletes
                           up to them; 0: none did */
    const char *prefix; /* of the counters' names */
    enum seqb_status last; /* result of the last job; its changes are logged */
};

struct purge {
    const struct ha_counter *counter;
    atomic_int under_way; /* jobs; 0 releases what follows to the caller */
    struct ha_stamp keep; /* noted by this call */
    struct purge_job jobs[];
};

static void job_name(const struct purge_job *job, char *out, size_t size)
{
    const struct ha_counter *counter = job->purge->counter;

    (void)text_format(out, size, "%s%s/%d/%s", job->prefix, counter->pool->name,
                      (int)job->partition, counter->key);
}

static enum seqb_status job_call(struct worker *worker, struct purge_job *job,
                                 struct seqb_error *err)
{
    const struct purge *purge = job->purge;
    char counter[SEQB_COUNTER_SIZE];
    char keep[SEQB_COUNTER_SIZE];
    const struct seqb_purge what = {
        .counter = counter,
        .keep = keep,
        .before_ms = purge->keep.begins_ms,
        .most = job->noted > 0 ? PURGE_MOST : 0,
    };
    int32_t deleted = 0;
    enum seqb_status status;

    job_name(job, counter, sizeof counter);
    (void)text_format(keep, sizeof keep, "%s@%lld", counter,
                      (long long)job->noted);
    status = connection_purge(&worker->connection, &what, &deleted, err);
    if (status != SEQB_OK)
        return status;
    job->is_done = job->noted == purge->keep.digits && deleted < what.most;
    job->noted = purge->keep.digits;
    return SEQB_OK;
}

/* A store that forbids purging continues to count, and is asked again when more
 * is over. */
static void job_note(struct worker *worker, struct purge_job *job,
                     enum seqb_status status, const struct seqb_error *err)
{
    if (status != SEQB_OK && status != job->last)
        log_reason(SEQB_LOG_WARN, err->text,
                   "event=purge_failed backend=%s key=%s", worker_name(worker),
                   job->purge->counter->key);
    job->last = status;
    if (status != SEQB_OK && connection_was_refused(status))
        job->is_done = true;
    if (status == SEQB_UNREACHABLE || status == SEQB_UNCERTAIN)
        worker_fail(worker, err, 0);
}

static void job_done(struct worker_job *job)
{
    struct purge *purge = ((struct purge_job *)job)->purge;

    atomic_fetch_sub_explicit(&purge->under_way, 1, memory_order_release);
}

/* The noted time holds for good and for all brokers, so a clock that is far
 * ahead of the store's must not set it. */
static bool may_purge(const struct worker *worker)
{
    const int64_t ahead_ms = connection_clock_ahead_ms(&worker->connection);

    if (!connection_is_verified(&worker->connection))
        return false;
    return ahead_ms == CONNECTION_NO_CLOCK || ahead_ms > -AHEAD_MOST_MS;
}

/* On the worker's thread. A store that is not connected is asked in a later
 * call. */
static void job_run(struct worker *worker, struct worker_job *posted)
{
    struct purge_job *job = (struct purge_job *)posted;
    struct seqb_error err;

    if (may_purge(worker))
        job_note(worker, job, job_call(worker, job, &err), &err);
    job_done(posted);
}

static struct purge_job job_of(struct purge *purge, const struct slot *slot,
                               struct worker *worker, const char *prefix)
{
    return (struct purge_job){
        .job = {.call = job_run, .abandon = job_done},
        .purge = purge,
        .worker = worker,
        .partition = slot->partition,
        .prefix = prefix,
    };
}

/* How many jobs each slot may have. */
static size_t jobs_per_slot(const struct ha_counter *counter)
{
    const int32_t lessors = counter->pool->lessors.count;

    return 1 + (size_t)(lessors > 0 ? lessors : 1);
}

/* The jobs for a slot's windows, in the store of each lessor. */
static void window_jobs(struct purge *purge, const struct slot *slot,
                        struct purge_job *jobs)
{
    const struct ha_pool *pool = purge->counter->pool;

    if (pool->authority != NULL)
        jobs[0] = job_of(purge, slot, pool->authority, "window/");
    for (int32_t i = 0; i < pool->lessors.count; i++)
        jobs[i] =
            job_of(purge, slot, pool->workers[pool->lessors.lessor[i].member],
                   "window/");
}

/* Cells of a windowed engine expire by themselves. */
static void slot_jobs(struct purge *purge, const struct slot *slot,
                      struct purge_job *jobs)
{
    struct worker *own = purge->counter->pool->workers[slot->partition];

    if (slot_class(slot) == SEQB_WINDOWED)
        window_jobs(purge, slot, jobs + 1);
    if (slot_class(slot) == SEQB_DIRECT)
        jobs[0] = job_of(purge, slot, own, "");
    else if (worker_guarantee(own) == SEQB_DIRECT)
        jobs[0] = job_of(purge, slot, own, SEQB_CELL);
}

static struct purge *purge_new(const struct ha_counter *counter)
{
    const size_t per_slot = jobs_per_slot(counter);
    const size_t jobs = per_slot * (size_t)counter->partitions;
    struct purge *purge = calloc(1, sizeof *purge + jobs * sizeof *purge->jobs);

    if (purge == NULL)
        return NULL;
    purge->counter = counter;
    for (int32_t i = 0; i < counter->partitions; i++)
        slot_jobs(purge, &counter->slots[i],
                  &purge->jobs[per_slot * (size_t)i]);
    return purge;
}

static void keep_set(struct purge *purge, size_t count,
                     const struct ha_stamp *keep)
{
    if (purge->keep.digits == keep->digits)
        return;
    purge->keep = *keep;
    for (size_t i = 0; i < count; i++)
        purge->jobs[i].is_done = false;
}

static void post_all(struct purge *purge, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct purge_job *job = &purge->jobs[i];

        if (job->worker == NULL || job->is_done)
            continue;
        atomic_fetch_add_explicit(&purge->under_way, 1, memory_order_relaxed);
        if (!worker_post(job->worker, &job->job))
            job_done(&job->job);
    }
}

void ha_counter_purge(struct ha_counter *counter, const struct ha_stamp *keep)
{
    const size_t jobs = jobs_per_slot(counter) * (size_t)counter->partitions;
    struct purge *purge = counter->purge;

    /* The stamps are those of brokers with other settings. */
    if (counter_is_closed(counter))
        return;
    if (purge == NULL)
        counter->purge = purge = purge_new(counter);
    /* The acquire pairs with the last job's release. */
    if (purge == NULL ||
        atomic_load_explicit(&purge->under_way, memory_order_acquire) > 0)
        return;
    keep_set(purge, jobs, keep);
    post_all(purge, jobs);
}
