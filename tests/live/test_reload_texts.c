/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A template that is changed while the broker serves: applied where no text can
 * come twice, refused with the reason where one could, and that each text is
 * made by one template.
 */
#include <seqbroker/reload.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/text.h"
#include "scene.h"
#include "support/test.h"

#define HEAD                                                                   \
    "backends = ({ name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; });\n"  \
    "pools = ({ name = \"main\"; partitions = [ \"a\" ]; });\n"
#define BILL(more)     HEAD "sequences = ({ key = \"bill\"; " more " });\n"
#define TEMPLATE(text) "template = \"" text "\"; "
#define NARROW         "QJ@{seq, width=3, overflow=refuse}"
#define WIDE           "QJ@{seq, width=5, overflow=refuse}"

#define TEXT_SIZE  24
#define THREADS    3
#define RELOADS    40
#define TEXTS_MOST 200000
#define AT_ONCE    10

static enum seqb_status try_reload(struct scene *scene, const char *text,
                                   bool is_dry, struct seqb_error *err)
{
    const struct seqb_reload_options options = {.size = sizeof options,
                                                .dry_run = is_dry};

    return seqb_reload(scene->broker, scene_write(scene, "t.conf", text),
                       &options, err);
}

static void reload(struct scene *scene, const char *text)
{
    struct seqb_error err = {.text = ""};

    assert_done(try_reload(scene, text, false, &err), err);
}

/* A dry run says it before. */
static void reload_refused(struct scene *scene, const char *text,
                           const char *words)
{
    struct seqb_error err = {.text = ""};

    for (int is_dry = 1; is_dry >= 0; is_dry--) {
        assert_status(try_reload(scene, text, is_dry != 0, &err), SEQB_LAYOUT);
        scene_expect_words(err.text, words);
    }
}

static struct seqb_sequence *get(struct seqb_broker *broker, const char *key)
{
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err = {.text = ""};

    assert_done(seqb_get_sequence(broker, key, &sequence, &err), err);
    return sequence;
}

static enum seqb_status take(struct seqb_sequence *sequence, size_t size,
                             char *out, struct seqb_error *err)
{
    const struct seqb_take_options one = {
        .size = sizeof one, .count = 1, .text_size = size};

    return seqb_take_texts(sequence, &one, out, NULL, err);
}

