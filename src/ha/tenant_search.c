/* SPDX-License-Identifier: Apache-2.0 */
/* Finding an id: first the authority's origin is bound, then the lowest id is
 * taken that nobody holds. */
#include <stdlib.h>
#include <string.h>

#include "ha/tenant.h"
#include "ha/tenant_row.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define LOOKS_MAX 64 /* in one turn: others wait for the authority, too */

/* --- the authority's origin --- */

/* SEQB_AGAIN: not yet; `*rest_ms` is when to ask again. */
enum seqb_status tenant_open_origin(struct tenant *tenant, int64_t *rest_ms,
                                    struct seqb_error *err)
{
    char pool[LAYOUT_POOL_SIZE];
    char name[SEQB_COUNTER_SIZE];
    char text[LEASE_TEXT_SIZE];
    char next[LEASE_TEXT_SIZE];
    char standing[LEASE_TEXT_SIZE];
    enum lease_origin_verdict verdict = LEASE_ORIGIN_SWAP;
    enum seqb_status status = SEQB_OK;
    int64_t left_ms;

    layout_internal_name(tenant->pool->options->layout.name,
                         tenant->pool->options->layout.generation, pool,
                         sizeof pool);
    (void)text_format(name, sizeof name, "workers/%s", pool);
    status = tenant_look(tenant, name, text, err);
    for (int i = 0; i < TENANT_SWAP_TRIES && status == SEQB_OK; i++) {
        const int64_t stood_ms =
            lease_watch(&tenant->origin_sight, text, clock_boot_ms());

        verdict =
            lease_judge_origin(text, stood_ms, &tenant->self, &left_ms, next);
        if (verdict != LEASE_ORIGIN_SWAP)
            break;
        status = tenant_swap(
            tenant,
            &(struct seqb_swap){.name = name, .expected = text, .text = next},
            standing, err);
        if (status == SEQB_AGAIN)
            status = SEQB_OK;
        (void)text_copy(text, sizeof text, standing);
    }
    if (status != SEQB_OK || verdict == LEASE_ORIGIN_OPEN)
        return status;
    if (verdict == LEASE_ORIGIN_WAIT && left_ms < *rest_ms)
        *rest_ms = left_ms;
    return error_set(err, SEQB_AGAIN,
                     "authority %s is new, or not what it was: worker ids "
                     "leased before may still be held, for %lld ms more",
                     worker_name(tenant->authority),
                     (long long)(verdict == LEASE_ORIGIN_WAIT ? left_ms : 0));
}

/* --- finding an id --- */

static struct lease_sight *sight_of(struct tenant *tenant, int64_t id)
{
    const int64_t count = id < 8 ? 8 : 2 * id;
    struct lease_sight *sights;

    if (id < tenant->sight_count)
        return &tenant->sights[id];
    sights = realloc(tenant->sights, (size_t)count * sizeof *sights);
    if (sights == NULL)
        return NULL;
    memset(&sights[tenant->sight_count], 0,
           (size_t)(count - tenant->sight_count) * sizeof *sights);
    tenant->sights = sights;
    tenant->sight_count = count;
    return &sights[id];
}

void tenant_search_begin(struct tenant *tenant)
{
    tenant->search = (struct tenant_search){.left_ms = INT64_MAX};
}

/* An id that cannot be had: by whom, for how long. */
static void search_note(struct tenant *tenant, int64_t id, const char *text,
                        enum lease_verdict verdict, int64_t left_ms)
{
    struct tenant_search *search = &tenant->search;
    struct lease_row row;

    search->ahead += verdict == LEASE_AHEAD;
    search->damaged += verdict == LEASE_DAMAGED;
    if (verdict == LEASE_WAIT && left_ms < search->left_ms)
        search->left_ms = left_ms;
    if (id < 2 && lease_read(text, &row) && row.is_held)
        (void)text_append(search->holders, sizeof search->holders,
                          "%s %lld by %s", id == 0 ? ":" : ",", (long long)id,
                          row.holder);
}

static enum seqb_status search_fails(struct tenant *tenant, int64_t *rest_ms,
                                     struct seqb_error *err)
{
    const struct tenant_search *search = &tenant->search;
    const int64_t all = bits_shard_max(&tenant->layout) + 1;
    const int64_t held = all - search->ahead - search->damaged;

    (void)error_set(err, SEQB_AGAIN,
                    "no free worker id: %lld of %lld are held%s; see seqctl "
                    "workers",
                    (long long)held, (long long)all, search->holders);
    if (search->ahead > 0)
        (void)text_append(err->text, sizeof err->text,
                          "; the times of %lld are ahead of the clock",
                          (long long)search->ahead);
    if (search->damaged > 0)
        (void)text_append(err->text, sizeof err->text,
                          "; the rows of %lld are damaged",
                          (long long)search->damaged);
    if (search->left_ms < *rest_ms)
        *rest_ms = search->left_ms;
    tenant_search_begin(tenant);
    return SEQB_AGAIN;
}

