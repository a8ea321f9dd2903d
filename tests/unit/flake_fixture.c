/* SPDX-License-Identifier: Apache-2.0 */
/* A pool with snowflakes, and its authority's rows. */
#include "flake_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "queue/queue_state.h"
#include "queue/snowflake/snowflake.h"
#include "support/test.h"

/* --- setting up --- */

static struct lease_options snowflakes;

struct lease_options *flake_options(void)
{
    return &snowflakes;
}

struct rig *flake_rig(void **state, int32_t worker_bits)
{
    struct rig *rig = *state;

    rig_shape(rig, RIG_WINDOWED, 0);
    snowflakes = (struct lease_options){
        .layout = {.epoch_ms = FLAKE_EPOCH,
                   .unit_ms = 1,
                   .time = 41,
                   .shard = worker_bits,
                   .counter = 12},
        .lease_ms = FLAKE_LEASE_MS,
        .broker = "orders",
    };
    rig->queue.snowflakes = &snowflakes;
    rig->queue.snowflake_count = 1;
    for (int i = 0; i < 2; i++) {
        rig->sequences[i].memory_bits = 0;
        rig->sequences[i].snowflake = &snowflakes;
    }
    return rig;
}

void flake_set_lease(struct rig *rig, int32_t lease_ms)
{
    (void)rig;
    snowflakes.lease_ms = lease_ms;
}

/* The first broker ever waits until nobody can hold an id of before. */
struct rig *flake_rig_open(void **state, int32_t worker_bits)
{
    struct rig *rig = flake_rig(state, worker_bits);

    rig_use(rig, 1);
    rig->taken.count = 0;
    return rig;
}

int flake_setup(void **state)
{
    assert_int_equal(rig_setup_windowed(state), 0);
    (void)flake_rig(state, 10);
    return 0;
}

int flake_setup_open(void **state)
{
    assert_int_equal(rig_setup_windowed(state), 0);
    (void)flake_rig_open(state, 10);
    return 0;
}

/* --- the authority's rows --- */

static struct seqb_backend *authority_open(const struct rig *rig)
{
    struct seqb_backend_options options = rig->backends[1].options;
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    options.path = "authority";
    assert_done(backend_fake.open(&options, &backend, &err), err);
    return backend;
}

static void row_name(char *out, size_t size, int64_t id)
{
    (void)text_format(out, size, "worker/main/%lld", (long long)id);
}

void row_get(const struct rig *rig, int64_t id, char *out)
{
    struct seqb_backend *backend = authority_open(rig);
    char name[SEQB_COUNTER_SIZE];

    row_name(name, sizeof name, id);
    assert_ok(
        backend->ops->claim(backend, name, NULL, out, LEASE_TEXT_SIZE, NULL));
    backend->ops->close(backend);
}

void row_put(const struct rig *rig, int64_t id, const char *text)
{
    struct seqb_backend *backend = authority_open(rig);
    char name[SEQB_COUNTER_SIZE];
    char standing[LEASE_TEXT_SIZE];

    row_name(name, sizeof name, id);
    do { /* its holder may renew it in between */
        char before[LEASE_TEXT_SIZE];
        const struct seqb_swap swap = {name, before, text, NULL};

        row_get(rig, id, before);
        assert_ok(backend->ops->swap(backend, &swap, standing, sizeof standing,
                                     NULL));
    } while (strcmp(standing, text) != 0);
    backend->ops->close(backend);
}

/* Somebody else's, who has renewed it just now. */
void row_put_other(const struct rig *rig, int64_t id, int64_t lease_ms)
{
    const struct lease_self other = {
        .key = 4711, .lease_ms = lease_ms, .holder = "bills@far:9"};
    struct lease_row row = lease_taken(NULL, &other, clock_wall_ms());
    char text[LEASE_TEXT_SIZE];

    (void)text_copy(row.origin, sizeof row.origin, "fake");
    lease_write(&row, text, sizeof text);
    row_put(rig, id, text);
}

struct lease_row row_read(const struct rig *rig, int64_t id)
{
    struct lease_row row;
    char text[LEASE_TEXT_SIZE];

    row_get(rig, id, text);
    if (!lease_read(text, &row))
        fail_msg("no row of id %lld: '%s'", (long long)id, text);
    return row;
}

/* --- what brokers give --- */

/* Its lowest bit: there are 0 and 1 here. */
int64_t flake_worker(int64_t number)
{
    return number >> 12 & 1;
}

/* Takes one number, whose worker id it tells. */
int64_t flake_take_worker(struct rig_broker *broker)
{
    rig_take(broker, 1);
    return flake_worker(
        broker->rig->taken.values[broker->rig->taken.count - 1]);
}

void flake_await_worker(struct rig_broker *broker, int64_t worker)
{
    RIG_AWAIT(flake_take_worker(broker) == worker);
}

/* The number that it is told of no number, with these words. */
static bool is_refused(struct rig_broker *broker, const char *words)
{
    struct seqb_error err = {SEQB_OK, ""};
    int64_t number;
    size_t taken;
    const enum seqb_status status =
        queue_try_many(rig_sequence(broker, "order"), 1, &number, &taken, &err);

    if (status == SEQB_OK)
        numbers_add(&broker->rig->taken, &number, 1);
    return status == SEQB_UNAVAILABLE && strstr(err.text, words) != NULL;
}

void flake_await_refusal(struct rig_broker *broker, const char *words)
{
    RIG_AWAIT(is_refused(broker, words));
}

const char *flake_why(struct rig_broker *broker)
{
    static struct seqb_error err;
    size_t taken;

    err.text[0] = '\0';
    while (queue_try_many(rig_sequence(broker, "order"), 1, &(int64_t){0},
                          &taken, &err) == SEQB_AGAIN)
        continue;
    return taken == 1 ? "" : err.text;
}

struct worker_lease *flake_lease_of(const struct rig_broker *broker)
{
    return broker->queue->context.generators[0].lease;
}
