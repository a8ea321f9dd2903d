/* SPDX-License-Identifier: Apache-2.0 */
/* authority = "neighbours" or "none": what becomes of it, and what is refused
 * with the reason and what to write instead. */

#include "backends/backends.h"
#include "config/config.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

#define BOTH "backends=(" SQLITE("a") "," SQLITE("b") ");\n"
#define NEIGHBOURS(partitions, more)                                           \
    "pools=({name=\"p\";partitions=[" partitions "];\n"                        \
    "authority=\"neighbours\";" more "});\n"
#define PAIR     NEIGHBOURS("\"a\",\"b\"", "")
#define ALL_FOUR "\"a\",\"b\",\"c\",\"d\""
#define FOUR                                                                   \
    "backends=(" SQLITE("a") "," SQLITE("b") "," SQLITE("c") "," SQLITE(       \
        "d") ");\n"
#define FORGETS(name, port)                                                    \
    "{name=\"" name "\";engine=\"redis\";port=" port ";}"
#define THREE                                                                  \
    "backends=(" SQLITE("a") "," SQLITE("b") "," SQLITE("c") "," FORGETS(      \
        "d", "1") ");\n"
#define PAIRS                                                                  \
    "backends=(" SQLITE("a") "," SQLITE("b") "," FORGETS(                      \
        "c", "1") "," FORGETS("d", "2") ");\n"
#define SQL(name, engine, more)                                                \
    "{name=\"" name "\";engine=\"" engine "\";user=\"u\";" more "}"

static const struct layout *layout_of(const struct config_topology *topology)
{
    return &topology->ha.pools[0].layout;
}

TEST(neighbours_count_in_windows_without_an_authority)
{
    const struct store_options *backends;
    const struct layout *layout;
    const struct config_topology *topology;

    topology = topology_of_text(BOTH PAIR KEY);
    layout = layout_of(topology);
    backends = topology->stores.backends;
    assert_true(layout->neighbours);
    assert_int_equal(layout->authority, -1);
    assert_true(layout_is_windowed(layout, 0, backends[0].ops));
    assert_true(layout_is_windowed(layout, 1, backends[1].ops));
    assert_int_equal(layout_lessor_count(layout, backends), 2);
    assert_int_equal(layout_lessor(layout, 0, backends), 0);
    assert_int_equal(layout_lessor(layout, 1, backends), 1);
}

/* The largest first window of a partition, which whoever leases it gives. */
static int64_t first_number(const char *text)
{
    const struct config_topology *topology = topology_of_text(text);
    const struct layout *layout = layout_of(topology);
    const int32_t lessors =
        layout_lessor_count(layout, topology->stores.backends);
    const int64_t window =
        ((int64_t)1 << layout_lessor_bits(lessors)) + lessors - 1;
    const int64_t number =
        layout_number(window << layout->window_bits, (1 << layout->bits) - 1,
                      layout->bits, topology->queue.sequences[0].memory_bits);

    return number;
}

TEST(first_numbers_are_small)
{
    if (backend_find("redis") == NULL)
        skip();
    assert_in_range(first_number(FOUR NEIGHBOURS(ALL_FOUR, "") KEY), 1, 99999);
    assert_in_range(first_number(THREE NEIGHBOURS(ALL_FOUR, "") KEY), 1, 99999);
    assert_in_range(first_number(PAIRS NEIGHBOURS(ALL_FOUR, "") KEY), 1, 99999);
}

/* The server's default of connections needs them. */
TEST(windows_of_a_memcached_are_larger)
{
    const struct config_topology *topology;

    if (backend_find("memcached") == NULL)
        skip();
    topology =
        topology_of_text("backends=(" SQLITE("a") "," SQLITE("b") "," SQLITE(
            "c") ",{name=\"d\";engine=\"memcached\";});\n" NEIGHBOURS(ALL_FOUR,
                                                                      "") KEY);
    assert_int_equal(layout_of(topology)->window_bits, 10);
}

TEST(windows_that_are_set_are_not_small)
{
    const struct config_topology *topology =
        topology_of_text(FOUR NEIGHBOURS(ALL_FOUR, "window_bits=20;") KEY);

    assert_int_equal(layout_of(topology)->window_bits, 20);
}

