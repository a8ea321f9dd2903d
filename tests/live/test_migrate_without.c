/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool with neighbours of which one is gone for good is migrated without it,
 * and when that is refused.
 */
#include <stdio.h>

#include "platform/text.h"
#include "scene.h"
#include "support/test.h"

#define TOLD_SIZE 8192
#define MANY      20000 /* more than are in some leases */

/* Two stores of four, in a generation. */
static const char topology[] =
    "backends = ( { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"
    "             { name = \"%s\"; engine = \"sqlite\"; path = \"%s.db\"; } );"
    "pools = ( { name = \"main\"; generation = %d; partitions = [ \"a\", "
    "            \"%s\" ]; window_bits = 8; failover_gap = 16; timeout = "
    "            \"1m\"; authority = \"%s\"; } );"
    "sequences = ( { key = \"order\"; max_unused = 64; memory_bits = 3;"
    "                deadline = \"1m\"; } );";

static void write_generation(const struct scene *scene, int generation,
                             const char *other, const char *authority,
                             char path[64])
{
    char text[SCENE_TEXT_SIZE];
    char name[32];

    assert_true(text_format(text, sizeof text, topology, other, other,
                            generation, other, authority));
    (void)text_format(name, sizeof name, "%d.conf", generation);
    assert_true(text_copy(path, 64, scene_write(scene, name, text)));
}

static void use(struct scene *scene, const char *path)
{
    scene_open(scene, path);
    scene_take(scene, "order", MANY);
    scene_close(scene);
}

static void move(const struct scene *scene, const char *from, const char *to)
{
    char source[256];

    (void)text_copy(source, sizeof source, scene_state_path(scene, from));
    assert_int_equal(rename(source, scene_state_path(scene, to)), 0);
}

/* A pool in use, and what is to take its place without b. */
static void begin(struct scene *scene, const char *authority, char was[64],
                  char is[64])
{
    write_generation(scene, 1, "b", authority, was);
    write_generation(scene, 2, "c", "neighbours", is);
    use(scene, was);
}

static char told[TOLD_SIZE];

static void hear(void *context, const char *line)
{
    (void)context;
    assert_true(text_append(told, sizeof told, "%s\n", line));
}

static void expect(const char *was, const char *is, const char *without,
                   enum seqb_status expected, const char *words)
{
    const struct seqb_migrate_options options = {.report = hear,
                                                 .without = without};
    struct seqb_error err = {.text = ""};
    enum seqb_status status;

    told[0] = '\0';
    status = seqb_migrate(was, is, &options, &err);
    if (status != expected)
        fail_msg("%s: %s", seqb_status_name(status), err.text);
    (void)text_append(told, sizeof told, "%s\n", err.text);
    scene_expect_words(told, words);
}

/* Half of the windows were leased by b. */
TEST_WITH(SCENE, numbers_go_on_above_what_the_missing_one_leased)
{
    char was[64];
    char is[64];
    size_t before;
    int64_t highest;

    begin(scene, "neighbours", was, is);
    move(scene, "b.db", "b.gone");
    expect(was, is, NULL, SEQB_UNREACHABLE, "and b fails");
    expect(was, is, "b", SEQB_OK, "warning: backend b is left out");
    highest = numbers_highest(&scene->numbers);
    before = numbers_count(&scene->numbers);
    use(scene, is);
    for (size_t i = before; i < numbers_count(&scene->numbers); i++)
        assert_true(scene->numbers.values[i] > highest);
    scene_expect_no_repeats(scene);
    expect(was, is, "b", SEQB_OK, "nothing is to be done");
    scene_expect_refused(scene, was, SEQB_LAYOUT, "was retired");
}

/* As after a restart, or as a copy. */
static void replace(const struct scene *scene, const char *store)
{
    char path[256];

    (void)text_copy(path, sizeof path, scene_state_path(scene, store));
    scene_copy(path, path);
}

