/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up keys in a queue, and visiting its sequences, which are scripted
 * and have neither counter nor numbers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "queue/queue_state.h"
#include "support/failure.h"
#include "support/test.h"
#include "support/wrap.h"

#define PART    256 /* sequences of a visit */
#define MANY    300
#define GLANCES 8192 /* at keys of another length: then a hint is given up */
#define PAIRS   64   /* of keys with 32 letters, until then */
#define NOW     4711
#define POOL    3

static struct queue queue;
static struct queue_options options;
static struct queue_sequence_options automatic;
static struct seqb_sequence sequences[MANY];
static char keys[MANY][16];
static bool is_alive;

/* --- scripted neighbours --- */

static struct {
    enum seqb_status may_add, added;
    void (*meanwhile)(void); /* before automatic_may_add answers */
    int adds;
    struct {
        int step;     /* -1: of its ring and counter */
        ptrdiff_t at; /* sequence */
    } fetches[8];
    size_t fetch_count;
} script;

WRAPPED(int64_t, clock_now_ms, void)
{
    return NOW;
}

WRAPPED(enum seqb_status, automatic_may_add, struct queue *of, const char *key,
        struct seqb_error *err)
{
    assert_ptr_equal(of, &queue);
    assert_string_equal(key, "tmp-1");
    if (script.meanwhile != NULL)
        script.meanwhile();
    return script.may_add == SEQB_AGAIN
               ? SEQB_AGAIN
               : error_set(err, script.may_add, "may not");
}

WRAPPED(enum seqb_status, automatic_add, struct queue *of, const char *key,
        struct seqb_sequence **out, struct seqb_error *err)
{
    assert_string_equal(key, "tmp-1");
    assert_int_equal(pthread_rwlock_tryrdlock(&of->catalog_lock), EBUSY);
    script.adds++;
    if (script.added != SEQB_OK)
        return error_set(err, script.added, "not added");
    *out = &sequences[1];
    return SEQB_OK;
}

WRAPPED(struct ha_pool *, ha_pool_at, struct ha *ha, size_t i)
{
    (void)ha;
    assert_int_equal(i, POOL);
    return (struct ha_pool *)&script;
}

WRAPPED(struct ha_pool *, ha_counter_pool, const struct ha_counter *counter)
{
    return (struct ha_pool *)counter;
}

WRAPPED(enum seqb_status, ha_counter_availability, struct ha_counter *counter,
        struct seqb_error *err)
{
    (void)counter;
    return error_set(err, SEQB_LAYOUT, "another layout");
}

static ptrdiff_t index_of(const struct ha_counter *counter)
{
    return (const struct seqb_sequence *)counter - sequences;
}

static void fetch(int step, ptrdiff_t index)
{
    script.fetches[script.fetch_count].step = step;
    script.fetches[script.fetch_count++].at = index;
}

WRAPPED(void, ha_counter_prefetch, const struct ha_counter *counter)
{
    fetch(-1, index_of(counter));
}

/* --- scripted sequences --- */

static void write_status(struct seqb_sequence *sequence, int64_t now_ms,
                         struct seqb_sequence_status *out)
{
    assert_int_equal(now_ms, NOW);
    assert_true(out->stock == 0);
    out->stock = sequence - sequences;
}

static void write_counts(struct seqb_sequence *sequence, int64_t now_ms,
                         struct seqb_sequence_counts *out)
{
    assert_int_equal(now_ms, NOW);
    assert_int_equal(pthread_rwlock_trywrlock(&queue.catalog_lock), EBUSY);
    out->taken = sequence - sequences;
    out->is_removed = true;
}

static void prefetch_counts(const struct seqb_sequence *sequence, int step)
{
    fetch(step, sequence - sequences);
}

static const struct source scripted = {.status = write_status,
                                       .counts = write_counts};
static const struct source fetching = {.counts = write_counts,
                                       .prefetch_counts = prefetch_counts};

