/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology read again by a broker that serves: what is applied, what is left
 * for a restart, what is refused, and that no number comes twice meanwhile.
 */
#include <seqbroker/reload.h>

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "api/broker.h"
#include "platform/text.h"
#include "scene.h"
#include "support/test.h"

#define TEXT_SIZE 4096

#define SQLITE(name, path)                                                     \
    "{ name = \"" name "\"; engine = \"sqlite\"; path = \"" path               \
    "\"; connect_timeout = \"20s\"; }"
#define BACKENDS(b) "backends = (" SQLITE("a", "a.db") "," SQLITE("b", b) ");\n"
#define POOL(more)                                                             \
    "pools = ({ name = \"main\"; partitions = [ \"a\", \"b\" ]; " more "});\n"
#define POOLS POOL("timeout = \"20s\"; ")
#define TOPOLOGY(sequences)                                                    \
    BACKENDS("b.db") POOLS "sequences = (" sequences ");\n"
#define LISTED(key, more) "{ key = \"" key "\"; deadline = \"40s\"; " more "}"
#define ORDER             LISTED("order", "")
#define DAY               LISTED("day", "period = \"day\"; ")
#define BILL              LISTED("bill", "")

/* What was told, a line each. */
struct probe_log {
    char lines[TEXT_SIZE];
    enum seqb_status prepared; /* what prepare answers */
};

static void tell_change(void *context, const struct seqb_reload_change *change)
{
    struct probe_log *told = context;

    (void)text_append(told->lines, sizeof told->lines, "%s: %s\n",
                      seqb_reload_need_name(change->need), change->path);
}

static void tell_line(void *context, const char *line)
{
    struct probe_log *told = context;

    (void)text_append(told->lines, sizeof told->lines, "%s\n", line);
}

static enum seqb_status prepare(void *context, struct seqb_error *err)
{
    const struct probe_log *told = context;

    err->status = told->prepared;
    (void)text_copy(err->text, sizeof err->text, "the program says no");
    return told->prepared;
}

static enum seqb_status reload_as(struct scene *scene, const char *text,
                                  bool is_dry, struct probe_log *told,
                                  struct seqb_error *err)
{
    const struct seqb_reload_options options = {.size = sizeof options,
                                                .dry_run = is_dry,
                                                .diagnostic = tell_line,
                                                .change = tell_change,
                                                .prepare = prepare,
                                                .context = told};

    told->lines[0] = '\0';
    return seqb_reload(scene->broker, scene_write(scene, "t.conf", text),
                       &options, err);
}

/* It must go well, and tell these lines. */
static void reload(struct scene *scene, const char *text, const char *lines)
{
    struct probe_log told = {.prepared = SEQB_OK};
    struct seqb_error err = {.text = ""};

    assert_done(reload_as(scene, text, false, &told, &err), err);
    assert_string_equal(told.lines, lines);
}

static void refused(struct scene *scene, const char *text, bool is_dry,
                    enum seqb_status expected, const char *words)
{
    struct probe_log told = {.prepared = SEQB_OK};
    struct seqb_error err = {.text = ""};

    assert_status(reload_as(scene, text, is_dry, &told, &err), expected);
    scene_expect_words(err.text, words);
}

/* A dry run says it before. */
static void reload_refused(struct scene *scene, const char *text,
                           enum seqb_status expected, const char *words)
{
    refused(scene, text, true, expected, words);
    refused(scene, text, false, expected, words);
}

static void open_with(struct scene *scene, const char *text)
{
    scene_open(scene, scene_write(scene, "t.conf", text));
}

static struct seqb_sequence *get(struct scene *scene, const char *key)
{
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err = {.text = ""};

    assert_done(seqb_get_sequence(scene->broker, key, &sequence, &err), err);
    return sequence;
}

static void expect_no_sequence(struct scene *scene, const char *key,
                               const char *words)
{
    struct seqb_error err = {.text = ""};

    assert_status(scene_find(scene, key, &err), SEQB_UNKNOWN_KEY);
    scene_expect_words(err.text, words);
}

