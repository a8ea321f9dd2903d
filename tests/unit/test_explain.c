/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of how a pool counts: each way of leasing windows. */

#include "backends/backends.h"
#include "config/config.h"
#include "offline/offline.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

#define TEXT_SIZE 4096
#define THREE     "backends=(" SQLITE("a") "," SQLITE("b") "," SQLITE("c") ");\n"
#define POOL_OF(partitions, more)                                              \
    "pools=({name=\"p\";partitions=[" partitions "];" more "});\n" KEY
#define DIRECT                                                                 \
    "direct: its counters are in its own store, and no other one knows of "    \
    "them\n"
#define UNNOTICED                                                              \
    " goes back alone and says nothing of it, as when a snapshot of its disk " \
    "is put back, or loses more than failover_gap (docs/guarantees.md)\n"
#define WAY_OUT                                                                \
    "pool p: authority = \"neighbours\" ends that: any one of these stores "   \
    "may "                                                                     \
    "go back then (docs/choosing.md)\n"

static void hear(void *context, const char *line)
{
    assert_true(text_append(context, TEXT_SIZE, "%s\n", line));
}

static void expect(const char *text, const char *told)
{
    char lines[TEXT_SIZE] = "";

    offline_explain(&topology_of_text(text)->stores, hear, lines);
    assert_string_equal(lines, told);
}

TEST(direct_counters_depend_on_each_store_alone)
{
    expect(
        "backends=(" SQLITE("a") "," SQLITE("b") ");\n" POOL_OF("\"a\",\"b\"",
                                                                ""),
        "pool p: partition 0 (a) is " DIRECT
        "pool p: partition 1 (b) is " DIRECT
        "pool p: a number repeats if one of the stores a, b" UNNOTICED WAY_OUT);
}

/* Who is alone has no neighbours; nor has one that cannot lease. */
TEST(pool_of_one_store_is_told_of_no_way_out)
{
    expect("backends=(" SQLITE("a") ");\n" POOL_OF("\"a\"", ""),
           "pool p: partition 0 (a) is " DIRECT
           "pool p: a number repeats if the store a" UNNOTICED);
    if (backend_find("redis") == NULL)
        skip();
    expect("backends=(" REDIS("") "," SQLITE("a") ");\n" POOL_OF(
               "\"r\",\"a\"", "authority=\"a\";"),
           "pool p: partition 0 (r) is windowed, since engine redis may "
           "forget; its windows are leased by the authority a\n"
           "pool p: partition 1 (a) is " DIRECT
           "pool p: a number repeats if the authority a" UNNOTICED);
}

TEST(windows_depend_on_their_authority)
{
    expect(THREE POOL_OF("\"a\",\"b\"", "authority=\"c\";windows=\"all\";"),
           "pool p: partition 0 (a) is windowed, since the pool has windows = "
           "\"all\"; its windows are leased by the authority c\n"
           "pool p: partition 1 (b) is windowed, since the pool has windows = "
           "\"all\"; its windows are leased by the authority c\n"
           "pool p: a number repeats if the authority c" UNNOTICED);
    if (backend_find("redis") == NULL)
        skip();
    expect("backends=(" REDIS("") "," SQLITE("a") "," SQLITE(
               "b") ","
                    "{name=\"s\";engine=\"redis\";port=1;});\n" POOL_OF(
                        "\"r\",\"a\",\"s\",\"b\"", "authority=\"a\";"),
           "pool p: partition 0 (r) is windowed, since engine redis may "
           "forget; its windows are leased by the authority a\n"
           "pool p: partition 1 (a) is " DIRECT
           "pool p: partition 2 (s) is windowed, since engine redis may "
           "forget; its windows are leased by the authority a\n"
           "pool p: partition 3 (b) is " DIRECT
           "pool p: a number repeats if the authority a or one of the direct "
           "stores b" UNNOTICED WAY_OUT);
}

TEST(neighbours_depend_on_two_stores_together)
{
    expect("backends=(" SQLITE("a") "," SQLITE("b") ");\n" POOL_OF(
               "\"b\",\"a\"", "authority=\"neighbours\";"),
           "pool p: partition 0 (b) is windowed, since the pool has "
           "neighbours; its windows are leased by any of the neighbours "
           "b, a\n"
           "pool p: partition 1 (a) is windowed, since the pool has "
           "neighbours; its windows are leased by any of the neighbours "
           "b, a\n"
           "pool p: a number repeats if two of the stores b, a go back "
           "together, or the second one before the first is level again; any "
           "one may go "
           "back alone, at any time and as often as it likes "
           "(docs/guarantees.md)\n");
}

TEST_BEFORE_ALL(topology_setup);
