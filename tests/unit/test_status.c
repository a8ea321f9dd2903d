/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of status fields: that each row is sound, that no member of a
 * public struct is forgotten, and what is read of a struct. */
#include "status/status.h"

#include <string.h>

#include "support/test.h"

static const struct status_field *field_of(enum status_of of, const char *name)
{
    const struct status_field *field = status_tables[of].fields;

    while (field->name != NULL && strcmp(field->name, name) != 0)
        field++;
    assert_non_null(field->name);
    return field;
}

static void expect_text(enum status_of of, const char *name, const void *status,
                        const char *expected)
{
    const struct status_field *field = field_of(of, name);

    assert_true(status_is_text(field));
    assert_true(status_is_present(field, status));
    assert_string_equal(status_text(field, status), expected);
}

static void expect_integer(enum status_of of, const char *name,
                           const void *status, int64_t expected)
{
    const struct status_field *field = field_of(of, name);

    assert_false(status_is_text(field));
    assert_true(status_is_present(field, status));
    assert_int_equal(status_integer(field, status), expected);
}

static void expect_none(enum status_of of, const char *name, const void *status)
{
    assert_false(status_is_present(field_of(of, name), status));
}

/* --- the rows --- */

static bool size_is_sound(const struct status_field *field)
{
    switch (field->kind) {
    case STATUS_TEXT:
        return field->size > sizeof(int64_t);
    case STATUS_STRING:
        return field->size == sizeof(const char *);
    case STATUS_NAME:
        return field->size == 0 && field->text_of != NULL;
    case STATUS_BOOLEAN:
        return field->size == sizeof(bool);
    case STATUS_INTEGER:
        return field->size == sizeof(int32_t) || field->size == sizeof(int64_t);
    case STATUS_SPAN:
    case STATUS_BIG:
        return field->size == sizeof(int64_t);
    }
    return false;
}

static void expect_sound(enum status_of of)
{
    const struct status_field *field = status_tables[of].fields;

    for (; field->name != NULL; field++) {
        if (!size_is_sound(field) || field->help == NULL)
            fail_msg("%s.%s", status_tables[of].name, field->name);
        assert_ptr_equal(field_of(of, field->name), field);
    }
}

TEST(rows_fit_their_members)
{
    for (size_t i = 0; i < STATUS_TABLES; i++)
        expect_sound(i);
}

/* Where the rows of a table end in their struct. */
static size_t end_of(enum status_of of)
{
    const struct status_field *field = status_tables[of].fields;
    size_t end = 0;

    for (; field->name != NULL; field++) {
        if (field->offset + field->size > end)
            end = field->offset + field->size;
    }
    return end;
}

TEST(the_last_member_of_each_struct_has_a_row)
{
    assert_int_equal(end_of(STATUS_OF_BROKER), sizeof(struct status_broker));
    assert_int_equal(end_of(STATUS_OF_CLOCK), sizeof(struct seqb_clock_status));
    assert_int_equal(end_of(STATUS_OF_PARTITIONS),
                     sizeof(struct status_partition));
    assert_int_equal(end_of(STATUS_OF_LESSORS), sizeof(struct seqb_lessor));
    assert_int_equal(end_of(STATUS_OF_SEQUENCES),
                     sizeof(struct seqb_sequence_status));
    assert_int_equal(end_of(STATUS_OF_WORKERS), sizeof(struct seqb_worker));
}

/* --- what is read --- */

TEST(a_partition_is_told_with_its_class_and_state)
{
    struct status_partition partition = {
        .reason = "the whole",
        .known = {.pool = "main",
                  .partition = -1,
                  .is_authority = true,
                  .state = SEQB_PARTITION_QUARANTINED,
                  .reason = "the",
                  .granted = INT64_C(1) << 60,
                  .clock_ms = INT64_MIN,
                  .refused = 7,
                  .last_ok_ms = -1}};

    expect_text(STATUS_OF_PARTITIONS, "pool", &partition, "main");
    expect_integer(STATUS_OF_PARTITIONS, "partition", &partition, -1);
    expect_text(STATUS_OF_PARTITIONS, "class", &partition, "direct");
    expect_integer(STATUS_OF_PARTITIONS, "authority", &partition, 1);
    expect_text(STATUS_OF_PARTITIONS, "state", &partition, "quarantined");
    expect_text(STATUS_OF_PARTITIONS, "reason", &partition, "the whole");
    expect_integer(STATUS_OF_PARTITIONS, "granted", &partition,
                   INT64_C(1) << 60);
    expect_integer(STATUS_OF_PARTITIONS, "refused", &partition, 7);
    expect_integer(STATUS_OF_PARTITIONS, "last_ok_ms", &partition, -1);
    partition.known.is_windowed = true;
    expect_text(STATUS_OF_PARTITIONS, "class", &partition, "windowed");
}

