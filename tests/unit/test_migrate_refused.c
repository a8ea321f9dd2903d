/* SPDX-License-Identifier: Apache-2.0 */
/* Pools that are never migrated, whatever changes: those of sequences whose
 * numbers begin afresh, and those that have no store. No store is opened. */

#include <seqbroker/admin.h>

#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"
#include "unit/topology_files.h"

#define PERIOD                                                                 \
    " a period, whose numbers are unique only together with their stamps: a "  \
    "pool with such a sequence cannot be migrated; give it a new pool "        \
    "between two periods instead, see docs/time.md"
#define FLAKES                                                                 \
    "pool p: it has snowflakes, which are made of the time and cannot be "     \
    "raised above others: give them a pool of their own"

/* Topologies of one store and pool, in the generation g. */
#define STORE(g)                                                               \
    BACKEND "pools=({name=\"p\";partitions=[\"a\"];generation=" g ";});\n"
#define KEYS(more) "sequences=({key=\"k\";" more "});\n"
#define FLAKE      KEYS("snowflake={};")

static const struct {
    const char *was;
    const char *is;
    const char *why;
} refused[] = {
    {STORE("1") KEYS("period=\"day\";"), STORE("2") KEYS(""),
     "pool p: k has" PERIOD},
    {STORE("1") KEYS(""), STORE("2") KEYS("period=\"day\";"),
     "pool p: k has" PERIOD},
    {STORE("1") KEYS("ids={};"), STORE("2") KEYS("ids={};"),
     "pool p: k has" PERIOD},
    {STORE("1") "auto_sequences={pattern=\"*\";period=\"hour\";};\n",
     STORE("2") KEYS(""), "pool p: auto_sequences have" PERIOD},
    {STORE("1") KEYS(""),
     STORE("2") "auto_sequences={pattern=\"*\";ids={};};\n",
     "pool p: auto_sequences have" PERIOD},
    {STORE("1") FLAKE, STORE("2") FLAKE, FLAKES},
    {STORE("1") FLAKE, STORE("2") KEYS(""), FLAKES},
    {STORE("1") KEYS(""), STORE("2") FLAKE, FLAKES},
    {STORE("1") KEYS(""),
     STORE("2") "auto_sequences={pattern=\"*\";snowflake={};};\n", FLAKES},
};

static void expect_refused(struct topology_files *files, size_t i)
{
    const struct seqb_migrate_options options = {.dry_run = true};
    struct seqb_error err = {.text = ""};
    char was[sizeof files->path];

    topology_write(files, "t.conf", refused[i].was);
    (void)text_copy(was, sizeof was, files->path);
    topology_write(files, "part.conf", refused[i].is);
    assert_int_equal(seqb_migrate(was, files->path, &options, &err),
                     SEQB_CONFIG);
    assert_string_equal(err.text, refused[i].why);
}

TEST_WITH(FILES, pools_without_one_row_of_numbers_are_refused)
{
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        expect_refused(files, i);
}

/* It is the pool that counts, and only if it migrates. */
TEST_WITH(FILES, periods_of_other_pools_do_not_matter)
{
    static const char form[] = "backends=(" SQLITE("a") "," SQLITE(
        "b") ");\n"
             "pools=({name=\"p\";partitions=[\"a\"];generation=%d;},"
             "{name=\"q\";partitions=[\"b\"];});\n"
             "sequences=({key=\"k\";pool=\"p\";},"
             "{key=\"l\";pool=\"q\";period=\"day\";});\n";
    const struct seqb_migrate_options options = {.dry_run = true};
    struct seqb_error err = {.text = ""};
    char text[512];
    char was[sizeof files->path];

    assert_true(text_format(text, sizeof text, form, 1));
    topology_write(files, "t.conf", text);
    (void)text_copy(was, sizeof was, files->path);
    assert_true(text_format(text, sizeof text, form, 2));
    topology_write(files, "part.conf", text);
    /* The stores are not there; they are asked. */
    assert_int_equal(seqb_migrate(was, files->path, &options, &err),
                     SEQB_UNREACHABLE);
}

TEST_BEFORE_ALL(topology_setup);