static void adopt(struct tenant *tenant, int64_t id,
                  const struct lease_row *row, int64_t above_ms)
{
    tenant->id = id;
    tenant->row = *row;
    tenant->above_ms = above_ms;
    tenant_search_begin(tenant);
}

/* What others may have used of an id. A row that another history of the
 * authority left, or that is not there, does not say all: then it is no later
 * than now, by the later one of two clocks. */
static int64_t used_before(const struct tenant *tenant,
                           const struct lease_row *before)
{
    const int64_t now_ms = connection_latest_ms(&tenant->authority->connection);

    if (strcmp(before->origin, tenant->self.origin) == 0 ||
        before->upto_ms > now_ms)
        return before->upto_ms;
    return now_ms;
}

/* SEQB_AGAIN: somebody was faster. */
static enum seqb_status take(struct tenant *tenant, int64_t id,
                             const char *expected, struct seqb_error *err)
{
    const int64_t sent_ms = clock_boot_ms();
    char name[SEQB_COUNTER_SIZE];
    char text[LEASE_TEXT_SIZE];
    char standing[LEASE_TEXT_SIZE];
    struct lease_row before;
    const bool was_there = lease_read(expected, &before);
    const struct lease_row row =
        lease_taken(was_there ? &before : NULL, &tenant->self, clock_wall_ms());
    enum seqb_status status;

    tenant->attempt = (struct tenant_attempt){
        .worker = id,
        .tenure = row.tenure,
        .above_ms = used_before(tenant, &before),
    };
    tenant_row_name(tenant->pool, id, name, sizeof name);
    lease_write(&row, text, sizeof text);
    status = tenant_swap(
        tenant,
        &(struct seqb_swap){.name = name, .expected = expected, .text = text},
        standing, err);
    if (status != SEQB_OK)
        return status;
    adopt(tenant, id, &row, tenant->attempt.above_ms);
    tenant_gain(tenant, sent_ms);
    return SEQB_OK;
}

/* A swap of ours whose answer was lost. If it is not known any more who had
 * the id before, all that the row allows may be his. */
static enum seqb_status take_ours(struct tenant *tenant, int64_t id,
                                  const char *text, struct seqb_error *err)
{
    const struct tenant_attempt *attempt = &tenant->attempt;
    struct lease_row row;

    (void)lease_read(text, &row);
    adopt(tenant, id, &row,
          attempt->worker == id && attempt->tenure == row.tenure
              ? attempt->above_ms
              : row.upto_ms);
    return tenant_renew(tenant, err);
}

/* SEQB_AGAIN: it cannot be had. */
static enum seqb_status try_id(struct tenant *tenant, int64_t id,
                               struct seqb_error *err)
{
    struct lease_sight *sight = sight_of(tenant, id);
    char name[SEQB_COUNTER_SIZE];
    char text[LEASE_TEXT_SIZE];
    enum lease_verdict verdict;
    enum seqb_status status;
    int64_t left_ms;

    if (sight == NULL)
        return error_set(err, SEQB_NO_MEMORY, "worker ids: out of memory");
    tenant_row_name(tenant->pool, id, name, sizeof name);
    status = tenant_look(tenant, name, text, err);
    if (status != SEQB_OK)
        return status;
    verdict = lease_judge(text, lease_watch(sight, text, clock_boot_ms()),
                          &tenant->self, clock_wall_ms(), &left_ms);
    if (verdict == LEASE_TAKE)
        return take(tenant, id, text, err);
    if (verdict == LEASE_OURS)
        return take_ours(tenant, id, text, err);
    search_note(tenant, id, text, verdict, left_ms);
    return SEQB_AGAIN;
}

enum seqb_status tenant_search(struct tenant *tenant, int64_t *rest_ms,
                               struct seqb_error *err)
{
    const int64_t last = bits_shard_max(&tenant->layout);

    for (int i = 0; i < LOOKS_MAX; i++) {
        const int64_t id = tenant->search.next++;
        enum seqb_status status;

        if (id > last)
            return search_fails(tenant, rest_ms, err);
        status = try_id(tenant, id, err);
        if (status != SEQB_AGAIN && status != SEQB_OK)
            tenant_search_begin(tenant); /* the id may be ours all the same */
        if (status != SEQB_AGAIN)
            return status;
    }
    *rest_ms = 0; /* the other ids are for another turn */
    return SEQB_OK;
}