/* Its next text has so many bytes, and reads back. */
static void expect_length(struct scene *scene, const char *key, size_t length)
{
    struct seqb_sequence *sequence = get(scene->broker, key);
    char text[SEQB_TEXT_MAX + 1] = "";
    struct seqb_parsed parsed;
    struct seqb_error err = {.text = ""};

    if (take(sequence, sizeof text, text, &err) != SEQB_OK ||
        seqb_parse(sequence, text, &parsed, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    if (strlen(text) != length)
        fail_msg("%s is not of %zu bytes", text, length);
}

static void open_with(struct scene *scene, const char *text)
{
    scene_open(scene, scene_write(scene, "t.conf", text));
}

TEST_WITH(SCENE, wider_numbers_come_at_once)
{
    struct seqb_sequence_status status;
    struct seqb_error err = {.text = ""};
    size_t count = 0;

    open_with(scene, BILL(TEMPLATE(NARROW)));
    expect_length(scene, "bill", 5);
    assert_int_equal(seqb_number_size(get(scene->broker, "bill")), 6);
    reload(scene, BILL(TEMPLATE(WIDE)));
    expect_length(scene, "bill", 7);
    assert_int_equal(seqb_number_size(get(scene->broker, "bill")), 8);
    assert_ok(
        seqb_sequences(scene->broker, &status, sizeof status, 1, &count, &err));
    assert_int_equal(status.width_numbers, 99999);
    reload(scene, BILL(TEMPLATE(NARROW)));
    expect_length(scene, "bill", 5);
}

TEST_WITH(SCENE, buffer_of_the_old_length_uses_up_no_number)
{
    struct seqb_sequence *bill;
    struct seqb_error err = {.text = ""};
    struct seqb_parsed before;
    struct seqb_parsed after;
    char text[TEXT_SIZE];

    open_with(scene, BILL(TEMPLATE(NARROW)));
    bill = get(scene->broker, "bill");
    assert_ok(take(bill, 6, text, &err));
    assert_ok(seqb_parse(bill, text, &before, &err));
    reload(scene, BILL(TEMPLATE(WIDE)));
    assert_status(take(bill, 6, text, &err), SEQB_INVALID);
    scene_expect_words(err.text, "a text needs 8 bytes");
    assert_ok(take(bill, seqb_number_size(bill), text, &err));
    assert_ok(seqb_parse(bill, text, &after, &err));
    assert_int_equal(after.number, before.number + 1);
}

TEST_WITH(SCENE, template_that_could_repeat_a_text_is_refused_whole)
{
    static const char *const rows[][2] = {
        {"QJ@{seq, width=3, base=16}", "in another base the digits of one"},
        {"Q@{seq, width=3}", "with other characters between the fields"},
        {"QJ@{seq, width=3}@{check, algorithm=damm}", "more or fewer fields"},
    };

    open_with(scene, BILL("deadline = \"9s\"; " TEMPLATE(NARROW)));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[SCENE_TEXT_SIZE];

        (void)text_format(text, sizeof text,
                          BILL("deadline = \"8s\"; " TEMPLATE("%s")),
                          rows[i][0]);
        reload_refused(scene, text, rows[i][1]);
        assert_int_equal(seqb_deadline_ms(get(scene->broker, "bill")), 9000);
        expect_length(scene, "bill", 5);
    }
    reload_refused(scene, BILL("deadline = \"9s\"; "),
                   "sequences.bill.template cannot change");
    expect_length(scene, "bill", 5);
}

TEST_WITH(SCENE, template_and_zone_do_not_change_at_once)
{
    open_with(scene, BILL(TEMPLATE(NARROW)));
    reload_refused(scene,
                   BILL(TEMPLATE(WIDE) "time_zone = \"Europe/Berlin\"; "),
                   "its time_zone changes, too");
    reload(scene, BILL(TEMPLATE(NARROW) "time_zone = \"Europe/Berlin\"; "));
    reload_refused(scene,
                   BILL(TEMPLATE(WIDE) "time_zone = \"Europe/Berlin\"; "),
                   "its time_zone changes, too");
    expect_length(scene, "bill", 5);
}

/* What it had when it was listed last is compared, not what it has in the
 * file. */
TEST_WITH(SCENE, sequence_that_comes_back_with_another_template_is_refused)
{
    open_with(scene, BILL(TEMPLATE(NARROW)));
    reload(scene, HEAD "sequences = ({ key = \"order\"; });\n");
    reload_refused(scene, BILL(TEMPLATE("QJ@{seq, width=3, base=16}")),
                   "sequence bill cannot get another template while it is "
                   "served: in another base");
    reload(scene, BILL(TEMPLATE(WIDE)));
    expect_length(scene, "bill", 7);
}

struct reasons {
    char text[SCENE_TEXT_SIZE];
    size_t count;
    bool is_asked; /* the program's part */
};

static void tell_reason(void *context, const char *line)
{
    struct reasons *told = context;

    (void)text_append(told->text, sizeof told->text, "%s\n", line);
    told->count++;
}

static enum seqb_status say_no(void *context, struct seqb_error *err)
{
    struct reasons *told = context;

    told->is_asked = true;
    err->status = SEQB_INVALID;
    (void)text_copy(err->text, sizeof err->text, "the program says no");
    return SEQB_INVALID;
}

static void expect_reasons(struct scene *scene, const char *text, bool is_dry,
                           size_t count, const char *words)
{
    struct reasons told = {.count = 0};
    const struct seqb_reload_options options = {.size = sizeof options,
                                                .dry_run = is_dry,
                                                .diagnostic = tell_reason,
                                                .prepare = say_no,
                                                .context = &told};
    struct seqb_error err = {.text = ""};

    assert_status(seqb_reload(scene->broker, scene_write(scene, "t.conf", text),
                              &options, &err),
                  SEQB_LAYOUT);
    assert_int_equal(told.count, count);
    assert_true(told.is_asked);
    scene_expect_words(err.text, words);
    scene_expect_words(err.text, "; the program says no");
    if (count == 2) {
        scene_expect_words(told.text, "sequence bill cannot get another");
        scene_expect_words(told.text, "sequence note cannot get another");
    }
}

/* Those of the sequences that are served, or of the file alone, and in both
 * cases those of the program. */
TEST_WITH(SCENE, refusal_names_all_reasons)
{
#define BOTH(text)                                                             \
    HEAD "sequences = ({ key = \"bill\"; " TEMPLATE(                           \
        text) "}, { key = \"note\"; " TEMPLATE(text) "}, "                     \
                                                     "{ key = \"new\"; });\n"
    open_with(scene, BOTH(NARROW));
    for (int is_dry = 1; is_dry >= 0; is_dry--)
        expect_reasons(scene, BOTH("QJ@{seq, width=3, base=16}"), is_dry != 0,
                       0, "2 changes are refused");
    reload(scene, HEAD "sequences = ({ key = \"order\"; });\n");
    for (int is_dry = 1; is_dry >= 0; is_dry--)
        expect_reasons(scene, BOTH("QJ@{seq, width=3, base=16}"), is_dry != 0,
                       2, "; and 1 more sequence");
    reload(scene, BOTH(WIDE));
    expect_length(scene, "note", 7);
#undef BOTH
}

TEST_WITH(SCENE, sequences_that_make_themselves_follow)
{
#define AUTO(text)                                                             \
    HEAD "auto_sequences = { pattern = \"*\"; " TEMPLATE(text) "};\n"
    open_with(scene, AUTO("A@{seq, width=3, overflow=refuse}"));
    expect_length(scene, "first", 4);
    reload(scene, AUTO("A@{seq, width=6, overflow=refuse}"));
    expect_length(scene, "first", 7);
    expect_length(scene, "second", 7);
    /* Later topologies are closed when the next one is in place. */
    for (size_t i = 0; i < 3; i++)
        reload(scene, i % 2 == 0
                          ? AUTO("A@{seq, width=6, overflow=refuse}") "\n"
                          : AUTO("A@{seq, width=6, overflow=refuse}"));
    expect_length(scene, "second", 7);
    expect_length(scene, "third", 7);
    reload_refused(scene, AUTO("A@{seq, width=6, base=16}"), "another base");
#undef AUTO
}

/* The other broker made texts of the key, by the template of auto_sequences.
 * This broker has not seen the key yet. */
TEST_WITH(SCENE, key_that_is_listed_later_keeps_the_automatic_template)
{
#define AUTO                                                                   \
    HEAD "auto_sequences = { pattern = \"b*\"; " TEMPLATE("A@{seq}") "};\n"
#define LISTED(key, base)                                                      \
    AUTO "sequences = ({ key = \"" key                                         \
         "\"; " TEMPLATE("A@{seq" base "}") " }, "                             \
                                            "{ key = \"bonus\"; });\n"
    struct seqb_broker *other = NULL;
    struct seqb_error err = {.text = ""};
    char text[SEQB_TEXT_MAX + 1] = "";

    open_with(scene, AUTO);
    assert_ok(seqb_open(scene_path(scene, "t.conf"), &other, &err));
    assert_ok(take(get(other, "bill"), sizeof text, text, &err));
    seqb_close(other);
    reload_refused(scene, LISTED("bill", ", base=16"),
                   "sequence bill cannot get another template while it is "
                   "served: in another base");
    reload(scene, LISTED("order", ", base=16"));
    reload(scene, LISTED("bill", ", width=8"));
    expect_length(scene, "bill", 9);
#undef LISTED
#undef AUTO
}

/* --- callers meanwhile --- */

struct taking {
    struct seqb_broker *brokers[THREADS];
    char (*texts)[TEXT_SIZE];
    atomic_size_t count;
    atomic_size_t started;
    atomic_bool is_over;
    atomic_int failures;
};

static void *take_on(void *argument)
{
    struct taking *taking = argument;
    const size_t me = atomic_fetch_add(&taking->started, 1);
    struct seqb_sequence *bill = NULL;
    struct seqb_error err;

    if (seqb_get_sequence(taking->brokers[me], "bill", &bill, &err) != SEQB_OK)
        atomic_fetch_add(&taking->failures, 1);
    while (bill != NULL && !atomic_load(&taking->is_over)) {
        const struct seqb_take_options many = {
            .size = sizeof many, .count = AT_ONCE, .text_size = TEXT_SIZE};
        const size_t at = atomic_fetch_add(&taking->count, AT_ONCE);

        if (at + AT_ONCE > TEXTS_MOST)
            break;
        if (seqb_take_texts(bill, &many, taking->texts[at], NULL, &err) !=
            SEQB_OK)
            atomic_fetch_add(&taking->failures, 1);
    }
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* "QJ" and a number with zeros before it, of 4 or of 9 digits at least: a text
 * that was made by both would be another one. */
static void expect_whole(const char *text)
{
    const char *digits = text + strspn(text, "QJ");
    const size_t length = strlen(digits);

    if (strncmp(text, "QJ", 2) != 0 || digits != text + 2 ||
        strspn(digits, "0123456789") != length || length < 4 ||
        (length != 4 && length != 9 && digits[0] == '0'))
        fail_msg("'%s' is by neither template", text);
}

static void expect_no_repeats(struct taking *taking)
{
    size_t count = atomic_load(&taking->count);

    count = count < TEXTS_MOST ? count : TEXTS_MOST;
    qsort(taking->texts, count, TEXT_SIZE, by_text);
    for (size_t i = 0; i < count; i++) {
        if (taking->texts[i][0] == '\0')
            continue; /* was not taken: there was no more room */
        expect_whole(taking->texts[i]);
        if (i > 0 && strcmp(taking->texts[i - 1], taking->texts[i]) == 0)
            fail_msg("%s came twice", taking->texts[i]);
    }
}

/* Until some texts more are taken. */
static void await_texts(struct taking *taking)
{
    const size_t before = atomic_load(&taking->count);

    while (before < TEXTS_MOST && atomic_load(&taking->count) == before &&
           atomic_load(&taking->failures) == 0)
        usleep(1000);
}

/* The second broker of the same stores never reads the file again. */
TEST_WITH(SCENE, texts_are_whole_and_come_once_while_templates_change)
{
    static const char *const rows[] = {
        BILL("max_unused = 500; " TEMPLATE("QJ@{seq, width=4}")),
        BILL("max_unused = 500; " TEMPLATE("QJ@{seq, width=9}")),
    };
    struct taking taking = {.count = 0};
    struct seqb_broker *other = NULL;
    struct seqb_error err = {.text = ""};
    enum seqb_status status = SEQB_OK;
    pthread_t threads[THREADS];

    taking.texts = calloc(TEXTS_MOST, TEXT_SIZE);
    assert_non_null(taking.texts);
    open_with(scene, rows[0]);
    assert_ok(seqb_open(scene_path(scene, "t.conf"), &other, &err));
    for (size_t i = 0; i < THREADS; i++)
        taking.brokers[i] = i == 0 ? other : scene->broker;
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_on, &taking),
                         0);
    /* No assertion while they run: its way out would close their broker. */
    for (size_t i = 1; i <= RELOADS && status == SEQB_OK; i++) {
        await_texts(&taking);
        status = try_reload(scene, rows[i % 2], false, &err);
    }
    atomic_store(&taking.is_over, true);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    seqb_close(other);
    assert_done(status, err);
    assert_int_equal(atomic_load(&taking.failures), 0);
    expect_no_repeats(&taking);
    free(taking.texts);
}