static int setup(void **state)
{
    memset(&script, 0, sizeof script);
    memset(&queue, 0, sizeof queue);
    memset(sequences, 0, sizeof sequences);
    automatic = (struct queue_sequence_options){.pool = POOL};
    options = (struct queue_options){.automatic = &automatic,
                                     .auto_pattern = "tmp-*"};
    is_alive = true;
    queue.is_alive = &is_alive;
    queue.options = &options;
    pthread_rwlock_init(&queue.catalog_lock, NULL);
    script.may_add = SEQB_AGAIN;
    *state = &queue;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(pthread_rwlock_trywrlock(&queue.catalog_lock), 0);
    pthread_rwlock_unlock(&queue.catalog_lock);
    catalog_fini(&queue.catalog);
    return 0;
}

#define QUEUE FIXTURE(struct queue *unused, setup, teardown)

static struct seqb_sequence *add(const char *key)
{
    struct seqb_sequence *sequence = &sequences[queue.catalog.count];

    sequence->source = &scripted;
    sequence->key = key;
    sequence->settings = &sequence->own_settings;
    sequence->own_settings.texts = &automatic;
    sequence->counter = (struct ha_counter *)sequence;
    sequence->ring = (struct ring *)sequence;
    assert_true(catalog_add(&queue.catalog, sequence));
    return sequence;
}

static void add_many(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)text_format(keys[i], sizeof keys[i], "key%zu", i);
        (void)add(keys[i]);
    }
}

static enum seqb_status find(const char *key, struct seqb_sequence **out)
{
    struct seqb_sequence *before = *out = &sequences[MANY - 1];
    const enum seqb_status status = queue_find(&queue, key, out, &failure);

    assert_true(status == SEQB_OK || *out == before);
    return status;
}

/* --- hints --- */

static void expect_hint(const char *key, const char *words)
{
    struct seqb_sequence *found;

    assert_fails(find(key, &found), SEQB_UNKNOWN_KEY, words);
    assert_status(queue_find(&queue, key, &found, NULL), SEQB_UNKNOWN_KEY);
}

TEST_WITH(QUEUE, key_of_nearly_the_same_letters_is_told)
{
    static const struct queue_sequence_options listed[] = {{.key = "waybill"},
                                                           {.key = "order"}};

    options.sequences = listed;
    options.sequence_count = 1; /* as if "order" was none */
    expect_hint("order", "'order': list it under sequences, or let");
    options.sequence_count = 2;
    expect_hint("ordex", "unknown sequence 'ordex': did you mean 'order'?");
    expect_hint("orxxr", "'order'?");
    expect_hint("ord", "'order'?");
    expect_hint("orderly", "'order'?");
    expect_hint("oxxxr", "list it");
    expect_hint("or", "list it");
    expect_hint("ordersxx", "list it");
    expect_hint("wxybil", "'waybill'?");
}

/* The n-th of these keys is the one that is meant. */
static void expect_reach(const char *other, const char *key, size_t n,
                         const char *words)
{
    static struct queue_sequence_options listed[GLANCES + 1];

    for (size_t i = 0; i <= n; i++)
        listed[i].key = i < n ? other : key;
    options.sequences = listed;
    options.sequence_count = n + 1;
    expect_hint("zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", words);
}

/* Wrong keys may come in a stream. */
TEST_WITH(QUEUE, hint_costs_little)
{
    const char *mine = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzza";
    const char *alike = "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy";

    expect_reach("short", mine, GLANCES - 1, "did you mean");
    expect_reach("short", mine, GLANCES, "list it");
    expect_reach(alike, mine, PAIRS - 1, "did you mean");
    expect_reach(alike, mine, PAIRS, "list it");
}

/* --- look-up --- */