TEST(a_clock_that_is_not_known_is_left_out)
{
    struct status_partition partition = {.known = {.clock_ms = INT64_MIN}};
    const struct status_field *fields =
        status_tables[STATUS_OF_PARTITIONS].fields;
    const size_t count = status_count(fields, &partition);

    expect_none(STATUS_OF_PARTITIONS, "clock_ms", &partition);
    partition.known.clock_ms = 0;
    expect_integer(STATUS_OF_PARTITIONS, "clock_ms", &partition, 0);
    assert_int_equal(status_count(fields, &partition), count + 1);
}

TEST(a_sequence_tells_what_applies_to_it)
{
    struct seqb_sequence_status sequence = {.key = "order",
                                            .memory_bits = 3,
                                            .runway_ms = INT64_MAX,
                                            .runs_out_ms = 5,
                                            .period = "none",
                                            .width_numbers = INT64_MAX,
                                            .pool_numbers = INT64_MAX};

    expect_text(STATUS_OF_SEQUENCES, "key", &sequence, "order");
    expect_integer(STATUS_OF_SEQUENCES, "memory_bits", &sequence, 3);
    expect_integer(STATUS_OF_SEQUENCES, "runway_ms", &sequence, -1);
    expect_integer(STATUS_OF_SEQUENCES, "runs_out_ms", &sequence, 5);
    expect_none(STATUS_OF_SEQUENCES, "period", &sequence);
    expect_none(STATUS_OF_SEQUENCES, "stamp", &sequence);
    expect_none(STATUS_OF_SEQUENCES, "dropped", &sequence);
    expect_none(STATUS_OF_SEQUENCES, "width_numbers", &sequence);
    expect_none(STATUS_OF_SEQUENCES, "pool_numbers", &sequence);
}

TEST(a_sequence_with_a_period_and_a_width_tells_both)
{
    struct seqb_sequence_status sequence = {
        .period = "day", .dropped = 4, .width_numbers = 99, .pool_numbers = 9};

    expect_text(STATUS_OF_SEQUENCES, "period", &sequence, "day");
    expect_none(STATUS_OF_SEQUENCES, "stamp", &sequence);
    expect_integer(STATUS_OF_SEQUENCES, "dropped", &sequence, 4);
    expect_integer(STATUS_OF_SEQUENCES, "width_numbers", &sequence, 99);
    expect_integer(STATUS_OF_SEQUENCES, "pool_numbers", &sequence, 9);
    sequence.stamp.digits = 20261123;
    expect_integer(STATUS_OF_SEQUENCES, "stamp", &sequence, 20261123);
}

TEST(a_lessor_tells_whom_it_waits_for)
{
    struct seqb_lessor lessor = {.state = "level"};

    expect_text(STATUS_OF_LESSORS, "state", &lessor, "level");
    expect_none(STATUS_OF_LESSORS, "waits_for", &lessor);
    lessor = (struct seqb_lessor){.state = "waiting", .waits_for = "b"};
    expect_text(STATUS_OF_LESSORS, "state", &lessor, "waiting");
    expect_text(STATUS_OF_LESSORS, "waits_for", &lessor, "b");
}

TEST(a_worker_id_is_ours_held_or_free)
{
    struct seqb_worker worker = {.worker = 7};

    expect_integer(STATUS_OF_WORKERS, "worker", &worker, 7);
    expect_text(STATUS_OF_WORKERS, "state", &worker, "held");
    worker.is_free = true;
    expect_text(STATUS_OF_WORKERS, "state", &worker, "free");
    worker.is_free = false;
    worker.is_ours = true;
    expect_text(STATUS_OF_WORKERS, "state", &worker, "ours");
}
