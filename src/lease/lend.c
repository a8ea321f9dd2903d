/* SPDX-License-Identifier: Apache-2.0 */
/* What the generator of snowflakes sees of a lease: the worker id, or why there
 * is none. */
#include "lease/worker_lease.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/thread.h"

/* --- the result of a turn --- */

/* With the lock held. */
static bool is_valid(const struct worker_lease *lease)
{
    return lease->lent.worker != LEASE_NOBODY &&
           clock_boot_ms() < lease->lent.until_ms;
}

/* With the lock held. It logs when an id is gained or lost, and when a failure
 * begins, but not each failure of a store that is down. */
static void answer(struct worker_lease *lease, const struct seqb_error *why,
                   bool is_loss)
{
    const char *pool = ha_pool_shape(lease->pool)->name;
    const bool is_first = !lease->is_answered;
    const bool was_well = lease->why.status == SEQB_OK;

    lease->why.status = SEQB_OK;
    if (why != NULL)
        lease->why = *why;
    lease->is_answered = true;
    pthread_cond_broadcast(&lease->changed);
    if (why != NULL && (was_well || is_first || is_loss))
        log_reason(SEQB_LOG_WARN, why->text,
                   "event=worker_lease_failed pool=%s", pool);
    else if (why == NULL && (!was_well || is_first))
        log_line(SEQB_LOG_INFO, "event=worker_leased pool=%s worker=%lld", pool,
                 (long long)lease->lent.worker);
}

void lease_gain(struct worker_lease *lease, int64_t sent_ms)
{
    pthread_mutex_lock(&lease->lock);
    lease->lent = (struct worker_id){
        .serial = lease->lent.serial + 1,
        .worker = lease->id,
        .above_ms = lease->above_ms,
        .upto_ms = lease->self.is_exact ? lease->times_ms : lease->row.upto_ms,
        .until_ms = sent_ms + lease->self.lease_ms};
    answer(lease, NULL, false);
    pthread_mutex_unlock(&lease->lock);
}

void lease_lose(struct worker_lease *lease, const struct seqb_error *why)
{
    bool is_lent;

    pthread_mutex_lock(&lease->lock);
    is_lent =
        lease->lent.worker != LEASE_NOBODY && lease->lent.worker == lease->id;
    answer(lease, why, is_lent);
    if (is_lent)
        lease->lent.worker = LEASE_NOBODY;
    pthread_mutex_unlock(&lease->lock);
    lease->id = LEASE_NOBODY;
}

int64_t lease_left_ms(struct worker_lease *lease)
{
    int64_t left_ms = 0;

    pthread_mutex_lock(&lease->lock);
    if (is_valid(lease))
        left_ms = lease->lent.until_ms - clock_boot_ms();
    pthread_mutex_unlock(&lease->lock);
    return left_ms;
}

void lease_fail(struct worker_lease *lease, const struct seqb_error *why)
{
    pthread_mutex_lock(&lease->lock);
    answer(lease, why, false);
    pthread_mutex_unlock(&lease->lock);
}

/* --- what is lent --- */

const char *worker_lease_pool(const struct worker_lease *lease)
{
    return ha_pool_shape(lease->pool)->name;
}

/* With the lock held. */
static enum seqb_status read_out(const struct worker_lease *lease,
                                 struct seqb_error *err)
{
    const char *pool = worker_lease_pool(lease);
    const char *why = lease->why.status == SEQB_OK ? NULL : lease->why.text;

    if (lease->is_closing)
        return error_set(err, SEQB_CLOSED, "the broker is closing");
    if (is_valid(lease))
        return SEQB_OK;
    if (lease->lent.worker == LEASE_NOBODY)
        return error_set(err, SEQB_UNAVAILABLE, "pool %s: %s", pool,
                         why == NULL ? "it has no worker id yet" : why);
    return error_set(err, SEQB_UNAVAILABLE,
                     "pool %s: the lease of worker id %lld has ended: %s", pool,
                     (long long)lease->lent.worker,
                     why == NULL ? "it was not renewed" : why);
}

enum seqb_status worker_lease_get(struct worker_lease *lease,
                                  struct worker_id *out, struct seqb_error *err)
{
    enum seqb_status status;

    pthread_mutex_lock(&lease->lock);
    status = read_out(lease, err);
    *out = lease->lent;
    pthread_mutex_unlock(&lease->lock);
    return status;
}

/* It holds the lock while it notes the time: an id that is being given back is
 * not used any more. */
bool worker_lease_use(struct worker_lease *lease, const struct worker_id *id,
                      int64_t time_ms)
{
    bool may_use;

    pthread_mutex_lock(&lease->lock);
    may_use = !lease->is_closing && lease->lent.worker == id->worker &&
              time_ms <= lease->lent.upto_ms;
    if (may_use && time_ms > lease->used_ms)
        lease->used_ms = time_ms;
    pthread_mutex_unlock(&lease->lock);
    return may_use;
}

void worker_lease_hurry(struct worker_lease *lease, const struct worker_id *id)
{
    pthread_mutex_lock(&lease->lock);
    if (lease->hurried != id->serial)
        lease->is_hurried = true;
    lease->hurried = id->serial;
    pthread_cond_broadcast(&lease->changed);
    pthread_mutex_unlock(&lease->lock);
}

enum seqb_status worker_lease_await(struct worker_lease *lease,
                                    int64_t until_ms, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    bool in_time = true;

    pthread_mutex_lock(&lease->lock);
    while (!lease->is_answered && in_time)
        in_time = condition_wait(&lease->changed, &lease->lock, until_ms);
    if (lease->is_answered && lease->why.status == SEQB_LAYOUT)
        status = error_copy(err, &lease->why);
    pthread_mutex_unlock(&lease->lock);
    return status;
}
