/* SPDX-License-Identifier: Apache-2.0 */
/* The same copy of a store put back twice, under brokers that know nothing of
 * each other; and what a broker keeps of its raises over a restart. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ha/raised.h"
#include "platform/checksum.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/events.h"
#include "support/fake_store.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define ORDER "main/0/order"
#define BILL  "main/1/bill"

struct text {
    char *bytes;
    size_t size;
};

static int setup(void **state)
{
    const int failed = rig_setup_direct(state);

    (void)rig_file(*state, "raised");
    return failed;
}

#define RAISED FIXTURE(struct rig *rig, setup, rig_teardown)

static struct raised *open_file(const struct rig *rig)
{
    struct raised *raised;
    struct seqb_error err;

    assert_done(raised_open(rig->path, &raised, &err), err);
    return raised;
}

/* --- the file --- */

TEST_WITH(RAISED, next_start_knows_what_was_noted)
{
    struct raised *raised = open_file(rig);

    assert_int_equal(raised_find(raised, "b0", ORDER), 0);
    raised_note(raised, "b0", ORDER, 1000);
    raised_note(raised, "b0", ORDER, 3000);
    raised_note(raised, "b0", ORDER, 2000);
    raised_note(raised, "b1", BILL, 7);
    assert_int_equal(raised_find(raised, "b0", ORDER), 3000);
    raised_close(raised);
    for (int i = 0; i < 3; i++) {
        raised = open_file(rig);
        assert_int_equal(raised_find(raised, "b0", ORDER), 3000);
        assert_int_equal(raised_find(raised, "b1", BILL), 7);
        assert_int_equal(raised_find(raised, "b1", ORDER), 3000);
        raised_note(raised, "b1", BILL, 7);
        raised_close(raised);
    }
}

TEST_WITH(RAISED, line_that_is_damaged_is_passed_over)
{
    static const char *const spoilt[] = {
        "9000 b0 " ORDER " 0123456789abcdef\n",
        "no line\n",
        "\n",
        "no_value_and_no_name\n",
        "9",                    /* torn, as the next one */
        "9000 b0 " ORDER " 01", /* torn: the next line is whole all the same */
    };

    for (size_t i = 0; i < sizeof spoilt / sizeof spoilt[0]; i++) {
        struct raised *raised = open_file(rig);

        raised_note(raised, "b0", ORDER, 1000);
        raised_close(raised);
        assert_ok(file_append(rig->path, spoilt[i], strlen(spoilt[i]), NULL));
        raised = open_file(rig);
        assert_int_equal(raised_find(raised, "b0", ORDER), 1000);
        raised_note(raised, "b1", BILL, 7 + (int64_t)i);
        raised_close(raised);
        raised = open_file(rig);
        assert_int_equal(raised_find(raised, "b1", BILL), 7 + (int64_t)i);
        raised_close(raised);
    }
}

TEST_WITH(RAISED, file_holds_a_line_a_counter_after_a_start)
{
    struct raised *raised = open_file(rig);
    size_t size;
    char *bytes;

    for (int64_t value = 1; value <= 100; value++)
        raised_note(raised, "b0", ORDER, value);
    raised_close(raised);
    raised_close(open_file(rig));
    assert_ok(file_load(rig->path, 10000, &bytes, &size, NULL));
    assert_int_equal(strncmp(bytes, "100 b0 " ORDER " ", 20), 0);
    assert_int_equal(size, strlen("100 b0 " ORDER " ") + 17);
    free(bytes);
}

/* Nothing but the begin of a line. */
TEST_WITH(RAISED, first_line_that_is_torn_spoils_no_other)
{
    struct raised *raised;

    assert_ok(file_append(rig->path, "9", 1, NULL));
    raised_close(open_file(rig));
    raised = open_file(rig);
    raised_note(raised, "b0", ORDER, 1000);
    raised_close(raised);
    raised = open_file(rig);
    assert_int_equal(raised_find(raised, "b0", ORDER), 1000);
    raised_close(raised);
}

static size_t file_size(const struct rig *rig)
{
    size_t size;
    char *bytes;

    assert_ok(file_load(rig->path, 10000, &bytes, &size, NULL));
    free(bytes);
    return size;
}

/* It is written again only if more lines than not are of no use. */
TEST_WITH(RAISED, file_of_two_lines_a_counter_stays_as_it_is)
{
    struct raised *raised = open_file(rig);
    size_t before;

    raised_note(raised, "b0", ORDER, 1);
    raised_note(raised, "b0", ORDER, 2);
    raised_close(raised);
    before = file_size(rig);
    raised = open_file(rig);
    assert_int_equal(file_size(rig), before);
    raised_note(raised, "b0", ORDER, 3);
    raised_close(raised);
    raised_close(open_file(rig));
    assert_int_equal(file_size(rig), before / 2);
}