TEST_WITH(QUEUE, key_has_its_sequence_or_a_reason)
{
    struct seqb_sequence *order = add("order");
    struct seqb_sequence *found;

    assert_ok(find("order", &found));
    assert_ptr_equal(found, order);
    assert_ptr_equal(queue_peek(&queue, "order"), order);
    assert_null(queue_peek(&queue, "orde"));
    assert_fails(find("or der", &found), SEQB_INVALID, "not a sequence key: 1");
    order->own_settings.is_removed = true;
    assert_fails(find("order", &found), SEQB_UNKNOWN_KEY, "was taken out");
    order->is_refused = true;
    assert_fails(find("order", &found), SEQB_LAYOUT, "another layout");
    is_alive = false;
    assert_status(find("order", &found), SEQB_FORKED);
    assert_int_equal(script.adds, 0);
}

static void add_meanwhile(void)
{
    (void)add("tmp-1");
}

static void unlist_meanwhile(void)
{
    options.auto_pattern = "other-*";
}

TEST_WITH(QUEUE, automatic_key_gets_its_sequence)
{
    struct seqb_sequence *found;

    add_many(2);
    assert_ok(find("tmp-1", &found));
    assert_ptr_equal(found, &sequences[1]);
    assert_int_equal(script.adds, 1);
    script.added = SEQB_NO_MEMORY;
    assert_fails(find("tmp-1", &found), SEQB_NO_MEMORY, "not added");
    script.may_add = SEQB_UNAVAILABLE;
    assert_fails(find("tmp-1", &found), SEQB_UNAVAILABLE, "may not");
    assert_int_equal(script.adds, 2);
}

/* Another call, or a reload, was faster. */
TEST_WITH(QUEUE, automatic_key_is_looked_up_again)
{
    struct seqb_sequence *found;

    script.meanwhile = unlist_meanwhile;
    assert_fails(find("tmp-1", &found), SEQB_UNKNOWN_KEY, "list it");
    options.auto_pattern = "tmp-*";
    script.meanwhile = add_meanwhile;
    assert_ok(find("tmp-1", &found));
    assert_ptr_equal(found, &sequences[0]);
    assert_int_equal(script.adds, 0);
}

static struct queue_meaning meant;

static enum seqb_status note(void *context, const struct queue_meaning *meaning,
                             struct seqb_error *err)
{
    assert_int_equal(pthread_rwlock_trywrlock(&queue.catalog_lock), EBUSY);
    ++*(int *)context;
    meant = *meaning;
    return error_set(err, SEQB_FOREIGN, "noted");
}

static enum seqb_status look_up(const char *key, int *uses)
{
    return queue_look_up(&queue, key, note, uses, &failure);
}

TEST_WITH(QUEUE, key_is_looked_up_without_making_its_sequence)
{
    const struct period_rules *rules = (const struct period_rules *)&script;
    const struct queue_sequence_options listed = {.key = "order"};
    struct seqb_sequence *order = add("order");
    int uses = 0;

    order->options = &listed;
    order->own_settings.texts = &listed;
    automatic.template = (const struct template *)&options;
    assert_fails(look_up("order", &uses), SEQB_FOREIGN, "noted");
    assert_ptr_equal(meant.pool, order);
    assert_ptr_equal(meant.key, order->key);
    assert_ptr_equal(meant.options, &listed);
    assert_null(meant.template);
    assert_fails(look_up("tmp-1", &uses), SEQB_FOREIGN, "noted");
    assert_ptr_equal(meant.pool, &script);
    assert_ptr_equal(meant.options, &automatic);
    assert_ptr_equal(meant.template, &options);
    assert_string_equal(meant.key, "tmp-1");
    assert_int_equal(uses, 2);
    assert_fails(look_up("tm-1", &uses), SEQB_UNKNOWN_KEY, "list it");
    assert_fails(look_up("", &uses), SEQB_INVALID, "not a sequence key");
    automatic.period = rules;
    assert_fails(
        look_up("tmp-456789012345678901234567890123456789012345678", &uses),
        SEQB_INVALID, "at most 48");
    assert_int_equal(uses, 2);
    assert_ptr_equal(options_template(&options, "tmp-1"), &options);
    assert_null(options_template(&options, "order"));
}

