/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a lease, and its thread. */
#include "lease/worker_lease.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"

#define DEFAULT_LEASE_MS 10000

/* "broker@host:pid" */
static enum seqb_status self_init(struct lease_self *self,
                                  const struct lease_options *options,
                                  struct seqb_error *err)
{
    char host[64] = "";

    if (getrandom(&self->key, sizeof self->key, 0) != sizeof self->key)
        return error_set(err, SEQB_NO_MEMORY, "no random bytes for a lease");
    self->key |= 1; /* never 0 */
    self->lease_ms =
        options->lease_ms > 0 ? options->lease_ms : DEFAULT_LEASE_MS;
    (void)gethostname(host, sizeof host - 1);
    (void)text_format(self->holder, sizeof self->holder, "%s@%s:%ld",
                      options->broker == NULL ? "seqbroker" : options->broker,
                      host, (long)getpid());
    for (char *at = self->holder; *at != '\0'; at++) {
        if ((unsigned char)*at <= ' ')
            *at = '_';
    }
    return SEQB_OK;
}

enum seqb_status worker_lease_new(struct ha *ha,
                                  const struct lease_options *options,
                                  struct worker_lease **out,
                                  struct seqb_error *err)
{
    struct ha_pool *pool = ha_pool_at(ha, (size_t)options->pool);
    struct worker_lease *lease = calloc(1, sizeof *lease);

    if (lease == NULL)
        return error_set(err, SEQB_NO_MEMORY, "pool %s: out of memory",
                         ha_pool_shape(pool)->name);
    pthread_mutex_init(&lease->lock, NULL);
    condition_init(&lease->changed);
    *out = lease;
    lease->options = options;
    lease->pool = pool;
    lease->ha = ha;
    lease->lessor = ha_pool_lessor(pool, 0);
    lease->lessors = 1;
    while (ha_pool_lessor(pool, lease->lessors) >= 0)
        lease->lessors++;
    lease->self.is_exact = ha_pool_has_neighbours(pool);
    lease->until_ms = INT64_MAX;
    lease->id = LEASE_NOBODY;
    lease->lent.worker = LEASE_NOBODY;
    lease->attempt.worker = LEASE_NOBODY;
    lease_search_begin(lease);
    if (lease->lessor < 0)
        return error_set(err, SEQB_CONFIG,
                         "pool %s: a snowflake needs a direct store that "
                         "leases worker ids",
                         ha_pool_shape(pool)->name);
    return self_init(&lease->self, options, err);
}

void worker_lease_free(struct worker_lease *lease)
{
    if (lease == NULL)
        return;
    pthread_cond_destroy(&lease->changed);
    pthread_mutex_destroy(&lease->lock);
    free(lease->observations);
    free(lease);
}

/* Waits until the next turn is due. False: the lease is closing. */
static bool lease_rest(struct worker_lease *lease, int64_t until_ms)
{
    bool in_time = true;
    bool is_closing;

    pthread_mutex_lock(&lease->lock);
    while (!lease->is_closing && !lease->is_hurried && in_time)
        in_time = condition_wait(&lease->changed, &lease->lock, until_ms);
    lease->is_hurried = false;
    is_closing = lease->is_closing;
    pthread_mutex_unlock(&lease->lock);
    return !is_closing;
}

static void *lease_run(void *argument)
{
    struct worker_lease *lease = argument;

    while (lease_rest(lease, clock_now_ms() + lease_tick(lease)))
        continue;
    lease_give_back(lease);
    return NULL;
}

enum seqb_status worker_lease_start(struct worker_lease *lease,
                                    struct seqb_error *err)
{
    const enum seqb_status status =
        thread_start(&lease->thread, "seqb:lease", lease_run, lease, err);

    lease->is_started = status == SEQB_OK;
    return status;
}

void worker_lease_end(struct worker_lease *lease)
{
    pthread_mutex_lock(&lease->lock);
    lease->is_closing = true;
    pthread_cond_broadcast(&lease->changed);
    pthread_mutex_unlock(&lease->lock);
    if (lease->is_started)
        pthread_join(lease->thread, NULL);
    lease->is_started = false;
}