/* What it leased and noted since may be known to the missing one alone. */
TEST_WITH(SCENE, lessor_that_may_have_gone_back_is_not_enough)
{
    const struct seqb_trust_options options = {.dry_run = false};
    struct seqb_error err = {.text = ""};
    char was[64];
    char is[64];

    begin(scene, "neighbours", was, is);
    move(scene, "b.db", "b.gone");
    replace(scene, "a.db");
    expect(was, is, "b", SEQB_UNSAFE, "backend a was restarted since");
    expect(was, is, "b", SEQB_UNSAFE, "say so with seqctl trust");
    if (seqb_trust(was, "a", &options, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    expect(was, is, "b", SEQB_OK, "done: start the brokers");
    use(scene, is);
    scene_expect_no_repeats(scene);
}

/* Four stores; the second one is another one in the second generation. */
static void write_four(const struct scene *scene, int generation,
                       const char *second, char path[64])
{
    static const char four[] =
        "backends = ( { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"
        "             { name = \"%s\"; engine = \"sqlite\"; path = \"%s.db\"; "
        "},"
        "             { name = \"c\"; engine = \"sqlite\"; path = \"c.db\"; },"
        "             { name = \"d\"; engine = \"sqlite\"; path = \"d.db\"; } "
        ");"
        "pools = ( { name = \"main\"; generation = %d; partitions = [ \"a\", "
        "            \"%s\", \"c\", \"d\" ]; window_bits = 8; timeout = \"1m\";"
        "            authority = \"neighbours\"; } );"
        "sequences = ( { key = \"order\"; max_unused = 64; memory_bits = 3;"
        "                deadline = \"1m\"; } );";
    char text[SCENE_TEXT_SIZE];
    char name[32];

    assert_true(text_format(text, sizeof text, four, second, second, generation,
                            second));
    (void)text_format(name, sizeof name, "%d.conf", generation);
    assert_true(text_copy(path, 64, scene_write(scene, name, text)));
}

/* It never stopped, so that its own claim says that it is level; what its copy
 * leased may be known to the missing one alone. */
TEST_WITH(SCENE, lessor_that_was_replaced_is_not_enough)
{
    char own[256];
    char was[64];
    char is[64];

    write_four(scene, 1, "b", was);
    write_four(scene, 2, "e", is);
    use(scene, was);
    move(scene, "a.db", "a.own");
    (void)text_copy(own, sizeof own, scene_state_path(scene, "a.own"));
    scene_copy(own, scene_state_path(scene, "a.db"));
    use(scene, was);
    move(scene, "a.db", "a.copy");
    move(scene, "a.own", "a.db");
    move(scene, "b.db", "b.gone");
    expect(was, is, "b", SEQB_UNSAFE, "backend a was replaced by a copy since");
    move(scene, "b.gone", "b.db");
    use(scene, was);
    move(scene, "b.db", "b.gone");
    expect(was, is, "b", SEQB_OK, "done: start the brokers");
    use(scene, is);
    scene_expect_no_repeats(scene);
}

/* It was retired then, and leased and noted nothing since. */
TEST_WITH(SCENE, lessor_has_to_be_level_when_it_is_retired)
{
    char was[64];
    char is[64];

    begin(scene, "neighbours", was, is);
    move(scene, "b.db", "b.gone");
    expect(was, is, "b", SEQB_OK, "done: start the brokers");
    replace(scene, "a.db");
    expect(was, is, "b", SEQB_OK, "nothing is to be done");
    use(scene, is);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, store_that_answers_is_not_left_out)
{
    char was[64];
    char is[64];

    begin(scene, "neighbours", was, is);
    expect(was, is, "b", SEQB_INVALID, "backend b answers");
    expect(was, is, "x", SEQB_INVALID, "has the backend 'x'");
    use(scene, was);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, store_that_nobody_witnessed_is_not_left_out)
{
    char was[64];
    char is[64];

    begin(scene, "none", was, is);
    move(scene, "b.db", "b.gone");
    expect(was, is, "b", SEQB_INVALID, "none of them can be left out");
}
