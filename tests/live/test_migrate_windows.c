/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations of sequences whose windows have another size than their pool's, in
 * the old layout or in the new one: their numbers go on above all old ones.
 */
#include <string.h>

#include "migration_fixture.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/test.h"

#define PATH_SIZE 64

#define LEASED     "authority = \"c\"; windows = \"all\"; "
#define NEIGHBOURS "authority = \"neighbours\"; "
#define OWN(bits)  "window_bits = " #bits "; "
#define AUTO(more)                                                             \
    "auto_sequences = { pattern = \"*\"; memory_bits = 3; deadline = "         \
    "\"1m\"; " more "};"
#define ORDER(more)                                                            \
    "sequences = ( { key = \"order\"; max_unused = 256; memory_bits = 3; "     \
    "deadline = \"1m\"; " more "} );"

/* No gap: what is skipped follows from the windows alone. */
static const char topology[] =
    "backends = ( { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"
    "             { name = \"b\"; engine = \"sqlite\"; path = \"b.db\"; }%s );"
    "pools = ( { name = \"main\"; generation = %d; window_bits = %d; "
    "            failover_gap = 0; timeout = \"1m\"; %s "
    "            partitions = [ \"a\", \"b\" ]; } );"
    "%s";

struct layout_of {
    const char *lessors;
    int window_bits;
    const char *sequences;
};

static const char *write_layout(const struct scene *scene, const char *name,
                                int generation, const struct layout_of *layout)
{
    const bool has_authority = strcmp(layout->lessors, NEIGHBOURS) != 0;
    char text[SCENE_TEXT_SIZE];

    assert_true(text_format(
        text, sizeof text, topology,
        has_authority
            ? ", { name = \"c\"; engine = \"sqlite\"; path = \"c.db\"; }"
            : "",
        generation, layout->window_bits, layout->lessors, layout->sequences));
    return scene_write(scene, name, text);
}

struct change {
    struct layout_of from;
    struct layout_of to;
};

/* Sizes far from each other: windows that were taken for those of the pool
 * would be passed by nothing else. */
static const struct change changes[] = {
    {{LEASED, 8, ORDER(OWN(24))}, {LEASED, 8, ORDER("")}},
    {{LEASED, 24, ORDER("")}, {LEASED, 24, ORDER(OWN(8))}},
    {{LEASED, 8, ORDER(OWN(24))}, {LEASED, 24, ORDER(OWN(8))}},
    {{LEASED, 24, ORDER(OWN(8))}, {LEASED, 8, ORDER(OWN(24))}},
    {{LEASED, 8, ORDER(OWN(24))}, {NEIGHBOURS, 8, ORDER(OWN(10))}},
    {{NEIGHBOURS, 8, ORDER(OWN(24))}, {NEIGHBOURS, 8, ORDER("")}},
    {{NEIGHBOURS, 24, ORDER("")}, {NEIGHBOURS, 24, ORDER(OWN(8))}},
    {{NEIGHBOURS, 8, ORDER(OWN(24))}, {LEASED, 24, ORDER(OWN(8))}},
    {{NEIGHBOURS, 8, AUTO(OWN(24))}, {NEIGHBOURS, 8, ORDER("")}},
};

TEST_WITH(SCENE, numbers_go_on_above_those_of_other_windows)
{
    static const char *const keys[] = {"order"};
    const struct seqb_migrate_options options = {.keys = keys, .key_count = 1};

    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        const struct moved *moved;
        const char *from;
        const char *to;

        print_message("  change %zu\n", i);
        folder_remove(scene->state_dir);
        from = write_layout(scene, "old.conf", 1, &changes[i].from);
        to = write_layout(scene, "new.conf", 2, &changes[i].to);
        scene->numbers.count = 0;
        migration_use(scene, from);
        moved = migration_try(from, to, &options);
        if (moved->status != SEQB_OK)
            fail_msg("%s", moved->err.text);
        migration_use_above(scene, to);
        scene_expect_refused(scene, from, SEQB_LAYOUT,
                             "was retired by seqctl migrate");
    }
}