/* --- sequences --- */

TEST_WITH(SCENE, sequence_that_is_added_serves)
{
    open_with(scene, TOPOLOGY(ORDER));
    scene_take(scene, "order", 100);
    expect_no_sequence(scene, "bill", "unknown sequence");
    reload(scene, TOPOLOGY(ORDER ", { key = \"bill\"; deadline = \"9s\"; }"),
           "nothing: sequences.bill\n");
    assert_int_equal(seqb_deadline_ms(get(scene, "bill")), 9000);
    scene_take(scene, "order", 1000);
    scene_expect_no_repeats(scene);
    scene->numbers.count = 0;
    scene_take(scene, "bill", 1000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, sequence_that_is_taken_out_refuses_and_comes_back)
{
    struct seqb_sequence *bill;
    struct seqb_error err = {.text = ""};
    int64_t number;

    open_with(scene, TOPOLOGY(ORDER "," BILL));
    scene_take(scene, "bill", 100);
    bill = get(scene, "bill");
    reload(scene, TOPOLOGY(ORDER), "nothing: sequences.bill\n");
    expect_no_sequence(scene, "bill", "taken out of the topology");
    assert_status(seqb_next(bill, &number, &err), SEQB_UNKNOWN_KEY);
    scene_expect_words(err.text, "list it again and reload");
    assert_status(seqb_try_next(bill, &number, &err), SEQB_UNKNOWN_KEY);
    reload(scene, TOPOLOGY(ORDER "," BILL), "nothing: sequences.bill\n");
    assert_ptr_equal(get(scene, "bill"), bill);
    scene_take(scene, "bill", 20000);
    scene_expect_no_repeats(scene);
}

/* What was in memory is not lost: it is in the spool, for whoever lists the
 * sequence again. */
TEST_WITH(SCENE, numbers_of_a_sequence_that_is_taken_out_go_to_the_spool)
{
    int64_t highest;

    open_with(scene, TOPOLOGY(ORDER "," BILL));
    scene_take(scene, "bill", 1000);
    highest = numbers_highest(&scene->numbers);
    reload(scene, TOPOLOGY(ORDER), "nothing: sequences.bill\n");
    scene_close(scene);
    open_with(scene, TOPOLOGY(ORDER "," BILL));
    scene_take(scene, "bill", 1);
    assert_true(scene->numbers.values[1000] <= highest + 5000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, status_leaves_out_what_was_taken_out)
{
    size_t count = 0;

    open_with(scene, TOPOLOGY(ORDER "," BILL));
    reload(scene, TOPOLOGY(ORDER), "nothing: sequences.bill\n");
    assert_ok(seqb_sequences(scene->broker, NULL,
                             sizeof(struct seqb_sequence_status), 0, &count,
                             NULL));
    assert_int_equal(count, 1);
}

TEST_WITH(SCENE, sequences_with_a_period_come_and_go)
{
    static const char both[] =
        TOPOLOGY(DAY "," LISTED("id", "period = \"day\"; template = "
                                      "\"A@{date}@{seq}\"; "));
    static const char one[] =
        TOPOLOGY("{ key = \"day\"; period = \"day\"; deadline = \"7s\"; }");
    struct seqb_error err = {.text = ""};
    struct seqb_sequence *id;
    int64_t number;

    open_with(scene, TOPOLOGY(DAY));
    scene_take(scene, "day", 100);
    for (int i = 0; i < 3; i++) {
        struct probe_log told = {.prepared = SEQB_OK};

        assert_ok(reload_as(scene, both, false, &told, &err));
        id = get(scene, "id");
        assert_ok(seqb_next(id, &number, &err));
        assert_true(seqb_number_size(id) > 0);
        assert_ok(reload_as(scene, one, false, &told, &err));
        assert_int_equal(seqb_deadline_ms(get(scene, "day")), 7000);
        assert_status(seqb_next(id, &number, &err), SEQB_UNKNOWN_KEY);
        assert_status(seqb_try_next(id, &number, &err), SEQB_UNKNOWN_KEY);
    }
    scene_take(scene, "day", 1000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, automatic_sequences_follow_pattern_and_limit)
{
    static const char automatic[] = "auto_sequences = { pattern = \"%s\"; "
                                    "limit = %d; deadline = \"%s\"; "
                                    "};\n";
    char text[TEXT_SIZE];
    struct probe_log told = {.prepared = SEQB_OK};

    (void)text_format(text, sizeof text, TOPOLOGY(ORDER) "%s", "");
    (void)text_append(text, sizeof text, automatic, "x-*", 1, "8s");
    open_with(scene, text);
    scene_take(scene, "x-1", 10);
    expect_no_sequence(scene, "x-2", "limit");
    (void)text_copy(text, sizeof text, TOPOLOGY(ORDER));
    (void)text_append(text, sizeof text, automatic, "*", 3, "6s");
    assert_ok(reload_as(scene, text, false, &told, NULL));
    assert_string_equal(told.lines, "nothing: auto_sequences.pattern\n"
                                    "nothing: auto_sequences.limit\n"
                                    "nothing: auto_sequences.deadline\n");
    assert_int_equal(seqb_deadline_ms(get(scene, "x-1")), 6000);
    assert_int_equal(seqb_deadline_ms(get(scene, "y")), 6000);
    scene_take(scene, "x-1", 10);
    reload(scene, TOPOLOGY(ORDER), "nothing: auto_sequences\n");
    expect_no_sequence(scene, "x-1", "taken out");
    expect_no_sequence(scene, "x-2", "unknown");
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, sequence_that_made_itself_may_be_listed)
{
    static const char automatic[] =
        "auto_sequences = { pattern = \"*\"; deadline = \"40s\"; };\n";
    char text[TEXT_SIZE];

    (void)text_format(text, sizeof text, "%s%s", TOPOLOGY(ORDER), automatic);
    open_with(scene, text);
    scene_take(scene, "x", 1000);
    (void)text_format(text, sizeof text, "%s%s",
                      TOPOLOGY(ORDER ", { key = \"x\"; deadline = \"30s\"; }"),
                      automatic);
    reload(scene, text, "nothing: sequences.x\n");
    assert_int_equal(seqb_deadline_ms(get(scene, "x")), 30000);
    scene_take(scene, "x", 1000);
    (void)text_format(text, sizeof text, "%s%s",
                      TOPOLOGY(ORDER "," LISTED("x", "memory_bits = 5; ")),
                      automatic);
    reload_refused(scene, text, SEQB_LAYOUT, "memory_bits");
    scene_take(scene, "x", 1000);
    scene_expect_no_repeats(scene);
}

/* The settings alone do not show it: automatic sequences had other bits. */
TEST_WITH(SCENE, sequence_that_made_itself_with_other_bits_is_refused)
{
    static const char automatic[] =
        "auto_sequences = { pattern = \"*\"; memory_bits = 2; };\n";
    char text[TEXT_SIZE];

    (void)text_format(text, sizeof text, "%s%s", TOPOLOGY(ORDER), automatic);
    open_with(scene, text);
    scene_take(scene, "x", 1000);
    (void)text_format(text, sizeof text, "%s%s",
                      TOPOLOGY(ORDER "," LISTED("x", "")), automatic);
    reload_refused(scene, text, SEQB_LAYOUT, "sequence x is served with other");
    scene_take(scene, "x", 1000);
    scene_expect_no_repeats(scene);
}

/* A store knows it by other bits, from an earlier life. A dry run asks no
 * store. */
TEST_WITH(SCENE, new_sequence_that_a_store_refuses_refuses_all)
{
    open_with(scene, TOPOLOGY(ORDER ", " LISTED("bill", "memory_bits = 4; ")));
    scene_take(scene, "bill", 10);
    scene_close(scene);
    open_with(scene, TOPOLOGY(ORDER));
    refused(scene,
            TOPOLOGY("{ key = \"order\"; deadline = \"5s\"; },"
                     "{ key = \"bill\"; }, { key = \"more\"; }"),
            false, SEQB_LAYOUT, "memory_bits=4");
    expect_no_sequence(scene, "more", "unknown");
    assert_true(seqb_deadline_ms(get(scene, "order")) > 5000);
}

/* What it would have added may still be in use by the refill thread and by
 * workers that hang. */
TEST_WITH(SCENE, topology_of_a_refused_reload_is_kept_for_what_it_added)
{
    open_with(scene, TOPOLOGY(DAY ", " LISTED("bill", "memory_bits = 4; ")));
    scene_take(scene, "bill", 10);
    scene_close(scene);
    open_with(scene, TOPOLOGY(DAY));
    refused(scene, TOPOLOGY(DAY "," BILL), false, SEQB_LAYOUT, "memory_bits=4");
    assert_null(scene->broker->kept);
    refused(scene,
            TOPOLOGY(DAY "," BILL "," LISTED("hour", "period = \"hour\";")),
            false, SEQB_LAYOUT, "memory_bits=4");
    assert_non_null(scene->broker->kept);
}

/* --- refusals --- */

TEST_WITH(SCENE, file_with_a_mistake_changes_nothing)
{
    struct probe_log told = {.prepared = SEQB_OK};
    struct seqb_error err = {.text = ""};

    open_with(scene, TOPOLOGY(ORDER));
    assert_status(reload_as(scene,
                            TOPOLOGY("{ key = \"order\"; deadlin = \"5s\"; },"
                                     "{ key = \"bill\"; }"),
                            false, &told, &err),
                  SEQB_CONFIG);
    scene_expect_words(err.text, "did you mean");
    scene_expect_words(told.lines, "did you mean");
    expect_no_sequence(scene, "bill", "unknown");
    scene_take(scene, "order", 100);
}

TEST_WITH(SCENE, what_needs_a_migration_is_refused_whole)
{
    open_with(scene, TOPOLOGY(ORDER));
    reload_refused(
        scene,
        BACKENDS("b.db") POOL(
            "timeout = \"20s\"; window_bits = 9;") "sequences = (" ORDER
                                                   ", { key = \"bill\"; });\n",
        SEQB_LAYOUT, "pools.main.window_bits from '20' to '9'");
    expect_no_sequence(scene, "bill", "unknown");
    scene_take(scene, "order", 100);
}

TEST_WITH(SCENE, dry_run_applies_nothing)
{
    struct probe_log told = {.prepared = SEQB_OK};

    open_with(scene, TOPOLOGY(ORDER));
    assert_ok(reload_as(scene, TOPOLOGY(ORDER "," BILL), true, &told, NULL));
    assert_string_equal(told.lines, "nothing: sequences.bill\n");
    expect_no_sequence(scene, "bill", "unknown");
}

TEST_WITH(SCENE, program_may_refuse_before_anything_is_applied)
{
    struct probe_log told = {.prepared = SEQB_INVALID};
    struct seqb_error err = {.text = ""};

    open_with(scene, TOPOLOGY(ORDER));
    for (int is_dry = 0; is_dry <= 1; is_dry++) {
        assert_status(reload_as(scene, TOPOLOGY(ORDER "," BILL), is_dry != 0,
                                &told, &err),
                      SEQB_INVALID);
        assert_string_equal(err.text, "the program says no");
    }
    expect_no_sequence(scene, "bill", "unknown");
}

TEST_WITH(SCENE, options_of_no_size_are_refused)
{
    const struct seqb_reload_options options = {.size = 0};

    open_with(scene, TOPOLOGY(ORDER));
    assert_status(
        seqb_reload(scene->broker, scene_path(scene, "t.conf"), &options, NULL),
        SEQB_INVALID);
    assert_ok(
        seqb_reload(scene->broker, scene_path(scene, "t.conf"), NULL, NULL));
}

/* --- backends --- */

TEST_WITH(SCENE, backend_that_changes_is_connected_anew_and_the_rest_go_on)
{
    open_with(scene, TOPOLOGY(ORDER));
    scene_take(scene, "order", 1000);
    assert_int_equal(
        symlink(scene_state_path(scene, "b.db"), scene_path(scene, "link.db")),
        0);
    reload(scene,
           BACKENDS("./b.db") POOL("timeout = \"3s\"; check_interval = "
                                   "\"100ms\";") "sequences = (" ORDER ");\n",
           "nothing: backends.b.path\nnothing: pools.main.timeout\n"
           "nothing: pools.main.check_interval\n");
    scene_take(scene, "order", 20000);
    scene_await(scene, 0, SEQB_PARTITION_UP);
    scene_await(scene, 1, SEQB_PARTITION_UP);
    scene_expect_no_repeats(scene);
}

/* Another store is at the new address: it is not believed. Put back, all is
 * well. */
TEST_WITH(SCENE, backend_that_became_another_store_is_refused_alone)
{
    open_with(scene, TOPOLOGY(ORDER));
    scene_take(scene, "order", 1000);
    reload(scene, BACKENDS("c.db") POOLS "sequences = (" ORDER ");\n",
           "nothing: backends.b.path\n");
    scene_take_until(scene, "order", 1, SEQB_PARTITION_QUARANTINED);
    scene_take(scene, "order", 5000);
    reload(scene, TOPOLOGY(ORDER), "nothing: backends.b.path\n");
    scene_take_until(scene, "order", 1, SEQB_PARTITION_UP);
    scene_expect_no_repeats(scene);
}

/* --- callers --- */

struct taking {
    struct scene *scene;
    atomic_bool is_over;
    atomic_int failures;
};

static void *take_on(void *argument)
{
    struct taking *taking = argument;
    struct seqb_sequence *order;
    struct seqb_error err;
    int64_t numbers[64];

    while (!atomic_load(&taking->is_over)) {
        bool is_well = seqb_get_sequence(taking->scene->broker, "order", &order,
                                         &err) == SEQB_OK;

        for (size_t i = 0; i < COUNT_OF(numbers) && is_well; i++)
            is_well = seqb_next(order, &numbers[i], &err) == SEQB_OK;
        if (is_well)
            numbers_add(&taking->scene->numbers, numbers, COUNT_OF(numbers));
        else
            atomic_fetch_add(&taking->failures, 1);
    }
    return NULL;
}

TEST_WITH(SCENE, callers_take_on_while_the_topology_is_reloaded)
{
    static const char *const texts[] = {
        TOPOLOGY(ORDER "," BILL ", { key = \"text\"; "
                       "template = \"A@{seq}\"; }"),
        BACKENDS("./b.db") POOL("timeout = \"5s\";") "sequences = (" LISTED(
            "order", "max_unused = 500; prefetch = "
                     "false; ") ");\n",
        TOPOLOGY(ORDER),
    };
    struct taking taking = {.scene = scene};
    struct seqb_error err = {.text = ""};
    enum seqb_status status = SEQB_OK;
    pthread_t threads[3];

    open_with(scene, TOPOLOGY(ORDER));
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_on, &taking),
                         0);
    /* No assertion while they run: its way out would close their broker. */
    for (size_t i = 0; i < 30 && status == SEQB_OK; i++) {
        struct probe_log told = {.prepared = SEQB_OK};
        const size_t before = numbers_count(&scene->numbers);

        status =
            reload_as(scene, texts[i % COUNT_OF(texts)], false, &told, &err);
        while (status == SEQB_OK && numbers_count(&scene->numbers) == before &&
               atomic_load(&taking.failures) == 0)
            usleep(1000);
    }
    atomic_store(&taking.is_over, true);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    assert_done(status, err);
    assert_int_equal(atomic_load(&taking.failures), 0);
    scene_expect_no_repeats(scene);
}