/* A store that may forget leases nothing, so that it has no index. */
TEST(only_direct_partitions_are_lessors)
{
    const struct store_options *backends;
    const struct layout *layout;
    const struct config_topology *topology;

    if (backend_find("redis") == NULL)
        skip();
    topology = topology_of_text("backends=(" REDIS("") "," SQLITE(
        "a") "," SQLITE("b") ",{name=\"s\";engine=\"redis\";port=1;});"
                             "\n" NEIGHBOURS("\"r\","
                                             "\"a\","
                                             "\"s\","
                                             "\"b\"",
                                             "") KEY);
    layout = layout_of(topology);
    backends = topology->stores.backends;
    assert_int_equal(layout_lessor_count(layout, backends), 2);
    assert_int_equal(layout_lessor(layout, 0, backends), 1);
    assert_int_equal(layout_lessor(layout, 1, backends), 3);
}

TEST(index_of_a_lessor_has_as_many_bits_as_it_needs)
{
    static const int32_t bits[] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4};

    for (size_t i = 0; i < COUNT_OF(bits); i++)
        assert_int_equal(layout_lessor_bits((int32_t)i), bits[i]);
    assert_int_equal(layout_lessor_bits(STORE_PARTITIONS_MAX), STORE_BITS_MAX);
}

TEST(snowflakes_may_stand_among_neighbours)
{
    (void)topology_of_text(
        BOTH PAIR "sequences=({key=\"id\";pool=\"p\";snowflake={};});\n");
}

TEST(none_is_as_if_it_were_left_out)
{
    const struct config_topology *topology =
        topology_of_text(BACKEND "pools=({name=\"p\";partitions=[\"a\"];"
                                 "authority=\"none\";});\n" KEY);

    assert_false(layout_of(topology)->neighbours);
    assert_int_equal(layout_of(topology)->authority, -1);
    topology_expect(BACKEND "pools=({name=\"p\";partitions=[\"a\"];"
                            "authority=\"none\";\nwindows=\"all\";});\n" KEY,
                    "t.conf:3: 'windows' = \"all\" needs an 'authority' that "
                    "leases them, such as an sqlite backend");
}

#define A          SQL("a", "mysql-row", "database=\"d\";")
#define B          SQL("b", "mysql-row", "database=\"d\";port=1;")
#define C          SQL("c", "postgres", "")
#define CELL(name) "{name=\"" name "\";engine=\"redis\";host=\"" name "\";}"
#define OF(partitions, more)                                                   \
    ");\npools=({name=\"p\";partitions=[" partitions "];" more "});\n"
#define ALL(more) OF("\"a\",\"b\",\"c\",\"d\"", more)

/* What puts back one of the servers leaves the others as they are. */
TEST(servers_are_neighbours_by_default)
{
    static const struct {
        const char *text;
        bool neighbours;
    } cases[] = {
        {A "," B "," C "," SQLITE("d") ALL("") KEY, true},
        {A "," B "," SQLITE("c") "," CELL("d") ALL("") KEY, true},
        /* With two, one that is down stops the other one. */
        {A "," B "," CELL("c") "," CELL("d") ALL("authority=\"a\";") KEY,
         false},
        {A "," B OF("\"a\",\"b\"", "") KEY, false},
        /* Two of the same server, or of the same machine's disk. */
        {A "," B "," C "," SQL("d", "mysql-row", "database=\"e\";port=1;")
             ALL("") KEY,
         false},
        {A "," B "," SQLITE("c") "," SQLITE("d") ALL("") KEY, false},
        {SQLITE("a") "," SQLITE("b") "," SQLITE("c") "," SQLITE("d") ALL("")
             KEY,
         false},
        /* The pool says otherwise. */
        {A "," B "," C "," SQLITE("d") ALL("authority=\"none\";") KEY, false},
        {A "," B "," C "," SQLITE("d") ALL("authority=\"b\";windows=\"all\";")
             KEY,
         false},
        {A "," B "," C "," SQLITE("d")
             ALL("") "sequences=({key=\"k\";snowflake={epoch=\"2020-01-01\";};}"
                     ");\n",
         false},
    };

    if (backend_find("mysql-row") == NULL || backend_find("postgres") == NULL ||
        backend_find("redis") == NULL)
        skip();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[2048];
        const struct config_topology *topology;

        assert_true(
            text_format(text, sizeof text, "backends=(%s", cases[i].text));
        topology = topology_of_text(text);
        if (layout_of(topology)->neighbours != cases[i].neighbours)
            fail_msg("%s", text);
    }
}

