/* SPDX-License-Identifier: Apache-2.0 */
/* The search for an id: it binds the store's origin first, and then takes the
 * lowest id that nobody holds. */
#include <stdlib.h>
#include <string.h>

#include "lease/worker_lease.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define LOOKS_MAX 64 /* in one turn: other callers wait for the store too */

/* --- the store's origin --- */

/* SEQB_AGAIN: not yet; `*rest_ms` is lowered to the time until then. */
enum seqb_status lease_open_origin(struct worker_lease *lease, int64_t *rest_ms,
                                   struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char text[HA_TEXT_SIZE];
    char next[LEASE_TEXT_SIZE];
    char standing[HA_TEXT_SIZE];
    enum lease_origin_verdict verdict = LEASE_ORIGIN_SWAP;
    enum seqb_status status = SEQB_OK;
    int64_t left_ms;

    lease_claim_name(lease, "workers", name, sizeof name);
    status = lease_poll(lease, name, text, err);
    for (int i = 0; i < LEASE_SWAP_TRIES && status == SEQB_OK; i++) {
        const int64_t unchanged_ms =
            lease_watch(&lease->origin_observation, text, clock_boot_ms());

        verdict = lease_check_origin(text, unchanged_ms, &lease->self, &left_ms,
                                     next);
        if (verdict != LEASE_ORIGIN_SWAP)
            break;
        status = lease_swap(
            lease,
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
                     "backend %s is new, or not what it was: worker ids "
                     "leased before may still be held, for %lld ms more",
                     ha_pool_member_name(lease->pool, lease->lessor),
                     (long long)(verdict == LEASE_ORIGIN_WAIT ? left_ms : 0));
}

/* --- the search --- */

static struct observation *observation_of(struct worker_lease *lease,
                                          int64_t id)
{
    const int64_t count = id < 8 ? 8 : 2 * id;
    struct observation *observations;

    if (id < lease->observation_count)
        return &lease->observations[id];
    observations =
        realloc(lease->observations, (size_t)count * sizeof *observations);
    if (observations == NULL)
        return NULL;
    memset(&observations[lease->observation_count], 0,
           (size_t)(count - lease->observation_count) * sizeof *observations);
    lease->observations = observations;
    lease->observation_count = count;
    return &observations[id];
}

void lease_search_begin(struct worker_lease *lease)
{
    lease->search =
        (struct lease_search){.next = lease->next, .left_ms = INT64_MAX};
}

/* Notes an id that cannot be taken: its holder, and the time until it is
 * free. */
static void search_note(struct worker_lease *lease, int64_t id,
                        const char *text, enum lease_verdict verdict,
                        int64_t left_ms)
{
    struct lease_search *search = &lease->search;
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

static enum seqb_status search_fails(struct worker_lease *lease,
                                     int64_t *rest_ms, struct seqb_error *err)
{
    const struct lease_search *search = &lease->search;
    const int64_t all =
        (lease_ids(lease) - lease->next + lease->lessors - 1) / lease->lessors;
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
    lease_search_begin(lease);
    return SEQB_AGAIN;
}

static void adopt(struct worker_lease *lease, int64_t id,
                  const struct lease_row *row, int64_t above_ms)
{
    lease->id = id;
    lease->row = *row;
    lease->above_ms = above_ms;
    lease->times_ms = 0;
}

/* The time up to which earlier holders may have used an id. A row of another
 * history of the store, or a missing one, does not know all of them. They used
 * no time after now, by the later one of two clocks. */
static int64_t used_before(const struct worker_lease *lease,
                           const struct lease_row *before)
{
    const int64_t now_ms = lease->latest_ms;

    if (strcmp(before->origin, lease->self.origin) == 0 ||
        before->upto_ms > now_ms)
        return before->upto_ms;
    return now_ms;
}

/* SEQB_AGAIN: another broker was faster. The row gets the time up to which
 * earlier holders may have used the id: the next holder sees nothing else. */
static enum seqb_status take(struct worker_lease *lease, int64_t id,
                             const char *expected, struct seqb_error *err)
{
    const int64_t sent_ms = clock_boot_ms();
    char name[SEQB_COUNTER_SIZE];
    char text[LEASE_TEXT_SIZE];
    char standing[HA_TEXT_SIZE];
    struct lease_row before;
    struct lease_row row;
    enum seqb_status status;

    (void)lease_read(expected, &before); /* zeroed if there is no row */
    lease->attempt = (struct lease_attempt){
        .worker = id, .above_ms = used_before(lease, &before)};
    if (!lease->self.is_exact)
        before.upto_ms = lease->attempt.above_ms;
    row = lease_taken(&before, &lease->self, clock_wall_ms());
    lease->attempt.tenure = row.tenure;
    lease_row_name(lease, id, name, sizeof name);
    lease_write(&row, text, sizeof text);
    status = lease_swap(
        lease,
        &(struct seqb_swap){.name = name, .expected = expected, .text = text},
        standing, err);
    if (status != SEQB_OK)
        return status;
    adopt(lease, id, &row, lease->attempt.above_ms);
    return lease_enter(lease, sent_ms, err);
}

/* Adopts a row that our swap wrote, whose answer was lost. If the attempt is
 * not known any more, the holder before us may have used all times that the row
 * allows. A row of another history is no answer to an attempt: it does not know
 * who took the id from us later. */
static enum seqb_status take_ours(struct worker_lease *lease, int64_t id,
                                  const char *text, struct seqb_error *err)
{
    const struct lease_attempt *attempt = &lease->attempt;
    struct lease_row row;
    bool is_known;

    (void)lease_read(text, &row);
    is_known = attempt->worker == id && attempt->tenure == row.tenure &&
               strcmp(row.origin, lease->self.origin) == 0;
    adopt(lease, id, &row,
          is_known ? attempt->above_ms : used_before(lease, &row));
    return lease_renew(lease, err);
}

/* SEQB_AGAIN: the id cannot be taken. */
static enum seqb_status try_id(struct worker_lease *lease, int64_t id,
                               struct seqb_error *err)
{
    struct observation *observation = observation_of(lease, id);
    char name[SEQB_COUNTER_SIZE];
    char text[HA_TEXT_SIZE];
    enum lease_verdict verdict;
    enum seqb_status status;
    int64_t left_ms;

    if (observation == NULL)
        return error_set(err, SEQB_NO_MEMORY, "worker ids: out of memory");
    lease_row_name(lease, id, name, sizeof name);
    status = lease_poll(lease, name, text, err);
    if (status != SEQB_OK)
        return status;
    verdict =
        lease_evaluate(text, lease_watch(observation, text, clock_boot_ms()),
                       &lease->self, clock_wall_ms(), &left_ms);
    if (verdict == LEASE_TAKE)
        return take(lease, id, text, err);
    if (verdict == LEASE_OURS)
        return take_ours(lease, id, text, err);
    search_note(lease, id, text, verdict, left_ms);
    return SEQB_AGAIN;
}

enum seqb_status lease_search(struct worker_lease *lease, int64_t *rest_ms,
                              struct seqb_error *err)
{
    const int64_t ids = lease_ids(lease);

    for (int i = 0; i < LOOKS_MAX; i++) {
        const int64_t id = lease->search.next;
        enum seqb_status status;

        lease->search.next += lease->lessors;
        if (id >= ids)
            return search_fails(lease, rest_ms, err);
        status = try_id(lease, id, err);
        if (status == SEQB_AGAIN)
            continue;
        lease_search_begin(lease); /* the id may be ours although the call
                                      failed */
        return status;
    }
    *rest_ms = 0; /* the next turn reads the other ids */
    return SEQB_OK;
}
