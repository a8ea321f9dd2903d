/* SPDX-License-Identifier: Apache-2.0 */
/* What a topology may not say of periods, ids, snowflakes and the clock, with
 * the exact line that is told; and what it is warned of. */

#include <string.h>
#include <time.h>

#include "backends/backends.h"
#include "config/config.h"
#include "platform/text.h"
#include "support/script_clock.h"
#include "support/test.h"
#include "unit/topology_expect.h"

/* A sequence of one line, the third. */
#define SEQUENCE(more) "sequences=({key=\"k\";" more "});\n"
#define ONE(more)      BACKEND POOL SEQUENCE(more)
#define KEY_48         "a23456789-b23456789-c23456789-d23456789-e2345678"

/* The machine's own, which the library does not see here. */
static int64_t today_ms(void)
{
    return (int64_t)time(NULL) * 1000;
}

TEST(sound_periods_have_no_mistake)
{
    static const struct topology_wrong cases[] = {
        {ONE("period=\"none\";"), ""},
        {ONE("period=\"second\";time_zone=\"UTC\";keep_periods=2;"), ""},
        {ONE("period=\"week\";keep_periods=1000000;"), ""},
        {ONE("period=\"year\";year_starts=\"04-28\";"), ""},
        {ONE("period=\"quarter\";year_starts=\"12-01\";"), ""},
        {ONE("ids={};"), ""},
        {ONE("ids={};period=\"second\";time_zone=\"UTC\";"), ""},
        {ONE("ids={unit=\"day\";time=20;};period=\"day\";"
             "when_full=\"refuse\";"),
         ""},
        {ONE("memory_bits=11;ids={time=31;shard=0;};"), ""},
        {BACKEND POOL "auto_sequences={pattern=\"*\";period=\"hour\";};\n", ""},
        {BACKEND POOL "auto_sequences={pattern=\"*\";ids={};};\n", ""},
        {"broker={clock_store=\"a\";};" ONE("period=\"day\";"), ""},
        {BACKEND POOL "sequences=({key=\"" KEY_48 "\";period=\"day\";});\n",
         ""},
        {ONE("snowflake={};"), ""},
        {ONE("snowflake={worker_bits=1;counter_bits=21;lease=\"1s\";};"
             "warm=true;"
             "time_zone=\"UTC\";template=\"@{date}@{seq}\";"),
         ""},
        {"broker={datacenter=7;};" ONE("snowflake={datacenter_bits=3;"
                                       "worker_bits=7;};"),
         ""},
        {ONE("snowflake={worker_bits=2;counter_bits=10;};},{key=\"l\";"
             "js_safe=true;snowflake={worker_bits=2;counter_bits=10;};"),
         ""},
        {BACKEND POOL "auto_sequences={pattern=\"*\";snowflake={};};\n", ""},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(words_and_dates_are_checked)
{
    static const struct topology_wrong cases[] = {
        {ONE("period=\"fortnight\";"),
         "t.conf:3: 'period' is \"fortnight\", but must be one of none, "
         "second, minute, hour, day, week, month, quarter, year"},
        {ONE("period=\"day\";keep_periods=1;"),
         "t.conf:3: 'keep_periods' is 1, but must be 2 ... 1000000"},
        {ONE("period=\"year\";year_starts=\"02-29\";"),
         "t.conf:3: 'year_starts' is \"02-29\", but must be MM-DD, the day "
         "01 to 28"},
        {ONE("period=\"year\";year_starts=\"4-1\";"),
         "t.conf:3: 'year_starts' is \"4-1\", but must be MM-DD, the day 01 "
         "to 28"},
        {ONE("ids={epoch=\"1969-12-31\";};"),
         "t.conf:3: 'epoch' is \"1969-12-31\", but must be a date YYYY-MM-DD, "
         "from 1970 on"},
        {ONE("ids={epoch=\"2021-02-29\";};"),
         "t.conf:3: 'epoch' is \"2021-02-29\", but must be a date YYYY-MM-DD, "
         "from 1970 on"},
        {ONE("ids={epoch=\"2020-01-01T00\";};"),
         "t.conf:3: 'epoch' is \"2020-01-01T00\", but must be a date "
         "YYYY-MM-DD, from 1970 on"},
        {ONE("ids={epoch=\"2020-00-01\";};"),
         "t.conf:3: 'epoch' is \"2020-00-01\", but must be a date YYYY-MM-DD, "
         "from 1970 on"},
        {ONE("ids={epoch=2020;};"),
         "t.conf:3: 'epoch' must be a text in quotes, but is an integer"},
        {ONE("ids={unit=\"ms\";};"),
         "t.conf:3: 'unit' is \"ms\", but must be one of s, minute, hour, "
         "day"},
        {ONE("ids={};when_full=\"drop\";"),
         "t.conf:3: 'when_full' is \"drop\", but must be one of wait, refuse"},
        {"broker={on_rollback=\"jump\";\nmax_rollback=\"2d\";\n"
         "max_ahead=\"999ms\";};\n" ONE(""),
         "t.conf:1: 'on_rollback' is \"jump\", but must be one of hold, wait, "
         "refuse\n"
         "t.conf:2: 'max_rollback' is \"2d\", but must be 1s ... 1d\n"
         "t.conf:3: 'max_ahead' is \"999ms\", but must be 1s ... 5m"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(ids_are_a_group_of_their_own)
{
    static const struct topology_wrong cases[] = {
        {ONE("\nids={\ntim=32;};"), "t.conf:5: unknown setting 'tim' in ids: "
                                    "did you mean 'time'?"},
        {ONE("ids=5;"), "t.conf:3: 'ids' must be a group: ids = { ... };"},
        {ONE("ids=({});"), "t.conf:3: 'ids' must be a group: ids = { ... };"},
        {ONE("id={};"), "t.conf:3: unknown setting 'id' in sequences: did you "
                        "mean 'ids'?"},
        {ONE("") "ids={};\n", "t.conf:4: unknown section 'ids'"},
        {ONE("ids={\ntime=0;\nshard=-1;\ncounter=63;};"),
         "t.conf:4: 'time' is 0, but must be 1 ... 62\n"
         "t.conf:5: 'shard' is -1, but must be 0 ... 61\n"
         "t.conf:6: 'counter' is 63, but must be 1 ... 62"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(settings_of_periods_need_one)
{
    static const struct topology_wrong cases[] = {
        {ONE("time_zone=\"UTC\";\nkeep_periods=3;\nyear_starts=\"04-01\";"),
         "t.conf:3: 'time_zone' is of no use without a period: add period = "
         "\"day\" or another, or remove it\n"
         "t.conf:4: 'keep_periods' is of no use without a period: add period "
         "= \"day\" or another, or remove it\n"
         "t.conf:5: 'year_starts' is of no use without a period: add period = "
         "\"day\" or another, or remove it"},
        {ONE("period=\"none\";keep_periods=3;"),
         "t.conf:3: 'keep_periods' is of no use without a period: add period "
         "= \"day\" or another, or remove it"},
        {ONE("period=\"month\";year_starts=\"04-01\";"),
         "t.conf:3: 'year_starts' is for a period of a year or a quarter, not "
         "of a month: remove it"},
        {ONE("period=\"day\";when_full=\"wait\";"),
         "t.conf:3: 'when_full' needs 'ids' beside it: other numbers never "
         "fill up a period"},
        {ONE("period=\"day\";\nids={};"),
         "t.conf:3: 'period' is \"day\", but 'ids' of unit \"s\" have the "
         "period \"second\": remove 'period'"},
        {ONE("period=\"none\";ids={unit=\"hour\";};"),
         "t.conf:3: 'period' is \"none\", but 'ids' of unit \"hour\" have the "
         "period \"hour\": remove 'period'"},
        {ONE("ids={};time_zone=\"Europe/Berlin\";"),
         "t.conf:3: 'time_zone' and 'ids' exclude each other: the time in ids "
         "is UTC"},
        {ONE("ids={};year_starts=\"04-01\";"),
         "t.conf:3: 'year_starts' is for a period of a year or a quarter, not "
         "of a second: remove it"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(keys_leave_room_for_the_stamp)
{
    topology_expect(
        BACKEND POOL "sequences=({key=\"" KEY_48 "9\";\nperiod=\"day\";});\n",
        "t.conf:3: the key has 49 characters, but with a period it may have "
        "48: counters have the stamp in their names");
    topology_expect(BACKEND POOL "sequences=({key=\"" KEY_48 "9\";});\n", "");
}

TEST(snowflake_has_no_period_beside_it)
{
    topology_expect(
        ONE("snowflake={worker_bits=20;};\nperiod=\"day\";"),
        "t.conf:3: the time's 31 bits since 2020-01-01 are over on 2020-01-25, "
        "less than a year from now or past: lower 'worker_bits', "
        "'counter_bits' or 'datacenter_bits' or take a later 'epoch'\n"
        "t.conf:4: 'period' is of no use beside 'snowflake', whose numbers are "
        "made of the time when they are taken: remove one of them");
}

TEST(ids_whose_bits_do_not_fit_show_the_arithmetic)
{
    static const struct topology_wrong cases[] = {
        {ONE("ids={time=40;\nshard=12;\ncounter=19;};"),
         "t.conf:3: 'time' = 40, 'shard' = 12 and 'counter' = 19 are 71 bits, "
         "but a number has 63: lower them by 8 in all"},
        {ONE("memory_bits=12;\nids={};"),
         "t.conf:4: ids: 0 partition bits + 12 memory bits leave 7 of the "
         "counter's 19 bits for what counts in the stores, at least 8 are "
         "needed: lower memory_bits or raise 'counter'"},
        {WINDOWED SEQUENCE("memory_bits=0;ids={shard=2;\ncounter=27;};"),
         "t.conf:4: ids: 0 partition bits + 0 memory bits + 20 window bits "
         "leave 7 of the counter's 27 bits for the window's number, at least "
         "8 are needed: lower memory_bits or window_bits, or raise "
         "'counter'"},
        {WINDOWED SEQUENCE("memory_bits=0;ids={shard=2;counter=28;};"), ""},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(snowflakes_have_rules_of_their_own)
{
    static const struct topology_wrong cases[] = {
        {ONE("\nmemory_bits=3;snowflake={};"),
         "t.conf:4: 'memory_bits' is of no use beside 'snowflake', whose "
         "numbers are made of the time when they are taken: remove one of "
         "them"},
        {ONE("snowflake={};\nidle_after=\"5m\";"),
         "t.conf:4: 'idle_after' is of no use beside 'snowflake', whose "
         "numbers are made of the time when they are taken: remove one of "
         "them"},
        {ONE("snowflake={worker_bits=30;counter_bits=40;};"),
         "t.conf:3: 'datacenter_bits' + 'worker_bits' + 'counter_bits' are 70 "
         "of 63 bits, and leave none for the time: lower 'worker_bits', "
         "'counter_bits' or 'datacenter_bits'"},
        {ONE("snowflake={epoch=\"2999-12-31\";};"),
         "t.conf:3: 'epoch' is 2999-12-31, which is yet to come: ids hold the "
         "time since then"},
        {ONE("snowflake={time_bits=41;};"),
         "t.conf:3: unknown setting 'time_bits' in snowflake"},
        {ONE("snowflake={\ndatacenter_bits=3;};"),
         "t.conf:4: 'datacenter_bits' needs the number of this site: add "
         "'datacenter' to the broker"},
        {"broker={datacenter=8;};" ONE("snowflake={datacenter_bits=3;};"),
         "t.conf:1: 'datacenter' is 8, but 3 'datacenter_bits' hold 0 ... 7: "
         "raise them or lower it"},
        {ONE("snowflake={};},{key=\"l\";\nsnowflake={counter_bits=11;};"),
         "t.conf:4: the snowflakes of a pool share one worker id and one "
         "count, so that 'epoch', 'lease' and bits must be those of sequence "
         "'k': put them right, or use another pool"},
        {"backends=({name=\"a\";\nengine=\"snowflake\";});\n" POOL KEY,
         "t.conf:2: there is no engine 'snowflake' any more: a snowflake is a "
         "kind of sequence: remove the backend, and write snowflake = { "
         "worker_bits = 10; counter_bits = 12; }; in the sequence, see "
         "time.md"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(clock_is_kept_in_a_direct_backend_of_a_pool)
{
    static const struct topology_wrong cases[] = {
        {"broker={clock_store=\"b\";};\n" ONE(""),
         "t.conf:1: there is no backend 'b': add it to backends or remove it "
         "here"},
        {"broker={clock_store=\"r\";};" WINDOWED KEY,
         "t.conf:1: backend 'r' cannot keep the clock: engine redis may "
         "forget; name one that is direct, such as sqlite"},
        {"broker={clock_store=\"b\";};backends=(" SQLITE("a") "," SQLITE(
             "b") ");\n" POOL KEY,
         "t.conf:1: no pool uses the backend 'b': add it to a pool's "
         "partitions, make it an authority, or remove it"},
    };

    topology_expect_all(cases, COUNT_OF(cases));
}

TEST(zones_that_are_none_are_told_at_their_lines)
{
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};
    const struct config_request request = {.path = "t.conf"};

    assert_int_equal(
        config_open_text(&request,
                         ONE("period=\"day\";\ntime_zone=\"Atlantis/Poseidon\""
                             ";},{key=\"l\";nothing=1;"),
                         &config, &error),
        SEQB_CONFIG);
    assert_null(config);
    assert_memory_equal(error.text, "t.conf:4: ", 10);
    assert_non_null(strstr(error.text, "Atlantis/Poseidon"));
    assert_non_null(strstr(error.text, "unknown setting 'nothing'"));
}

/* --- how long the time lasts --- */

#define DAY_S   INT64_C(86400)
#define YEARS_S (365 * DAY_S)

/* An epoch so that `bits` of seconds end in `left_s` from now. */
static void write_epoch(int bits, int64_t left_s, char *out, size_t size)
{
    const time_t epoch = time(NULL) + left_s - ((time_t)1 << bits);
    struct tm day;

    assert_non_null(gmtime_r(&epoch, &day));
    assert_true(strftime(out, size, "%Y-%m-%d", &day) > 0);
}

static void keep_lines(const char *const *lines, char out[1024])
{
    for (; *lines != NULL; lines++)
        assert_true(text_append(out, 1024, "%s", *lines));
}

/* What is told of ids whose time of 30 bits ends then. */
static void try_end(int64_t left_s, enum seqb_status expected, char *warnings,
                    struct seqb_error *error)
{
    const struct config_request request = {.path = "t.conf"};
    struct config *config = NULL;
    char epoch[16];
    char text[512];

    *warnings = '\0';
    write_epoch(30, left_s, epoch, sizeof epoch);
    assert_true(text_format(text, sizeof text,
                            BACKEND POOL "sequences=({key=\"k\";ids={\n"
                                         "time=30;epoch=\"%s\";};});\n",
                            epoch));
    assert_int_equal(config_open_text(&request, text, &config, error),
                     expected);
    if (config != NULL)
        keep_lines(config_topology(config)->warnings, warnings);
    config_close(config);
}

TEST(time_that_ends_soon_is_a_mistake_or_a_warning)
{
    struct seqb_error error = {.text = ""};
    char warnings[1024];

    try_end(-3 * YEARS_S, SEQB_CONFIG, warnings, &error);
    assert_memory_equal(error.text, "t.conf:4: 'time' = 30 bits since ", 33);
    assert_non_null(strstr(error.text, "less than a year from now or past"));
    try_end(YEARS_S - 7 * DAY_S, SEQB_CONFIG, warnings, &error);
    try_end(YEARS_S + 7 * DAY_S, SEQB_OK, warnings, &error);
    assert_memory_equal(warnings, "t.conf:4: 'time' = 30 bits since ", 33);
    assert_non_null(strstr(warnings, "no number can be given from then on"));
    try_end(10 * YEARS_S - 7 * DAY_S, SEQB_OK, warnings, &error);
    assert_int_not_equal(*warnings, '\0');
    try_end(10 * YEARS_S + 7 * DAY_S, SEQB_OK, warnings, &error);
    assert_string_equal(warnings, "");
}

TEST(epochs_of_ids_have_begun)
{
    topology_expect(ONE("ids={\nepoch=\"2999-01-01\";};"),
                    "t.conf:4: 'epoch' is 2999-01-01, which is yet to come: "
                    "ids hold the time since then");
    topology_expect(ONE("ids={epoch=\"1970-01-01\";time=62;shard=0;\n"
                        "counter=1;};"),
                    "t.conf:4: ids: 0 partition bits + 3 memory bits leave -2 "
                    "of the counter's 1 bits for what counts in the stores, "
                    "at least 8 are needed: lower memory_bits or raise "
                    "'counter'");
}

/* It is for the guarded clock to tell, at the start. */
TEST(clock_that_is_not_set_is_no_measure_of_an_epoch)
{
    script_clock_set(12000);
    topology_expect(ONE("ids={};"), "");
    script_clock_run(today_ms());
}

static int setup_of_today(void **state)
{
    script_clock_run(today_ms());
    return topology_setup(state);
}

TEST_BEFORE_ALL(setup_of_today);