TEST(what_cannot_be_neighbours_is_refused)
{
    static const struct topology_wrong cases[] = {
        {BOTH PAIR KEY, ""},
        {BOTH NEIGHBOURS("\"a\",\"b\"", "failover_gap=0;") KEY, ""},
        {BACKEND NEIGHBOURS("\"a\"", "") KEY,
         "t.conf:3: 'authority' = \"neighbours\" needs 2 partitions or more "
         "that lease windows to each other, of the engines sqlite, mysql-row, "
         "mysql-autoinc, postgres or etcd, and the pool has 1: add one, or "
         "write the name of one backend, or \"none\" for direct counters "
         "alone"},
        {BOTH NEIGHBOURS("\"a\",\"b\"", "\nwindows=\"all\";") KEY,
         "t.conf:4: with 'authority' = \"neighbours\" every partition counts "
         "in windows: remove 'windows'"},
        {"backends=(" SQLITE(
             "a") ",{name=\"b\";engine=\"sqlite\";\npath=\"./a."
                  "db\";});\n"
                  "pools=({name=\"p\";partitions=[\"a\",\"b\"];authority="
                  "\"neighbours\";});\n" KEY,
         "t.conf:2: backend 'a' has the same file: /state/a.db"},
        {"backends=(" SQLITE("a") "," SQLITE("neighbours") ");\n" NEIGHBOURS(
             "\"a\",\"neighbours\"", "") KEY,
         "t.conf:3: 'authority' = \"neighbours\" does not mean the backend of "
         "that name: give the backend another name"},
        {BOTH NEIGHBOURS("\"a\",\"b\"",
                         "window_bits=40;") "sequences=({key=\"k\";memory_bits="
                                            "20;\nmax_unused=2000000;});\n",
         "t.conf:4: 1 partition bits + 20 memory bits + 41 window and lessor "
         "bits leave 1 of 63 bits for the window's number, at least 8 are "
         "needed: lower memory_bits or window_bits"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

/* Its numbers come of windows there, and of no table. */
TEST(auto_increment_tables_are_no_hindrance)
{
    if (backend_find("mysql-autoinc") == NULL)
        skip();
    topology_expect(
        "backends=(" SQL("l", "mysql-autoinc", "database=\"d\";") "," SQL(
            "m", "mysql-autoinc",
            "database=\"e\";") ");\n" NEIGHBOURS("\"l\",\"m\"",
                                                 "") "sequences=({key=\"k\";"
                                                     "period=\"day\";});\n",
        "");
}

#define ONE_STORE                                                              \
    "t.conf:3: backends 'm' and 'n' are one store, which cannot be its own "   \
    "neighbour: give one of them another server, or name one backend as the "  \
    "authority"

TEST(one_store_is_not_its_own_neighbour)
{
    static const struct topology_wrong cases[] = {
        {"backends=(" SQL("m", "mysql-row", "database=\"d\";") "," SQL(
             "n", "mysql-row",
             "database=\"d\";port=3306;") ");\n" NEIGHBOURS("\"m\",\"n\"", "")
             KEY,
         ONE_STORE},
        {"backends=(" SQL("m", "mysql-row", "database=\"d\";") "," SQL(
             "n", "mysql-row",
             "database=\"d\";port=3307;") ");\n" NEIGHBOURS("\"m\",\"n\"", "")
             KEY,
         ""},
        {"backends=(" SQL("m", "postgres", "") "," SQL(
             "n", "postgres", "") ");\n" NEIGHBOURS("\"m\",\"n\"", "") KEY,
         ONE_STORE},
    };

    if (backend_find("mysql-row") == NULL || backend_find("postgres") == NULL)
        skip();
    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(neighbours_of_one_server_are_warned_of)
{
    const struct config_topology *topology;
    const char *const *warnings;

    if (backend_find("mysql-row") == NULL)
        skip();
    topology = topology_of_text(
        "backends=(" SQL("m", "mysql-row", "database=\"d\";") "," SQL(
            "n", "mysql-row",
            "database=\"e\";") ");\n" NEIGHBOURS("\"m\",\"n\"", "") KEY);
    warnings = topology->warnings;
    assert_string_equal(
        warnings[0],
        "t.conf:3: backends 'm' and 'n' stand on one server: what puts back "
        "the server puts back both, and then the numbers of windows that only "
        "these two know of repeat: use neighbours on servers of their own");
    assert_null(warnings[1]);
}

TEST_BEFORE_ALL(topology_setup);
