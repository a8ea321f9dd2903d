/* SPDX-License-Identifier: Apache-2.0 */
/* Which requests an etcd serves without a read. */
#include "backends/etcd/known.h"

#include "platform/text.h"
#include "support/test.h"

#define COUNTER "main/0/order"
#define CELL    SEQB_CELL COUNTER
#define LIMIT   1000000

static struct seqb_request request_of(const char *counter, int64_t want)
{
    return (struct seqb_request){
        .counter = counter, .want = want, .limit = LIMIT};
}

static bool grants(const struct etcd_known *known, const char *counter,
                   int64_t want)
{
    const struct seqb_request request = request_of(counter, want);

    return etcd_known_grants(known, &request);
}

static void write_value(struct etcd_known *known, const char *counter,
                        int64_t value)
{
    etcd_known_write(known,
                     &(struct sql_write){.name = counter, .value = value});
}

static void read_value(struct etcd_known *known, const char *counter,
                       int64_t value)
{
    const struct sql_counter found = {
        .name = counter, .row = {.state = SQL_ROW_BOUND, .value = value}};

    etcd_known_read(known, &found);
}

/* Was written with that value, and found as it was left. */
static void known_set(struct etcd_known *known, const char *counter,
                      int64_t value)
{
    write_value(known, counter, value);
    read_value(known, counter, value);
}

TEST(counter_is_known_once_it_was_found_as_it_was_left)
{
    struct etcd_known known = {.rows = NULL};

    assert_null(etcd_known_find(&known, COUNTER));
    assert_false(grants(&known, COUNTER, 1));
    read_value(&known, COUNTER, 5);
    assert_false(grants(&known, COUNTER, 1));
    write_value(&known, COUNTER, 6);
    assert_false(grants(&known, COUNTER, 1));
    read_value(&known, COUNTER, 6);
    assert_true(grants(&known, COUNTER, 1));
    write_value(&known, COUNTER, 7);
    assert_true(grants(&known, COUNTER, 1));
    assert_int_equal(etcd_known_find(&known, COUNTER)->value, 7);
    etcd_known_fini(&known);
}

TEST(counter_that_changed_or_whose_write_failed_is_read)
{
    struct etcd_known known = {.rows = NULL};
    const struct sql_counter foreign = {
        .name = COUNTER, .row = {.state = SQL_ROW_FOREIGN, .value = 5}};

    known_set(&known, COUNTER, 5);
    read_value(&known, COUNTER, 6);
    assert_false(grants(&known, COUNTER, 1));
    read_value(&known, COUNTER, 5);
    etcd_known_read(&known, &foreign);
    assert_false(grants(&known, COUNTER, 1));
    read_value(&known, COUNTER, 5);
    assert_true(grants(&known, COUNTER, 1));
    etcd_known_doubt(&known, COUNTER);
    assert_false(grants(&known, COUNTER, 1));
    etcd_known_fini(&known);
}

/* A refusal or a new note would follow from a row that was not read. */
TEST(what_is_used_up_or_needs_a_note_is_read)
{
    static char room[] = "claim";
    struct etcd_known known = {.rows = NULL};
    struct seqb_guard guard = {.name = room};
    struct seqb_request guarded = request_of(COUNTER, 1);

    known_set(&known, COUNTER, SQL_NOTE_VALUES - 2);
    assert_true(grants(&known, COUNTER, 2));
    assert_false(grants(&known, COUNTER, 3));
    guarded.guard = &guard;
    assert_false(etcd_known_grants(&known, &guarded));
    known_set(&known, COUNTER, LIMIT);
    assert_false(grants(&known, COUNTER, 1));
    etcd_known_fini(&known);
}

TEST(cell_is_known_with_its_window)
{
    struct seqb_request other_size = request_of(CELL, 1);
    struct etcd_known known = {.rows = NULL};
    struct sql_write write = {
        .name = CELL, .value = 10, .window = 1, .size = LIMIT};
    struct sql_counter found = {
        .name = CELL,
        .cell = {
            .state = SQL_CELL_BOUND, .window = 1, .size = LIMIT, .used = 10}};

    etcd_known_write(&known, &write);
    etcd_known_read(&known, &found);
    assert_true(grants(&known, CELL, LIMIT));
    other_size.limit--;
    assert_false(etcd_known_grants(&known, &other_size));
    found.cell.window = 2;
    etcd_known_read(&known, &found);
    assert_false(grants(&known, CELL, 1));
    found.cell.window = 1;
    found.cell.state = SQL_CELL_FOREIGN;
    etcd_known_read(&known, &found);
    assert_false(grants(&known, CELL, 1));
    found.cell.state = SQL_CELL_BOUND;
    etcd_known_read(&known, &found);
    write.value = LIMIT;
    etcd_known_write(&known, &write);
    assert_false(grants(&known, CELL, 1));
    etcd_known_write(&known, &(struct sql_write){.name = CELL});
    assert_false(grants(&known, CELL, 1));
    etcd_known_fini(&known);
}

/* How many of that many counters are known; each that is has its own value. One
 * that takes a place was not read. */
static int kept_of(int many)
{
    struct etcd_known known = {.rows = NULL};
    int kept = 0;

    for (int i = 0; i < many; i++) {
        char name[SEQB_COUNTER_SIZE];

        (void)text_format(name, sizeof name, "main/0/key%d", i);
        known_set(&known, name, i + 1);
    }
    for (int i = 0; i < many; i++) {
        char name[SEQB_COUNTER_SIZE];
        const struct etcd_known_row *row;

        (void)text_format(name, sizeof name, "main/0/key%d", i);
        row = etcd_known_find(&known, name);
        kept += row != NULL;
        assert_true(row == NULL || row->value == i + 1);
    }
    for (int i = 0; i < many; i++) {
        char name[SEQB_COUNTER_SIZE];

        (void)text_format(name, sizeof name, "main/0/new%d", i);
        write_value(&known, name, 1);
        assert_false(grants(&known, name, 1));
    }
    etcd_known_fini(&known);
    return kept;
}

/* Names that share a place have others. */
TEST(table_that_is_full_forgets_and_mixes_nothing_up)
{
    const int kept = kept_of(10000);

    assert_true(kept > 500 && kept <= 1024);
    assert_int_equal(kept_of(300), 300);
}

/* A base, a mark and a note are no counters. */
TEST(only_counters_are_kept)
{
    struct etcd_known known = {.rows = NULL};

    write_value(&known, SQL_BASE, 1);
    write_value(&known, SQL_MARK_BASE, 1);
    write_value(&known, SQL_NOTE_PREFIX COUNTER, 1);
    assert_null(etcd_known_find(&known, SQL_MARK_BASE));
    assert_null(etcd_known_find(&known, SQL_NOTE_PREFIX COUNTER));
    etcd_known_fini(&known);
}
