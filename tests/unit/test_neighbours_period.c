/* SPDX-License-Identifier: Apache-2.0 */
/* What a lessor that is made level learns of the others' counters, and of
 * periods that are over, or end meanwhile. */
#include <string.h>

#include "ha/neighbours/call.h"
#include "ha/startup.h"
#include "platform/text.h"
#include "support/rig.h"
#include "support/test.h"

#define LEASES_OF_ALL  "window/"
#define LEASES         "window/main/2/order"
#define LEASES_OF_BILL "window/main/2/bill"
#define DAY            LEASES "@20261101"
#define LEASED         50
#define DAY_END        INT64_C(1793577600000)

/* The fake's, but that once a page of windows was read the day is closed, and
 * its counter deleted. */
static struct seqb_backend_ops closing;

static enum seqb_status closing_open(const struct seqb_backend_options *options,
                                     struct seqb_backend **out,
                                     struct seqb_error *err)
{
    const enum seqb_status status = backend_fake.open(options, out, err);

    if (status == SEQB_OK)
        (*out)->ops = &closing;
    return status;
}

static enum seqb_status closing_list(struct seqb_backend *backend,
                                     struct seqb_page *page,
                                     struct seqb_error *err)
{
    const struct seqb_purge purge = {.counter = LEASES,
                                     .keep = LEASES "@20261102",
                                     .before_ms = DAY_END,
                                     .most = 1};
    const enum seqb_status status = backend_fake.list(backend, page, err);
    int32_t deleted;

    return status == SEQB_OK && strstr(page->prefix, LEASES_OF_ALL) != NULL
               ? backend_fake.purge(backend, &purge, &deleted, err)
               : status;
}

static void use_closing(struct store_options *backend)
{
    closing = backend_fake;
    closing.open = closing_open;
    closing.list = closing_list;
    backend->ops = &closing;
}

static bool is_synced(struct fake_store *lessor, const char *incarnation)
{
    char text[256];

    fake_claim_text(lessor, "synced/main", text, sizeof text);
    return strcmp(text, incarnation) == 0;
}

static bool is_level(void *context)
{
    return is_synced(context, "run-1");
}

static bool is_level_at_first(void *context)
{
    return is_synced(context, "run-0");
}

/* Either its leases are found, or that there will be no more of them. */
TEST_WITH(NEIGHBOURS, period_that_ends_while_it_is_read_is_leased_no_more)
{
    struct fake_store *lessor = rig->stores[0];
    struct fake_store *other = rig->stores[1];

    rig_close(rig_open(rig));
    fake_put(other, DAY, LEASED);
    fake_restart(lessor);
    use_closing(&rig->backends[1]);
    (void)rig_open(rig);
    rig_await(is_level, lessor);
    assert_int_equal(fake_value(other, DAY), -1);
    if (fake_value(lessor, "@" LEASES) < DAY_END)
        assert_true(fake_value(lessor, DAY) >= LEASED);
}

/* What is not raised, or not closed, it might lease once more. */
TEST_WITH(NEIGHBOURS, lessor_that_refuses_what_others_know_is_not_level)
{
    static const struct {
        enum fake_call call;
        const char *counter;
        enum seqb_status refused; /* that one alone: the store may be asked
                                     again; SEQB_OK: all */
    } cases[] = {{FAKE_PURGE, "@" LEASES, SEQB_OK},
                 {FAKE_RAISE, LEASES, SEQB_OK},
                 {FAKE_RAISE, LEASES_OF_BILL, SEQB_REFUSED},
                 {FAKE_RAISE, "window/main/2/more", SEQB_EXHAUSTED},
                 {FAKE_RAISE, LEASES "@20261103", SEQB_REFUSED}};
    struct fake_store *lessor = rig->stores[0];
    struct rig_broker *broker;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_forget(lessor, "synced/");
        fake_put(rig->stores[1], cases[i].counter, DAY_END);
        if (cases[i].refused != SEQB_OK)
            fake_refuse(lessor, cases[i].call, cases[i].counter,
                        cases[i].refused);
        else
            fake_fail(lessor, cases[i].call, INT32_MAX, SEQB_UNREACHABLE);
        broker = rig_open(rig);
        assert_true(fake_calls(lessor, cases[i].call) > 0);
        assert_false(is_synced(lessor, "run-0"));
        fake_fail(lessor, cases[i].call, 0, SEQB_OK);
        fake_refuse(lessor, cases[i].call, cases[i].counter, SEQB_OK);
        rig_await(is_level_at_first, lessor);
        assert_int_equal(fake_value(lessor, cases[i].counter), DAY_END);
        rig_close(broker);
    }
}

/* It closed and deleted the stamp, which another store was not asked to do. */
TEST_WITH(NEIGHBOURS, stamp_that_the_lessor_deleted_is_not_raised)
{
    struct fake_store *lessor = rig->stores[0];

    rig_close(rig_open(rig));
    fake_put(rig->stores[1], DAY, LEASED);
    fake_put(rig->stores[1], LEASES "@20261102", LEASED);
    fake_refuse(lessor, FAKE_RAISE, DAY, SEQB_EXHAUSTED);
    fake_restart(lessor);
    (void)rig_open(rig);
    rig_await(is_level, lessor);
    assert_int_equal(fake_value(lessor, DAY), -1);
    assert_int_equal(fake_value(lessor, LEASES "@20261102"), LEASED);
}

/* --- what is asked of a store --- */

static struct seqb_purge asked_purge; /* its texts are below */
static char asked_counter[64];
static char asked_keep[64];
static struct seqb_backend_ops recording;

static enum seqb_status
recording_open(const struct seqb_backend_options *options,
               struct seqb_backend **out, struct seqb_error *err)
{
    const enum seqb_status status = backend_fake.open(options, out, err);

    if (status == SEQB_OK)
        (*out)->ops = &recording;
    return status;
}

static enum seqb_status recording_purge(struct seqb_backend *backend,
                                        const struct seqb_purge *purge,
                                        int32_t *deleted,
                                        struct seqb_error *err)
{
    asked_purge = *purge;
    (void)text_copy(asked_counter, sizeof asked_counter, purge->counter);
    (void)text_copy(asked_keep, sizeof asked_keep, purge->keep);
    return backend_fake.purge(backend, purge, deleted, err);
}

/* It closes stamps, and deletes none: the lessor's own may be read just now. */
TEST_WITH(NEIGHBOURS, what_others_closed_is_closed_and_nothing_deleted)
{
    struct call *call;
    struct seqb_error err;

    recording = backend_fake;
    recording.open = recording_open;
    recording.purge = recording_purge;
    rig->backends[0].ops = &recording;
    call = call_new(ha_pool_at(rig_open(rig)->ha, 0), 0);
    assert_non_null(call);
    call->run = call_raise;
    call->count = 2;
    call->listed[0] = (struct seqb_listed){"@" LEASES, DAY_END};
    call->listed[1] = (struct seqb_listed){LEASES, LEASED};
    assert_true(call_ask(call, &err));
    assert_int_equal(call->ask.steps, 2);
    ask_release(&call->ask);
    assert_string_equal(asked_counter, LEASES);
    assert_string_equal(asked_keep, LEASES "@0");
    assert_int_equal(asked_purge.before_ms, DAY_END);
    assert_int_equal(asked_purge.most, 0);
    assert_int_equal(fake_value(rig->stores[0], LEASES), LEASED);
}
