/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that are refused because the template's width is used up: when that is
 * so, and what the log and the health say of it. */
#include <string.h>

#include "ha/policy/forecast.h"
#include "health_fixture.h"
#include "period_fixture.h"
#include "queue/periodic/periodic.h"
#include "queue/width.h"
#include "support/events.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define FOREVER INT64_MAX
#define ADVICE                                                                 \
    ": reload a wider template, see \"Changing a template\" in "               \
    "docs/numbers.md"

/* --- the decision --- */

TEST(width_is_used_up_by_a_number_beyond_it)
{
    static const struct {
        int64_t number, ends_ms, text_max, time_ms;
        bool is_used_up;
    } rows[] = {
        {10, FOREVER, 9, INT64_MIN, true},
        {2, FOREVER, 1, INT64_MIN, true},
        {10, FOREVER, 10, INT64_MIN, false}, /* a wider template came */
        {10, FOREVER, 0, INT64_MIN, false},  /* or one that refuses none */
        {10, 5000, 9, 4999, true},
        {10, 5000, 9, 5000, false}, /* the next stamp has begun */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct refused_text refused = {rows[i].number,
                                             {.ends_ms = rows[i].ends_ms}};

        if (width_is_used_up(&refused, rows[i].text_max, rows[i].time_ms) !=
            rows[i].is_used_up)
            fail_msg("row %zu", i);
    }
}

TEST(reason_has_the_number_the_end_and_what_to_do)
{
    struct refused_text refused = {10, {.ends_ms = FOREVER}};
    char words[SEQB_ERROR_TEXT_SIZE];

    width_explain(&refused, 9, words, sizeof words);
    assert_string_equal(words, "number 10 does not fit its template, which "
                               "ends at 9, and texts of such numbers are "
                               "refused" ADVICE);
    refused.stamp = (struct seqb_stamp){20261121, NOON, NOON + DAY};
    width_explain(&refused, 9, words, sizeof words);
    assert_string_equal(
        words, "stamp 20261121 is used up: number 10 does not fit its "
               "template, which ends at 9, and texts of such numbers are "
               "refused until the next stamp" ADVICE);
}

/* --- a sequence --- */

static void refuse(struct rig_broker *broker, int64_t number,
                   const struct seqb_stamp *stamp)
{
    queue_refused_text(rig_sequence(broker, "order"), number, stamp);
}

static void expect_begun(const struct rig_broker *broker, size_t times)
{
    events_expect("error event=exhausted",
                  "partition=-1 backend=\"\" key=order", times);
    events_expect("error event=exhausted", "does not fit its template", times);
    expect_health_is(queue_health(broker->queue, NULL, 0),
                     SEQB_HEALTH_DEGRADED);
}

static void expect_ended(const struct rig_broker *broker, const char *reason,
                         size_t times)
{
    events_expect("event=counter_recovered pool=main partition=-1", reason,
                  times);
    expect_queue_health(broker, SEQB_HEALTH_SERVING, "");
}

TEST_WITH(DIRECT, slow_caller_of_an_earlier_stamp_changes_nothing)
{
    static const struct seqb_stamp earlier = {20261120, NOON - DAY, NOON};
    static const struct seqb_stamp present = {20261121, NOON, NOON + DAY};
    struct rig_broker *broker;

    rig->sequences[0].text_max = 9;
    events_start();
    broker = rig_open(rig);
    refuse(broker, 9, &present); /* it fits: refused for another reason */
    assert_null(atomic_load(&rig_sequence(broker, "order")->width));
    refuse(broker, 10, &present);
    expect_begun(broker, 1);
    refuse(broker, 99, &earlier);
    expect_queue_health(broker, SEQB_HEALTH_DEGRADED,
                        "sequence order: stamp 20261121 is used up: number 10 "
                        "does not fit its template, which ends at 9, and texts "
                        "of such numbers are refused until the next "
                        "stamp" ADVICE);
    events_stop();
}

