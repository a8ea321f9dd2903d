/* SPDX-License-Identifier: Apache-2.0 */
/* What a topology says of the windows of one sequence: whether there are any,
 * whether bits are left, and how many numbers they leave a width. */

#include "config/config.h"
#include "support/test.h"
#include "unit/topology_expect.h"

#define SEQUENCE(more) "sequences=({key=\"k\";" more "});\n"
#define ONE(more)      BACKEND POOL SEQUENCE(more)
#define NEEDED                                                                 \
    " bits for the window's number, at least 8 are needed: lower memory_bits " \
    "or window_bits"
#define DENSE                                                                  \
    "use a dense pool: one partition of a direct engine, memory_bits = 0"

TEST(windows_of_a_sequence_are_checked)
{
    static const struct topology_wrong cases[] = {
        {WINDOWED SEQUENCE("window_bits=8;"), ""},
        {WINDOWED "auto_sequences={pattern=\"*\";window_bits=40;};\n", ""},
        {WINDOWED SEQUENCE("js_safe=true;memory_bits=5;window_bits=40;"), ""},
        {WINDOWED SEQUENCE("\njs_safe=true;\nmemory_bits=6;window_bits=40;"),
         "t.conf:5: 0 partition bits + 6 memory bits + 40 window bits leave 7 "
         "of 53" NEEDED},
        {WINDOWED SEQUENCE("\nwindow_bits=7;"),
         "t.conf:4: 'window_bits' is 7, but must be 8 ... 40"},
        {ONE("\nwindow_bits=8;"),
         "t.conf:4: 'window_bits' is of no use: no partition of the pool "
         "counts in windows: remove it"},
        {WINDOWED SEQUENCE("\nwindow_bits=8;snowflake={};"),
         "t.conf:4: 'window_bits' is of no use beside 'snowflake', whose "
         "numbers are made of the time when they are taken: remove one of "
         "them"},
        /* Those of the pool would leave 7 bits. */
        {WINDOWED SEQUENCE("memory_bits=0;window_bits=19;"
                           "ids={shard=2;counter=27;};"),
         ""},
        {WINDOWED SEQUENCE("memory_bits=0;window_bits=21;"
                           "ids={shard=2;\ncounter=28;};"),
         "t.conf:4: ids: 0 partition bits + 0 memory bits + 21 window bits "
         "leave 7 of the counter's 28" NEEDED ", or raise 'counter'"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

/* 0 is the pool's, whatever those are. */
TEST(options_have_what_the_settings_say)
{
    const struct queue_options *queue =
        &topology_of_text(WINDOWED SEQUENCE("") //
                          "auto_sequences={pattern=\"*\";window_bits=8;};\n")
             ->queue;

    assert_int_equal(queue->sequences[0].window_bits, 0);
    assert_int_equal(queue->automatic->window_bits, 8);
}

/* --- files beside servers --- */

#define FILE_BESIDE                                                            \
    " is a file beside servers: brokers of other machines "                    \
    "would have files of their own, and give the same numbers while they "     \
    "reach no server: use this topology on one machine, or a server instead "  \
    "of the file"

#define FOUR(more)                                                             \
    "backends=(" SQLITE("a") "," SQLITE(                                       \
        "b") ",{name=\"r\";engine=\"redis\";port=1;},{name=\"s\";engine="      \
             "\"redis\";port=2;});\n"                                          \
             "pools=({name=\"p\";partitions=[\"a\",\"b\",\"r\",\"s\"];" more   \
             "});\n"
#define AUTHORITY FOUR("authority=\"a\";failover_gap=100;")
#define FILES                                                                  \
    "backends=(" SQLITE("a") "," SQLITE(                                       \
        "b") ");\n"                                                            \
             "pools=({name=\"p\";partitions=[\"a\",\"b\"];});\n"

TEST(direct_file_beside_servers_is_warned_of)
{
    static const struct {
        const char *text;
        const char *warnings;
    } rows[] = {
        {FILES SEQUENCE(""), ""},
        {WINDOWED SEQUENCE(""), ""}, /* the file is no partition */
        {FOUR("authority=\"neighbours\";") SEQUENCE(""), ""},
        {FOUR("authority=\"b\";windows=\"all\";") SEQUENCE(""),
         "t.conf:2: partition 'b'" FILE_BESIDE},
        {AUTHORITY SEQUENCE(""), "t.conf:2: partition 'a'" FILE_BESIDE},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        topology_expect_notes(rows[i].text, "", rows[i].warnings);
}

/* --- widths --- */

#define FIVE    "template=\"@{date}@{seq, width=5}\";period=\"day\";"
#define WARNING "t.conf:3: sequence 'k': "
#define FIT     "t.conf:3: sequence 'k': 99,999 numbers a day fit its width, "
#define OWN(own, pool)                                                         \
    "t.conf:3: sequence 'k': its windows are of 2^" own                        \
    " values, those of pool 'p' of 2^" pool

TEST(windows_of_a_sequence_are_told_of)
{
    static const struct {
        const char *text;
        const char *notes;
        const char *warnings;
    } rows[] = {
        {WINDOWED SEQUENCE("window_bits=20;"), "", ""},
        {WINDOWED SEQUENCE("window_bits=16;"), OWN("16", "20"), ""},
        /* The first windows of 2^20 begin beyond five digits. */
        {AUTHORITY SEQUENCE(FIVE), FIT "of which pool 'p' can give 49,984",
         "t.conf:2: partition 'a'" FILE_BESIDE "\n" WARNING
         "the windowed partitions of pool 'p' can give none: their "
         "windows of 2^20 begin beyond it: lower window_bits, or " DENSE},
        {AUTHORITY SEQUENCE(FIVE "window_bits=8;"),
         OWN("8", "20") "\n" FIT "of which pool 'p' can give 95,888",
         "t.conf:2: partition 'a'" FILE_BESIDE "\n" WARNING
         "pool 'p' can give 95,888 of the 99,999 numbers a day that "
         "fit its width: to have all of them, " DENSE "\n" WARNING
         "it has room for 12 leases of windows of 2^8 in pool 'p', and "
         "an authority whose store changed skips 16 each time: lower "
         "window_bits or memory_bits"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        topology_expect_notes(rows[i].text, rows[i].notes, rows[i].warnings);
}

TEST_BEFORE_ALL(topology_setup);
