/* SPDX-License-Identifier: Apache-2.0 */
/* Of which pools a store that may forget is asked for its claims, and when. No
 * store is asked. */
#include "ha/claimed.h"

#include "platform/text.h"
#include "unit/slot_fixture.h"

#define WORKER   1
#define NOW_MS   INT64_C(1000000)
#define WINDOW   5    /* of each slot's last grant */
#define AGAIN_MS 1000 /* between two comparisons of all claims */

static struct {
    struct ha_pool other;
    struct ticket_slot ticket; /* in the other pool */
    struct worker_membership memberships[2];
    enum seqb_status status; /* of each claim */
    char log[64];
} scene;

int64_t __wrap_clock_now_ms(void);
enum seqb_status __wrap_claim_layout(struct connection *connection,
                                     const struct layout *layout,
                                     const struct layout_claim *claim,
                                     struct seqb_error *err);
enum seqb_status __wrap_claim_look(struct connection *connection,
                                   struct seqb_error *err);

int64_t __wrap_clock_now_ms(void)
{
    return NOW_MS;
}

enum seqb_status __wrap_claim_layout(struct connection *connection,
                                     const struct layout *layout,
                                     const struct layout_claim *claim,
                                     struct seqb_error *err)
{
    (void)connection;
    (void)claim;
    (void)err;
    (void)text_append(scene.log, sizeof scene.log, "%s;", layout->name);
    return scene.status;
}

enum seqb_status __wrap_claim_look(struct connection *connection,
                                   struct seqb_error *err)
{
    (void)connection;
    (void)err;
    (void)text_append(scene.log, sizeof scene.log, "look;");
    return scene.status;
}

static struct worker *worker_of(struct fixture *f)
{
    struct worker *worker = &f->workers[WORKER];

    scene.other.options = &scene.other.current;
    scene.other.current.layout.name = "other";
    scene.ticket.pool = &scene.other;
    scene.ticket.slot.mark.window = WINDOW;
    scene.memberships[0] = (struct worker_membership){&f->pool, WORKER};
    scene.memberships[1] = (struct worker_membership){&scene.other, 0};
    scene.log[0] = '\0';
    connect_worker(f, WORKER, NULL);
    worker->memberships = scene.memberships;
    worker->membership_count = 2;
    f->counter->slots[WORKER].mark.window = WINDOW;
    worker->batch[0] = &f->counter->slots[WORKER];
    worker->batch[1] = &scene.ticket.slot;
    return worker;
}

static const struct compared {
    enum seqb_status status; /* of a claim */
    int64_t past_ms;         /* since all claims were compared */
    size_t n;                /* length of the batch */
    struct {
        enum seqb_status status;
        int64_t window;
    } replies[2];
    const char *log;
} compared[] = {
    {SEQB_OK, 999, 2, {{SEQB_OK, 5}, {SEQB_OK, 5}}, ""},
    {SEQB_OK, 999, 2, {{SEQB_OK, 6}, {SEQB_OK, 5}}, "main;"},
    {SEQB_OK, 999, 2, {{SEQB_OK, 5}, {SEQB_OK, 4}}, "other;"},
    {SEQB_OK, 999, 1, {{SEQB_OK, 5}, {SEQB_OK, 4}}, ""},
    {SEQB_OK, 999, 2, {{SEQB_FENCED, 5}, {SEQB_OK, 5}}, "main;"},
    {SEQB_OK, 999, 2, {{SEQB_OK, 6}, {SEQB_OK, 4}}, "main;other;"},
    {SEQB_LAYOUT, 999, 2, {{SEQB_OK, 6}, {SEQB_OK, 4}}, "main;"},
    {SEQB_OK, 1000, 2, {{SEQB_OK, 5}, {SEQB_OK, 5}}, "main;other;"},
    {SEQB_LAYOUT, 1000, 2, {{SEQB_OK, 5}, {SEQB_OK, 5}}, "main;"},
};

TEST_WITH(OF_CELLS, claims_are_compared_for_a_window_that_is_new)
{
    for (size_t i = 0; i < COUNT_OF(compared); i++) {
        const struct compared *row = &compared[i];
        struct worker *worker = worker_of(f);
        const bool is_due = row->past_ms >= AGAIN_MS;

        print_message("  row %zu\n", i);
        for (size_t n = 0; n < 2; n++)
            worker->requests[n] =
                (struct seqb_request){.status = row->replies[n].status,
                                      .window = row->replies[n].window};
        worker->compared_ms = NOW_MS - row->past_ms;
        scene.status = row->status;
        assert_int_equal(claimed_compare(worker, row->n, NULL), row->status);
        assert_string_equal(scene.log, row->log);
        assert_int_equal(worker->compared_ms,
                         is_due ? NOW_MS : NOW_MS - row->past_ms);
    }
}

TEST_WITH(OF_CELLS, look_compares_the_claims_of_all_pools)
{
    struct worker *worker = worker_of(f);

    scene.status = SEQB_OK;
    worker->compared_ms = NOW_MS - 1;
    assert_ok(claimed_look(worker, NULL));
    assert_string_equal(scene.log, "main;other;");
    assert_int_equal(worker->compared_ms, NOW_MS);
    scene.status = SEQB_LAYOUT;
    assert_int_equal(claimed_look(worker, NULL), SEQB_LAYOUT);
}

TEST_WITH(SLOTS, store_that_does_not_forget_is_only_looked_at)
{
    struct worker *worker = worker_of(f);

    scene.status = SEQB_UNREACHABLE;
    assert_ok(claimed_compare(worker, 2, NULL));
    assert_string_equal(scene.log, "");
    assert_int_equal(claimed_look(worker, NULL), SEQB_UNREACHABLE);
    assert_string_equal(scene.log, "look;");
}
