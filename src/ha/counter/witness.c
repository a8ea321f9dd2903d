/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the witness of a lease, and notes the lease there by a raise. For
 * windows and tickets alike. See docs/decisions/0024-neighbours.md.
 */
#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* --- choosing, with the lock held --- */

/* A call that hangs is expected to take at least as long again. */
static int64_t member_wait_us(const struct ha_pool *pool, int32_t member,
                              int64_t now_ms)
{
    const int64_t call_ms = atomic_load_explicit(
        &pool->workers[member]->connection.call_ms, memory_order_relaxed);
    const int64_t usual_us = pool->pool.member[member].latency_us;

    return call_ms < 0 ? usual_us : max_of(usual_us, 1000 * (now_ms - call_ms));
}

void witness_lock_out(const struct ha_pool *pool, uint64_t tried,
                      struct lessors_lock_out *out)
{
    const struct lessors *lessors = &pool->lessors;
    const int64_t now_ms = clock_now_ms();

    *out = (struct lessors_lock_out){.away = lessors_away(lessors, &pool->pool),
                                     .tried = tried,
                                     .own = -1,
                                     .level = -1};
    for (int32_t i = 0; i < lessors->count; i++)
        out->wait_us[i] =
            member_wait_us(pool, lessors->lessor[i].member, now_ms);
}

int32_t witness_pick(const struct ha_pool *pool, int32_t lessor, uint64_t tried)
{
    struct lessors_lock_out locked_out;

    witness_lock_out(pool, tried, &locked_out);
    return lessors_witness(&pool->lessors, lessor, &locked_out);
}

/* --- the note, on the witness's thread --- */

/* The lessor's mark is missing at the witness. A look will leave it again. */
static void doubt_mark(const struct noted *noted)
{
    struct ha_pool *pool = noted->pool;

    pthread_mutex_lock(pool->lock);
    lessors_doubt(&pool->lessors, noted->lessor, true, clock_now_ms());
    pthread_cond_signal(pool->lessors_changed);
    pthread_mutex_unlock(pool->lock);
}

/* `*before` is the last lease that the witness knew until then. */
static enum seqb_status note_raise(struct worker *worker,
                                   const struct noted *noted, int64_t *before,
                                   int64_t *known, struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char text[TERM_SIZE + 1];
    struct seqb_guard guard = {.name = name, .text = text};
    const int64_t start_us = clock_now_us();
    const struct seqb_raise raise = {
        .counter = noted->counter,
        .floor = noted->lease,
        .limit = noted->limit,
        .base_gap = worker_base_gap(worker),
        .base_ms = worker_base_ms(worker),
        .guard = &guard,
        .before = before,
    };
    enum seqb_status status;

    (void)text_format(name, sizeof name, "known/%s/%d", noted->pool->name,
                      (int)noted->lessor);
    (void)text_format(text, sizeof text, "%s|", noted->term);
    status = connection_raise(&worker->connection, &raise, known, err);
    if (!connection_was_refused(status))
        worker_fail(worker, err, clock_now_us() - start_us);
    if (guard.has_failed)
        doubt_mark(noted);
    return status;
}

enum seqb_status witness_note(struct worker *worker, const struct noted *noted,
                              int64_t *known, struct seqb_error *err)
{
    int64_t before = INT64_MAX; /* an engine that does not tell it is refused */
    enum seqb_status status;

    if (!worker_may_work(worker, noted->pool, err) ||
        (!connection_is_verified(&worker->connection) &&
         (!worker_may_connect(worker, err) ||
          worker_connect(worker, err) != SEQB_OK)))
        return err->status;
    status = note_raise(worker, noted, &before, known, err);
    if (status != SEQB_OK || before < noted->first)
        return status;
    return error_set(err, SEQB_POISONED,
                     "counter %s: what was leased may have been leased before: "
                     "%lld is noted already",
                     noted->counter, (long long)before);
}
