/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool whose sequence shuffles is migrated: what it shuffles with goes along,
 * so that its codes go on, and none comes again.
 */

#include "platform/text.h"
#include "scene.h"
#include "support/take.h"
#include "support/test.h"

#define MANY 500

/* Four stores, of which a generation uses the first ones. */
static const char topology[] =
    "backends = ("
    "  { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; }%s"
    ");"
    "pools = ( { name = \"main\"; generation = %d; failover_gap = 1000;"
    "            partitions = [ \"a\"%s ]; } );"
    "sequences = ( { key = \"code\"; memory_bits = %d; max_unused = 64;"
    "                template = \"@{shuffle, width=%d, base=%d}\";"
    "                shuffle_key_file = \"%s\"; } );";

struct layout {
    int generation;
    bool has_second;
    int memory_bits;
    int width;
    int base;
    const char *key;
};

static const char *write_layout(const struct scene *scene, const char *name,
                                const struct layout *layout)
{
    char text[SCENE_TEXT_SIZE];

    (void)scene_write(scene, "key", "the key of all these codes\n");
    (void)scene_write(scene, "other", "the key of other codes\n");
    assert_true(text_format(
        text, sizeof text, topology,
        layout->has_second
            ? ", { name = \"b\"; engine = \"sqlite\"; path = \"b.db\"; }"
            : "",
        layout->generation, layout->has_second ? ", \"b\"" : "",
        layout->memory_bits, layout->width, layout->base, layout->key));
    return scene_write(scene, name, text);
}

/* Takes codes, whose numbers go into scene->numbers as they are read back. */
static void use(struct scene *scene, const char *path)
{
    struct seqb_sequence *code = NULL;
    struct seqb_error err = {.text = ""};

    scene_open(scene, path);
    code = scene_sequence(scene, "code");
    for (int i = 0; i < MANY; i++) {
        char text[SEQB_TEXT_MAX + 1];
        struct seqb_parsed parsed;

        if (take_text(code, NULL, 0, text, sizeof text, &err) != SEQB_OK ||
            seqb_parse(code, text, &parsed, &err) != SEQB_OK)
            fail_msg("%s", err.text);
        numbers_add(&scene->numbers, &parsed.number, 1);
    }
    scene_close(scene);
}

TEST_WITH(SCENE, codes_go_on_after_a_migration)
{
    static const struct layout was = {1, false, 0, 5, 10, "key"};
    static const struct layout is = {2, true, 2, 5, 10, "key"};
    const struct seqb_migrate_options options = {.dry_run = false};
    struct seqb_error err = {.text = ""};
    const char *from = write_layout(scene, "old.conf", &was);
    const char *to = write_layout(scene, "new.conf", &is);

    use(scene, from);
    assert_done(seqb_migrate(from, to, &options, &err), err);
    use(scene, to);
    if (seqb_migrate(from, to, &options, &err) != SEQB_OK)
        fail_msg("once more: %s", err.text);
    use(scene, to);
    scene_expect_no_repeats(scene);
    assert_int_equal(numbers_count(&scene->numbers), 3 * MANY);
}

/* A width is no part of it: each has its own order, whatever the others. */
static const struct {
    struct layout is;
    enum seqb_status status;
    const char *words;
} others[] = {
    {{2, true, 0, 5, 10, "other"}, SEQB_CONFIG, "a migration changes no "},
    {{2, true, 0, 5, 16, "key"}, SEQB_CONFIG, "a migration changes no "},
    {{2, true, 0, 6, 10, "key"}, SEQB_OK, ""},
};

TEST_WITH(SCENE, migrations_change_no_key)
{
    static const struct layout was = {1, false, 0, 5, 10, "key"};
    const struct seqb_migrate_options options = {.dry_run = true};
    const char *from = write_layout(scene, "old.conf", &was);

    use(scene, from);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct seqb_error err = {.text = ""};
        const char *to = write_layout(scene, "new.conf", &others[i].is);

        assert_int_equal(seqb_migrate(from, to, &options, &err),
                         others[i].status);
        scene_expect_words(err.text, others[i].words);
    }
}

/* By topologies that agree with each other, and not with the stores. */
TEST_WITH(SCENE, the_stores_say_which_key_it_is)
{
    static const struct layout was = {1, false, 0, 5, 10, "key"};
    static const struct layout wrong[] = {{1, false, 0, 5, 10, "other"},
                                          {2, true, 0, 5, 10, "other"}};
    const struct seqb_migrate_options options = {.dry_run = true};
    struct seqb_error err = {.text = ""};
    const char *to;
    const char *from = write_layout(scene, "old.conf", &was);

    use(scene, from);
    from = write_layout(scene, "old.conf", &wrong[0]);
    to = write_layout(scene, "new.conf", &wrong[1]);
    assert_int_equal(seqb_migrate(from, to, &options, &err), SEQB_LAYOUT);
    scene_expect_words(err.text, "backend a says 'memory_bits=0 shuffle=10/");
}

/* A store that became another one is raised by a gap and by chance, and 10^7
 * codes have little room for that. */
TEST_WITH(SCENE, narrow_codes_keep_most_of_their_room)
{
    static const struct layout was = {1, false, 0, 7, 10, "key"};
    static const struct layout is = {2, true, 2, 7, 10, "key"};
    const struct seqb_migrate_options options = {.dry_run = false};
    struct seqb_error err = {.text = ""};
    const char *store;
    const char *from = write_layout(scene, "old.conf", &was);
    const char *to = write_layout(scene, "new.conf", &is);

    use(scene, from);
    store = scene_state_path(scene, "a.db");
    scene_copy(store, store);
    assert_done(seqb_migrate(from, to, &options, &err), err);
    use(scene, to);
    assert_true(numbers_highest(&scene->numbers) < 20000);
    scene_expect_no_repeats(scene);
}