TEST_WITH(DIRECT, used_up_width_is_reported_once_until_a_wider_template_comes)
{
    static const struct seqb_stamp none = {.ends_ms = FOREVER};
    static struct queue_sequence_options wider; /* as long as the queue */
    struct rig_broker *broker;
    struct seqb_sequence *order;

    rig->sequences[0].text_max = 9;
    events_start();
    broker = rig_open(rig);
    order = rig_sequence(broker, "order");
    refuse(broker, 10, &none);
    expect_begun(broker, 1);
    refuse(broker, 12, &none);
    refuse(broker, 11, &none);
    width_poll(order);
    expect_begun(broker, 1);
    expect_queue_health(broker, SEQB_HEALTH_DEGRADED,
                        "sequence order: number 12 does not fit its template, "
                        "which ends at 9, and texts of such numbers are "
                        "refused" ADVICE);
    wider = rig->sequences[0];
    wider.text_max = 12; /* just */
    sequence_set_texts(order, &wider);
    sequence_wake(order);
    expect_ended(broker, "wide enough again", 1);
    refuse(broker, 100, &none);
    expect_begun(broker, 2);
    sequence_remove(order, false);
    sequence_wake(order);
    expect_ended(broker, "no longer lists", 1);
}

TEST_WITH(PERIOD, used_up_width_ends_with_its_stamp)
{
    struct rig_broker *broker;
    struct seqb_stamp stamp;

    fixture->rig->sequences[0].text_max = 9;
    events_start();
    broker = rig_open(fixture->rig);
    assert_ok(period_take(broker, &(int64_t){0}, &stamp, NULL));
    refuse(broker, 10, &stamp);
    script_clock_step(SECOND - 1);
    width_poll(rig_sequence(broker, "order"));
    expect_begun(broker, 1);
    script_clock_step(1); /* nobody asks for numbers of the next one */
    expect_ended(broker, "stamp is over", 1);
    refuse(broker, 10, &stamp); /* by a call that took long */
    stamp.begins_ms += SECOND;
    stamp.ends_ms += SECOND;
    refuse(broker, 11, &stamp);
    expect_begun(broker, 2);
}

/* It is whole, if it has room at all, behind what is left of that of the
 * stores. */
TEST_WITH(DIRECT, reason_has_room_behind_that_of_the_stores)
{
    static const struct seqb_stamp none = {.ends_ms = FOREVER};
    struct rig_broker *broker;
    char own[SEQB_ERROR_TEXT_SIZE];
    char reason[SEQB_ERROR_TEXT_SIZE];
    size_t length;

    rig->sequences[0].text_max = 9;
    broker = rig_open(rig);
    refuse(broker, 10, &none);
    RIG_AWAIT(queue_health(broker->queue, own, sizeof own) !=
              SEQB_HEALTH_SERVING);
    length = strlen(own);
    rig_set_down(rig, true);
    rig_set_deadline(broker, "order", 20);
    RIG_AWAIT(rig_take_refused(broker, "order").status == SEQB_UNAVAILABLE);
    for (size_t more = 0; more < 8; more++) {
        expect_health_is(queue_health(broker->queue, reason, length + 2 + more),
                         SEQB_HEALTH_NOT_SERVING);
        assert_memory_equal(reason, "pool main", more == 0 ? 9 : more - 1);
        if (more > 0)
            assert_string_equal(reason + (more > 1 ? more + 1 : 0), own);
    }
    (void)queue_health(broker->queue, reason, 1);
    assert_string_equal(reason, "");
    (void)queue_health(broker->queue, NULL, 1);
}

TEST_WITH(DIRECT, reasons_that_there_is_no_room_for_are_counted)
{
    static const struct seqb_stamp none = {.ends_ms = FOREVER};
    struct rig_broker *broker;
    char reason[2048];

    rig_automatic(rig, "tmp-?", 9);
    rig->automatic.text_max = 9;
    broker = rig_open(rig);
    for (char key[] = "tmp-1"; key[4] <= '9'; key[4]++)
        queue_refused_text(rig_sequence(broker, key), 10, &none);
    RIG_AWAIT((queue_health(broker->queue, reason, sizeof reason),
               strstr(reason, " more") != NULL));
}

