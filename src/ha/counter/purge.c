/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes the counters of old stamps in the background, a few in each call. A
 * store first notes the time before which counters are not made again. Older
 * counters are only deleted in a later call, when all that was under way then
 * has ended.
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
    const char *prefix;    /* of the counters' names */
    enum seqb_status last; /* result of the last job; its changes are logged */
};

struct purge {
    const struct ha_counter *counter;
    atomic_int under_way;  /* jobs; 0 releases what follows to the caller */
    atomic_bool has_more;  /* some job deleted as many as it may in one call */
    struct ha_stamp noted; /* noted by an earlier call; this one deletes up
                              to it */
    struct ha_stamp keep;  /* noted by this call */
    struct purge_job jobs[];
};

static void job_name(const struct purge_job *job, char *out, size_t size)
{
    const struct ha_counter *counter = job->purge->counter;

    (void)text_format(out, size, "%s%s/%d/%s", job->prefix, counter->pool->name,
                      (int)job->partition, counter->key);
}

static enum seqb_status job_call(struct worker *worker,
                                 const struct purge_job *job,
                                 struct seqb_error *err)
{
    struct purge *purge = job->purge;
    char counter[SEQB_COUNTER_SIZE];
    char keep[SEQB_COUNTER_SIZE];
    const struct seqb_purge what = {
        .counter = counter,
        .keep = keep,
        .before_ms = purge->keep.begins_ms,
        .most = purge->noted.digits > 0 ? PURGE_MOST : 0,
    };
    int32_t deleted = 0;
    enum seqb_status status;

    job_name(job, counter, sizeof counter);
    (void)text_format(keep, sizeof keep, "%s@%lld", counter,
                      (long long)purge->noted.digits);
    status = connection_purge(&worker->connection, &what, &deleted, err);
    if (status == SEQB_OK && what.most > 0 && deleted == what.most)
        atomic_store_explicit(&purge->has_more, true, memory_order_relaxed);
    return status;
}

/* A store that forbids purging continues to count. */
static void job_note(struct worker *worker, struct purge_job *job,
                     enum seqb_status status, const struct seqb_error *err)
{
    if (status != SEQB_OK && status != job->last)
        log_reason(SEQB_LOG_WARN, err->text,
                   "event=purge_failed backend=%s key=%s", worker_name(worker),
                   job->purge->counter->key);
    job->last = status;
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

    if (!connection_is_open(&worker->connection) ||
        worker->connection.verified_on != worker->connection.serial)
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

/* Whether all old stamps were deleted already. */
static bool is_done(const struct purge *purge, const struct ha_stamp *keep)
{
    return purge->noted.digits == keep->digits &&
           !atomic_load_explicit(&purge->has_more, memory_order_relaxed);
}

static void post_all(struct purge *purge, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct purge_job *job = &purge->jobs[i];

        if (job->worker == NULL)
            continue;
        atomic_fetch_add_explicit(&purge->under_way, 1, memory_order_relaxed);
        if (!worker_post(job->worker, &job->job))
            job_done(&job->job);
    }
}

void ha_counter_purge(struct ha_counter *counter, const struct ha_stamp *keep)
{
    struct purge *purge = counter->purge;

    if (purge == NULL)
        counter->purge = purge = purge_new(counter);
    /* The acquire pairs with the last job's release. */
    if (purge == NULL ||
        atomic_load_explicit(&purge->under_way, memory_order_acquire) > 0 ||
        is_done(purge, keep))
        return;
    atomic_store_explicit(&purge->has_more, false, memory_order_relaxed);
    purge->noted = purge->keep;
    purge->keep = *keep;
    post_all(purge, jobs_per_slot(counter) * (size_t)counter->partitions);
}