/* The new topology does not list it, so that only stores say its size. */
TEST_WITH(SCENE, key_that_is_not_listed_keeps_its_windows)
{
    static const struct layout_of was = {NEIGHBOURS, 8, AUTO(OWN(24))};
    static const struct layout_of is = {NEIGHBOURS, 9,
                                        "sequences = ( { key = \"bill\"; } );"};
    static const struct layout_of others = {NEIGHBOURS, 9, AUTO("")};
    static const struct layout_of same = {NEIGHBOURS, 9, AUTO(OWN(24))};
    static const char *const keys[] = {"order"};
    const struct seqb_migrate_options options = {.keys = keys, .key_count = 1};
    const struct moved *moved;
    const char *from = write_layout(scene, "old.conf", 1, &was);
    const char *to = write_layout(scene, "new.conf", 2, &is);

    migration_use(scene, from);
    moved = migration_try(from, to, &options);
    assert_ok(moved->status);
    scene_expect_words(moved->told, "sequence order: memory_bits 3 -> 3; "
                                    "window_bits 24 -> 24; ");
    to = write_layout(scene, "others.conf", 2, &others);
    scene_open(scene, to);
    scene_expect_no_numbers(scene, "order",
                            "was used with memory_bits=3 window_bits=24");
    scene_close(scene);
    to = write_layout(scene, "same.conf", 2, &same);
    migration_use_above(scene, to);
}

/* --- what is refused --- */

TEST_WITH(SCENE, size_changes_with_the_generation_alone)
{
    static const struct layout_of was = {NEIGHBOURS, 8, ORDER(OWN(10))};
    static const struct layout_of is = {NEIGHBOURS, 8, ORDER(OWN(11))};
    static const struct layout_of as_pool = {NEIGHBOURS, 8, ORDER("")};
    const char *to;
    const char *from = write_layout(scene, "old.conf", 1, &was);

    migration_use(scene, from);
    to = write_layout(scene, "new.conf", 1, &is);
    scene_expect_refused(scene, to, SEQB_LAYOUT,
                         "memory_bits=3 window_bits=10 and is configured with "
                         "memory_bits=3 window_bits=11;");
    migration_refused(
        from, to, SEQB_CONFIG,
        "the window_bits of a sequence changes: write generation = "
        "2");
    to = write_layout(scene, "new.conf", 1, &as_pool);
    migration_refused(
        from, to, SEQB_CONFIG,
        "the window_bits of a sequence changes: write generation = "
        "2");
    migration_use(scene, from);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, both_topologies_must_have_the_size_in_use)
{
    static const struct layout_of was = {NEIGHBOURS, 8, ORDER(OWN(10))};
    static const struct layout_of not_was = {NEIGHBOURS, 8, ORDER("")};
    static const struct layout_of is = {NEIGHBOURS, 8, ORDER(OWN(11))};
    static const struct layout_of not_is = {NEIGHBOURS, 8, ORDER(OWN(12))};
    const char *wrong;
    const char *from = write_layout(scene, "old.conf", 1, &was);
    const char *to = write_layout(scene, "new.conf", 2, &is);

    migration_use(scene, from);
    wrong = write_layout(scene, "wrong.conf", 1, &not_was);
    migration_refused(
        wrong, to, SEQB_LAYOUT,
        "order of pool main was used with window_bits = 10, and the "
        "old topology says 8; nothing was changed");
    migration_use(scene, from);
    migration_do(from, to);
    wrong = write_layout(scene, "wrong.conf", 2, &not_is);
    migration_refused(from, wrong, SEQB_LAYOUT,
                      "was migrated to window_bits = 11 and is configured with "
                      "12; nothing was changed");
    migration_use_above(scene, to);
}