TEST_WITH(DIRECT, status_has_how_many_numbers_a_template_has_room_for)
{
    static const char template; /* only its address is used */
    static const struct seqb_stamp none = {.ends_ms = FOREVER};
    struct rig_broker *broker;
    struct seqb_sequence_status status;

    rig->queue.sequence_count = 2;
    rig->sequences[0].template = (const void *)&template;
    for (size_t i = 0; i < 2; i++) {
        rig->sequences[i].width_numbers = 900;
        rig->sequences[i].pool_numbers = 90;
    }
    broker = rig_open(rig);
    refuse(broker, 10, &none); /* for another reason */
    assert_null(atomic_load(&rig_sequence(broker, "order")->width));
    status = rig_status(broker, "order");
    assert_int_equal(status.width_numbers, 900);
    assert_int_equal(status.pool_numbers, 90);
    status = rig_status(broker, "bill"); /* has none */
    assert_int_equal(status.width_numbers, INT64_MAX);
    assert_int_equal(status.pool_numbers, INT64_MAX);
}

/* --- the forecast --- */

static void expect_runs_out(const struct rig_broker *broker, int64_t expected)
{
    struct seqb_sequence_counts counts;

    assert_int_equal(rig_status(broker, "order").runs_out_ms, expected);
    assert_int_equal(queue_counts(broker->queue, 0, &counts, 1), 1);
    assert_int_equal(counts.runs_out_ms, expected);
}

TEST_WITH(DIRECT, counts_have_the_end_of_a_used_up_width_at_once)
{
    static const struct seqb_stamp none = {.ends_ms = FOREVER};
    struct rig_broker *broker;
    struct seqb_sequence_counts counts;

    rig->sequences[0].text_max = 99;
    broker = rig_open(rig);
    rig_take(broker, 200);
    refuse(broker, 200, &none);
    RIG_AWAIT(
        (queue_counts(broker->queue, 0, &counts, 1), counts.runs_out_ms == 0));
}

static void take_up_to(struct rig_broker *broker, int64_t number)
{
    int64_t digits;

    while (period_number(broker, &digits) < number)
        continue;
    rig_await_rest(broker);
}

TEST_WITH(PERIOD, used_up_stamp_runs_out_at_once_and_the_next_one_does_not)
{
    struct rig_broker *broker;

    fixture->rules.unit = PERIOD_HOUR;
    fixture->rig->sequences[0].text_max = 99;
    fixture->rig->sequences[0].max_unused = 8; /* not all of the next one */
    broker = rig_open(fixture->rig);
    take_up_to(broker, 200);
    expect_runs_out(broker, 0);
    script_clock_step(HOUR); /* nobody asks yet */
    assert_int_equal(rig_status(broker, "order").runs_out_ms, FOREVER);
    take_up_to(broker, 1);
    expect_runs_out(broker, FOREVER);
}

static int64_t end_after_minutes(struct rig_broker *broker, int64_t minutes)
{
    const struct period_slot *now =
        atomic_load(&periodic_of(rig_sequence(broker, "order"))->now);

    return ha_counter_runs_out_ms(
        now->sequence->counter, clock_now_ms() + minutes * FORECAST_SAMPLE_MS);
}

/* About a hundred numbers a minute, and a thousand are left. */
TEST_WITH(PERIOD, stamp_that_ends_before_its_width_does_not_run_out)
{
    struct rig_broker *broker;

    fixture->rules.unit = PERIOD_HOUR;
    fixture->rig->sequences[0].text_max = 2000;
    broker = rig_open(fixture->rig);
    take_up_to(broker, 1);
    (void)end_after_minutes(broker, 1);
    take_up_to(broker, 1000);
    assert_in_range(end_after_minutes(broker, 10), 1, HOUR - 1);
    script_clock_step(HOUR - 1);
    assert_int_equal(end_after_minutes(broker, 10), FOREVER);
}