TEST_WITH(RAISED, file_that_cannot_be_used_stops_nobody)
{
    struct raised *raised;

    events_start();
    raised = open_file(rig);
    raised_note(raised, "b0", ORDER, 1);
    raised_close(raised);
    events_expect("event=", "", 0);
    (void)text_append(rig->path, sizeof rig->path, "/of/no/folder");
    raised = open_file(rig);
    events_expect("event=raises_unread", "", 1);
    raised_note(raised, "b0", ORDER, 1000);
    events_expect("event=raise_not_noted", "backend=b0 counter=" ORDER, 1);
    assert_int_equal(raised_find(raised, "b0", ORDER), 1000);
    raised_close(raised);
    events_stop();
}

/* A start logs what it cannot do: to take a long path, to read, to write the
 * file again. */
TEST_WITH(RAISED, start_that_fails_is_logged)
{
    char path[PATH_MAX + 2];
    struct raised *raised;

    events_start();
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_ok(raised_open(path, &raised, NULL));
    raised_close(raised);
    events_expect("event=raises_unread", "the path is too long", 1);
    (void)text_format(path, sizeof path, "%s.new", rig->path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_ok(file_append(rig->path, "torn", 4, NULL));
    raised_close(open_file(rig));
    events_expect("event=raises_unread", "", 2);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(unlink(rig->path), 0);
    assert_int_equal(mkdir(rig->path, 0700), 0);
    raised_close(open_file(rig));
    events_expect("event=raises_unread", "", 3);
    events_stop();
}

/* A line as the file has it. */
static void line_append(struct text *text, int64_t value, const char *name)
{
    char line[128];

    (void)text_format(line, sizeof line, "%lld %s", (long long)value, name);
    (void)text_append(line, sizeof line, " %016llx\n",
                      (unsigned long long)checksum_of(line, strlen(line)));
    memcpy(text->bytes + text->size, line, strlen(line));
    text->size += strlen(line);
}

static void lines_save(const struct rig *rig, const struct text *text)
{
    assert_ok(file_save(rig->path, text->bytes, text->size, NULL));
}

#define MANY      40000 /* counters: some in each bucket */
#define LINES_MAX (1 << 18)

/* Of a file that is written again, too. */
TEST_WITH(RAISED, counters_are_all_kept)
{
    struct text text = {malloc((size_t)MANY * 64), 0};
    char name[32];

    assert_non_null(text.bytes);
    for (int i = 0; i < MANY; i++) {
        (void)text_format(name, sizeof name, "b0 key-%d", i);
        line_append(&text, i + 1, name);
    }
    text.bytes[text.size++] = '9'; /* torn, so that it is */
    lines_save(rig, &text);
    free(text.bytes);
    for (int again = 0; again < 2; again++) {
        struct raised *raised = open_file(rig);

        for (int i = 0; i < MANY; i++) {
            (void)text_format(name, sizeof name, "key-%d", i);
            assert_int_equal(raised_find(raised, "b0", name), i + 1);
        }
        raised_close(raised);
    }
}

/* Of very many lines the first are forgotten, and only these. */
TEST_WITH(RAISED, very_long_file_is_read_from_its_end)
{
    static const struct {
        int before; /* lines before the one that is looked at */
        int after;
        bool is_kept;
    } cases[] = {{0, LINES_MAX - 1, true},
                 {0, LINES_MAX, false},
                 {1, LINES_MAX, false},
                 {2, LINES_MAX - 1, true}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text text = {malloc((size_t)2 * LINES_MAX), 0};
        struct raised *raised;

        assert_non_null(text.bytes);
        memset(text.bytes, '\n', (size_t)2 * LINES_MAX);
        text.size = (size_t)cases[i].before;
        line_append(&text, 7, "b0 " ORDER);
        memset(text.bytes + text.size, '\n', (size_t)cases[i].after);
        text.size += (size_t)cases[i].after;
        lines_save(rig, &text);
        free(text.bytes);
        raised = open_file(rig);
        assert_int_equal(raised_find(raised, "b0", ORDER),
                         cases[i].is_kept ? 7 : 0);
        raised_close(raised);
    }
}

TEST_WITH(RAISED, only_numbers_are_noted)
{
    struct raised *raised = open_file(rig);

    raised_note(raised, "b0", ORDER, 0);
    raised_note(raised, "b0", BILL, 1);
    raised_close(raised);
    raised = open_file(rig);
    assert_int_equal(raised_find(raised, "b0", ORDER), 0);
    assert_int_equal(raised_find(raised, "b0", BILL), 1);
    raised_close(raised);
}

TEST(without_a_path_nothing_is_kept)
{
    struct raised *raised;

    assert_ok(raised_open(NULL, &raised, NULL));
    assert_null(raised);
    raised_note(raised, "b0", ORDER, 1000);
    assert_int_equal(raised_find(raised, "b0", ORDER), 0);
    raised_close(raised);
}

/* --- the same copy twice --- */

/* Numbers of a key by a broker that ends then. */
static void use(struct rig *rig, const char *key, size_t count)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *sequence = rig_sequence(broker, key);

    for (size_t i = 0; i < count; i++) {
        struct seqb_error err;
        int64_t number;

        if (queue_next(sequence, &number, &err) != SEQB_OK)
            fail_msg("%s", err.text);
        numbers_add(&rig->taken, &number, 1);
    }
    rig_close(broker);
}

