/* SPDX-License-Identifier: Apache-2.0 */
/* What the authorities know of worker ids, for who looks at them: read by
 * their workers' threads, a job a pool. */
#include <stdlib.h>

#include "ha/ask.h"
#include "ha/lease.h"
#include "ha/startup.h"
#include "ha/tenant.h"
#include "ha/worker_connection.h"
#include "platform/error.h"
#include "platform/text.h"

struct roster {
    struct ask ask; /* first: the answer is `found` */
    const struct ha_pool *pool;
    int64_t ids; /* that there are */
    struct seqb_worker *found;
    size_t count;
    size_t capacity;
};

static void roster_free(struct ask *ask)
{
    struct roster *roster = (struct roster *)ask;

    ask_fini(ask);
    free(roster->found);
    free(roster);
}

/* --- on the authority's thread --- */

static bool is_ours(const struct ha_pool *pool, const struct lease_row *row)
{
    for (int32_t i = 0; i < 1 << pool->options->layout.bits; i++) {
        const struct tenant *tenant = pool->workers[i]->tenant;

        if (tenant != NULL && row->is_held && tenant_owns(tenant, row->key))
            return true;
    }
    return false;
}

static struct seqb_worker *roster_place(struct roster *roster)
{
    if (roster->count == roster->capacity) {
        const size_t capacity = 2 * roster->capacity + 8;
        struct seqb_worker *found =
            realloc(roster->found, capacity * sizeof *found);

        if (found == NULL)
            return NULL;
        roster->found = found;
        roster->capacity = capacity;
    }
    return &roster->found[roster->count++];
}

static enum seqb_status roster_add(struct roster *roster, int64_t id,
                                   const char *text, struct seqb_error *err)
{
    struct lease_row row;
    struct seqb_worker *worker;
    const bool is_read = lease_read(text, &row);

    worker = roster_place(roster);
    if (worker == NULL)
        return error_set(err, SEQB_NO_MEMORY, "worker ids: out of memory");
    *worker = (struct seqb_worker){
        .worker = (int32_t)id,
        .is_ours = is_read && is_ours(roster->pool, &row),
        .is_free = is_read && !row.is_held,
        .renewed_ms = row.renewed_ms,
        .used_upto_ms = row.upto_ms,
    };
    (void)text_copy(worker->pool, sizeof worker->pool,
                    roster->pool->options->layout.name);
    (void)text_copy(worker->holder, sizeof worker->holder,
                    is_read ? row.holder : "(its row is damaged)");
    ask_step(&roster->ask);
    return SEQB_OK;
}

/* Ids are taken from the lowest on: past the first that nobody ever had there
 * is none. */
static enum seqb_status roster_read(struct roster *roster,
                                    struct worker *worker,
                                    struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int64_t id = 0; id < roster->ids && status == SEQB_OK; id++) {
        char name[SEQB_COUNTER_SIZE];
        char text[LEASE_TEXT_SIZE];

        tenant_row_name(roster->pool, id, name, sizeof name);
        status = connection_claim(&worker->connection, name, NULL, text,
                                  sizeof text, err);
        if (status == SEQB_OK && text[0] == '\0')
            break;
        if (status == SEQB_OK)
            status = roster_add(roster, id, text, err);
    }
    return status;
}

static enum seqb_status roster_run(struct worker *worker, struct ask *ask,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    if (!worker_may_connect(worker, err) ||
        worker_connect(worker, err) != SEQB_OK)
        return err->status;
    status = roster_read((struct roster *)ask, worker, err);
    if (status_blame(status) == BLAME_BACKEND)
        worker_fail(worker, err, 0);
    return status;
}

/* --- asking --- */

static struct roster *roster_new(const struct ha_pool *pool, int32_t bits)
{
    struct roster *roster = calloc(1, sizeof *roster);

    if (roster == NULL)
        return NULL;
    ask_init(&roster->ask, roster_run, roster_free);
    roster->pool = pool;
    roster->ids = (int64_t)1 << bits;
    return roster;
}

/* NULL, with the reason: SEQB_NO_MEMORY, else SEQB_UNAVAILABLE. */
static struct roster *roster_ask(const struct ha_pool *pool, int32_t bits,
                                 struct seqb_error *err)
{
    const struct seqb_backend_options *options =
        &pool->authority->connection.options->options;
    struct roster *roster = roster_new(pool, bits);
    const char *why = "no answer in time";
    enum seqb_status status = SEQB_UNAVAILABLE;

    if (roster == NULL) {
        (void)error_set(err, SEQB_NO_MEMORY, "worker ids: out of memory");
        return NULL;
    }
    if (!ask_post(pool->authority, &roster->ask)) {
        roster_free(&roster->ask);
        (void)error_set(err, SEQB_UNAVAILABLE, "the broker is closing");
        return NULL;
    }
    if (ask_wait_steps(&roster->ask,
                       options->connect_timeout_ms + options->timeout_ms)) {
        if (roster->ask.error.status == SEQB_OK)
            return roster;
        if (roster->ask.error.status == SEQB_NO_MEMORY)
            status = SEQB_NO_MEMORY;
        why = roster->ask.error.text;
    }
    (void)error_set(err, status, "pool %s: authority %s: %s",
                    pool->options->layout.name, options->name, why);
    ask_release(&roster->ask);
    return NULL;
}

/* The most worker bits of any of its partitions; -1: none is local. */
static int32_t worker_bits_of(const struct ha_pool *pool)
{
    int32_t bits = -1;

    for (int32_t i = 0; i < 1 << pool->options->layout.bits; i++) {
        const struct worker *worker = pool->workers[i];

        if (worker->tenant != NULL &&
            worker->connection.options->options.worker_bits > bits)
            bits = worker->connection.options->options.worker_bits;
    }
    return bits;
}

enum seqb_status ha_workers(struct ha *ha, struct seqb_worker *out,
                            size_t capacity, size_t *count,
                            struct seqb_error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < ha->options->pool_count; i++) {
        const int32_t bits = worker_bits_of(&ha->pools[i]);
        struct roster *roster;
        struct seqb_error why;

        if (bits < 0)
            continue;
        roster = roster_ask(&ha->pools[i], bits, &why);
        if (roster == NULL)
            return error_copy(err, &why);
        for (size_t j = 0; j < roster->count; j++, n++) {
            if (n < capacity)
                out[n] = roster->found[j];
        }
        ask_release(&roster->ask);
    }
    *count = n;
    return SEQB_OK;
}