/* --- visits --- */

static void visit(void *context, struct seqb_sequence *sequence)
{
    assert_int_equal(pthread_rwlock_trywrlock(&queue.catalog_lock), EBUSY);
    assert_ptr_equal(sequence, &sequences[(*(size_t *)context)++]);
}

/* Who adds a sequence need not wait for all of it. */
TEST_WITH(QUEUE, sequences_are_visited_in_parts)
{
    size_t at = 0;
    size_t visits = 0;

    add_many(PART);
    assert_false(queue_visit(&queue, &at, visit, &visits));
    assert_int_equal(visits, PART);
    catalog_fini(&queue.catalog);
    queue.catalog = (struct catalog){.count = 0};
    add_many(MANY);
    at = visits = 0;
    assert_true(queue_visit(&queue, &at, visit, &visits));
    assert_int_equal(visits, PART);
    assert_false(queue_visit(&queue, &at, visit, &visits));
    assert_int_equal(visits, MANY);
    assert_int_equal(at, MANY);
}

TEST_WITH(QUEUE, status_is_of_those_that_are_listed)
{
    struct seqb_sequence_status out[3] = {0};
    size_t count = 99;

    add_many(4);
    sequences[1].own_settings.is_removed = true;
    queue_status(&queue, out, 2, &count);
    assert_int_equal(count, 3);
    assert_int_equal(out[0].stock, 0);
    assert_int_equal(out[1].stock, 2);
    assert_int_equal(out[2].stock, 0);
    memset(out, 0, sizeof out);
    assert_ok(queue_status_at(&queue, 3, out));
    assert_int_equal(out[0].stock, 3);
    assert_status(queue_status_at(&queue, 1, out), SEQB_UNKNOWN_KEY);
    assert_status(queue_status_at(&queue, 4, out), SEQB_INVALID);
}

TEST_WITH(QUEUE, counts_are_of_all_from_one_on)
{
    struct seqb_sequence_counts out[4] = {{.taken = -1}, {.taken = -1}};

    add_many(4);
    sequences[2].own_settings.is_removed = true;
    assert_int_equal(queue_counts(&queue, 1, out, 1), 1);
    assert_int_equal(out[0].taken, 1);
    assert_false(out[0].is_removed);
    assert_int_equal(out[1].taken, -1);
    assert_int_equal(queue_counts(&queue, 2, out, 4), 2);
    assert_int_equal(out[0].taken, 2);
    assert_true(out[0].is_removed);
    assert_int_equal(out[1].taken, 3);
    assert_int_equal(queue_counts(&queue, 4, out, 4), 0);
}

/* The memory of those that follow, so that it need not be waited for. */
TEST_WITH(QUEUE, counts_prefetch_the_next_sequences)
{
    struct seqb_sequence_counts out[2];

    add_many(20);
    (void)queue_counts(&queue, 7, out, 1);
    assert_int_equal(script.fetch_count, 1);
    assert_int_equal(script.fetches[0].step, -1);
    assert_int_equal(script.fetches[0].at, 11);
    for (size_t i = 0; i < 20; i++)
        sequences[i].source = &fetching;
    script.fetch_count = 0;
    (void)queue_counts(&queue, 6, out, 2);
    assert_int_equal(script.fetch_count, 2 * SOURCE_STEPS);
    for (int i = 0; i < 2 * SOURCE_STEPS; i++) {
        const int step = i % SOURCE_STEPS;

        assert_int_equal(script.fetches[i].step, step);
        assert_int_equal(script.fetches[i].at,
                         6 + i / SOURCE_STEPS + 12 - 4 * step);
    }
    script.fetch_count = 0;
    (void)queue_counts(&queue, 8, out, 1); /* the 20th is none */
    assert_int_equal(script.fetch_count, SOURCE_STEPS - 1);
    assert_int_equal(script.fetches[0].at, 16);
}