/* One partition's store, put back to the same state again and again. `names`:
 * of its backend after that; NULL: it keeps its name. */
static void put_back_as(struct rig *rig, const char *later,
                        const char *const *names)
{
    rig_shape(rig, RIG_DIRECT, 0);
    rig_automatic(rig, "*", 10);
    use(rig, "order", 100);
    rig->taken.count = 0; /* "bill" has the same numbers */
    fake_save(rig->stores[0]);
    for (int i = 0; i < 3; i++) {
        use(rig, later, 200);
        fake_restore(rig->stores[0]);
        if (names != NULL)
            rig->backends[0].options.name = names[i];
    }
    use(rig, later, 200);
    assert_int_equal(numbers_count(&rig->taken), 800);
}

static void put_back_again_and_again(struct rig *rig, const char *later)
{
    put_back_as(rig, later, NULL);
}

TEST_WITH(RAISED, copy_that_is_put_back_twice_is_raised_to_other_values)
{
    put_back_again_and_again(rig, "order");
}

TEST_WITH(RAISED, counter_that_the_copy_lacks_is_raised_to_other_values)
{
    put_back_again_and_again(rig, "bill");
}

/* There is no room for chance. */
TEST_WITH(RAISED, broker_that_starts_again_raises_above_its_own_raises)
{
    rig->ha.raised_path = rig->path;
    rig->sequences[0].value_bits = 20;
    put_back_again_and_again(rig, "order");
}

TEST_WITH(RAISED, broker_raises_above_its_own_raises_of_a_renamed_backend)
{
    static const char *const names[] = {"new-1", "new-2", "new-3"};

    rig->ha.raised_path = rig->path;
    rig->sequences[0].value_bits = 20;
    put_back_as(rig, "order", names);
}

/* In the status, and from 0 in /metrics. */
TEST_WITH(RAISED, raise_is_counted_for_its_partition)
{
    struct rig_broker *broker;

    rig_shape(rig, RIG_DIRECT, 1);
    broker = rig_open(rig);
    rig_take_from(broker, 0, 100);
    rig_take_from(broker, 1, 100);
    assert_int_equal(rig_partition(broker, 0).raises, 0);
    rig_close(broker);
    fake_save(rig->stores[0]);
    fake_restore(rig->stores[0]);
    broker = rig_open(rig);
    rig_take_from(broker, 0, 100);
    rig_take_from(broker, 1, 100);
    assert_int_equal(rig_partition(broker, 0).raises, 1);
    assert_int_equal(rig_partition(broker, 1).raises, 0);
    rig_close(broker);
}

/* Neither is given again if a copy is put back that is older still. */
TEST_WITH(RAISED, raise_of_a_poisoned_counter_is_noted)
{
    struct rig_broker *broker;
    struct raised *raised;

    rig->ha.raised_path = rig->path;
    broker = rig_open(rig);
    rig_take_from(broker, 0, 2000);
    fake_go_back(rig->stores[0], 100);
    rig_take_until(broker, 0, SEQB_PARTITION_POISONED);
    rig_close(broker);
    raised = open_file(rig);
    assert_int_equal(raised_find(raised, "b0", ORDER),
                     fake_value(rig->stores[0], ORDER));
    raised_close(raised);
}

/* Of 25,000 values in all. The gap is 1,000. */
TEST_WITH(RAISED, narrow_texts_keep_most_of_their_room)
{
    rig_shape(rig, RIG_DIRECT, 0);
    rig->sequences[0].width_numbers = 100000;
    use(rig, "order", 100);
    rig->taken.count = 0; /* "bill" has the same numbers */
    fake_save(rig->stores[0]);
    for (int i = 0; i < 3; i++) {
        fake_restore(rig->stores[0]);
        rig->taken.count = 0; /* no file keeps what it was raised to before */
        use(rig, "order", 1);
        assert_in_range(fake_value(rig->stores[0], ORDER), 1000, 3000);
    }
}

/* Counters that nobody raises begin above all that this broker was granted. */
TEST_WITH(RAISED, base_of_an_emptied_store_is_above_what_was_granted)
{
    struct rig_broker *broker;
    int64_t granted;

    rig_shape(rig, RIG_DIRECT, 0);
    broker = rig_open(rig);
    rig_take(broker, 20000);
    rig_await_rest(broker);
    granted = fake_value(rig->stores[0], ORDER);
    fake_flush(rig->stores[0]);
    while (fake_value(rig->stores[0], ORDER) < granted)
        rig_take(broker, 16);
    assert_true(fake_value(rig->stores[0], FAKE_BASE) >=
                granted + rig->pool.layout.failover_gap);
}
