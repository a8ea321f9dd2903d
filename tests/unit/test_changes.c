/* SPDX-License-Identifier: Apache-2.0 */
/* Two topologies compared: what differs, what each difference needs, and what
 * the settings are once a reload has applied what it may. */
#include <string.h>

#include "config/settings/settings.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

#define LINES_SIZE 4096

/* Lines of what was told. */
struct probe_log {
    char text[LINES_SIZE];
};

static void tell_change(void *context, const struct seqb_reload_change *change)
{
    struct probe_log *told = context;

    assert_true(text_append(told->text, sizeof told->text,
                            "%s: %s '%s' -> '%s'\n",
                            seqb_reload_need_name(change->need), change->path,
                            change->before, change->after));
}

static struct config *open_sound(const char *text)
{
    const struct config_request request = {.path = "t.conf"};
    struct config *config = NULL;
    struct seqb_error err = {.text = ""};

    assert_done(config_open_text(&request, text, &config, &err), err);
    return config;
}

static struct config_changes *compare(const struct config *runs,
                                      struct config *next)
{
    struct config_changes *changes = NULL;

    assert_ok(config_compare(runs, next, &changes, NULL));
    return changes;
}

static void expect_changes(const char *before, const char *after,
                           const char *lines)
{
    struct config *runs = open_sound(before);
    struct config *next = open_sound(after);
    struct probe_log told = {.text = ""};

    config_report_changes(compare(runs, next), tell_change, &told);
    assert_string_equal(told.text, lines);
    config_close(next);
    config_close(runs);
}

TEST_BEFORE_ALL(topology_setup);

TEST(topology_does_not_differ_from_itself)
{
    static const char text[] =
        BACKEND POOL "sequences=({key=\"k\";ids={};},{key=\"l\";});\n"
                     "auto_sequences={pattern=\"x*\";};\n"
                     "daemon={listen=[\"127.0.0.1:1\"];};\n";

    expect_changes(text, text, "");
}

TEST(default_that_is_written_out_is_no_change)
{
    expect_changes(
        BACKEND POOL KEY,
        "broker={interval=\"20ms\";};\n" BACKEND
        "pools=({name=\"p\";partitions=[\"a\"];slow_window=\"60s\";"
        "rescue_after=\"5m\";});\n"
        "sequences=({key=\"k\";memory_bits=3;deadline=\"1000ms\";});",
        "");
}

TEST(what_may_change_at_once_needs_nothing)
{
    expect_changes(BACKEND POOL KEY,
                   BACKEND
                   "pools=({name=\"p\";partitions=[\"a\"];timeout=\"9ms\";});\n"
                   "sequences=({key=\"k\";deadline=\"2s\";prefetch=false;});\n"
                   "daemon={alarm_level=\"error\";log_level=\"debug\";};\n",
                   "nothing: pools.p.timeout '200ms' -> '9ms'\n"
                   "nothing: sequences.k.deadline '1s' -> '2s'\n"
                   "nothing: sequences.k.prefetch 'true' -> 'false'\n"
                   "nothing: daemon.alarm_level 'warn' -> 'error'\n"
                   "nothing: daemon.log_level 'info' -> 'debug'\n");
}

TEST(failover_gap_is_raised_at_once_and_lowered_by_a_restart)
{
    static const char high[] = BACKEND
        "pools=({name=\"p\";partitions=[\"a\"];failover_gap=10000000;});\n" KEY;

    expect_changes(BACKEND POOL KEY, high,
                   "nothing: pools.p.failover_gap '1000000' -> '10000000'\n");
    expect_changes(high, BACKEND POOL KEY,
                   "restart: pools.p.failover_gap '10000000' -> '1000000'\n");
}

TEST(setting_that_is_taken_back_changes_to_its_default)
{
    expect_changes(BACKEND POOL "sequences=({key=\"k\";deadline=\"2s\";});\n"
                                "daemon={on_event=\"/a\";};\n",
                   BACKEND POOL KEY,
                   "nothing: sequences.k.deadline '2s' -> '1s'\n"
                   "nothing: daemon.on_event '/a' -> ''\n");
}

TEST(layout_is_refused)
{
    expect_changes(BACKEND POOL KEY,
                   "backends=(" SQLITE("a") "," SQLITE(
                       "b") ");\n"
                            "pools=({name=\"p\";partitions=[\"a\",\"b\"];});\n"
                            "sequences=({key=\"k\";memory_bits=4;template=\"@{"
                            "seq}\";});\n",
                   "restart: backends.b '' -> 'present'\n"
                   "refused: pools.p.partitions 'a' -> 'a, b'\n"
                   "refused: sequences.k.memory_bits '3' -> '4'\n"
                   "refused: sequences.k.template '' -> '@{seq}'\n");
}

TEST(group_of_ids_that_comes_to_a_sequence_is_refused)
{
    expect_changes(BACKEND POOL KEY,
                   BACKEND POOL "sequences=({key=\"k\";ids={};});\n",
                   "refused: sequences.k.period 'none' -> 'second'\n"
                   "refused: sequences.k.ids '' -> 'present'\n");
}

TEST(addresses_of_the_daemon_need_a_restart)
{
    expect_changes(BACKEND POOL KEY,
                   BACKEND POOL KEY "broker={name=\"other\";};\n"
                                    "daemon={http=\"127.0.0.1:1\";};\n",
                   "restart: broker.name 'seqbroker' -> 'other'\n"
                   "restart: daemon.http '' -> '127.0.0.1:1'\n");
}

TEST(sequences_come_and_go)
{
    expect_changes(
        BACKEND POOL "sequences=({key=\"a\";},{key=\"b\";},{key=\"c\";});\n",
        BACKEND POOL "sequences=({key=\"c\";},{key=\"a\";},{key=\"d\";});\n",
        "nothing: sequences.d '' -> 'present'\n"
        "nothing: sequences.b 'present' -> ''\n");
}

TEST(sequence_that_needs_what_the_broker_does_not_have_needs_a_restart)
{
    expect_changes(BACKEND POOL KEY,
                   BACKEND POOL "sequences=({key=\"k\";},{key=\"day\";period="
                                "\"day\";},{key=\"flake\";snowflake={};});\n",
                   "restart: sequences.day '' -> 'present'\n"
                   "restart: sequences.flake '' -> 'present'\n");
    expect_changes(BACKEND POOL "sequences=({key=\"k\";period=\"day\";});\n",
                   BACKEND POOL "sequences=({key=\"k\";period=\"day\";},"
                                "{key=\"day\";period=\"day\";});\n",
                   "nothing: sequences.day '' -> 'present'\n");
}

TEST(pool_that_comes_takes_its_sequences_along)
{
    expect_changes(
        BACKEND POOL KEY,
        "backends=(" SQLITE("a") "," SQLITE(
            "b") ");\n"
                 "pools=({name=\"q\";partitions=[\"b\"];},{name=\"p\";"
                 "partitions=[\"a\"];});\n"
                 "sequences=({key=\"k\";pool=\"p\";},{key=\"l\";pool=\"q\";},"
                 "{key=\"m\";pool=\"p\";});\n",
        "restart: backends.b '' -> 'present'\n"
        "restart: pools.q '' -> 'present'\n"
        "restart: sequences.l '' -> 'present'\n"
        "nothing: sequences.m '' -> 'present'\n");
}

#define LOGIN(words) "backends=({name=\"a\";engine=\"postgres\";" words "});\n"

TEST(secret_that_changes_is_told_without_it)
{
    expect_changes(LOGIN("password=\"swordfish\";") POOL KEY,
                   LOGIN("password=\"sturgeon\";host=\"db2\";") POOL KEY,
                   "nothing: backends.a.host '127.0.0.1' -> 'db2'\n"
                   "nothing: backends.a.password '***' -> '***'\n");
}

static void expect_refusal(const char *before, const char *after,
                           const char *words)
{
    struct config *runs = open_sound(before);
    struct config *next = open_sound(after);
    struct seqb_error err = {.text = ""};

    assert_status(config_allow(compare(runs, next), &err), SEQB_LAYOUT);
    assert_string_equal(err.text, words);
    config_close(next);
    config_close(runs);
}

TEST(refusal_says_what_and_what_to_do)
{
    expect_refusal(
        BACKEND POOL KEY,
        BACKEND POOL "sequences=({key=\"k\";memory_bits=4;js_safe=true;});\n",
        "sequences.k.memory_bits cannot change from '3' to '4' while the "
        "broker runs; nothing was applied: numbers would get another meaning: "
        "seqctl migrate, or a new sequence");
    expect_refusal(
        BACKEND POOL "sequences=({key=\"k\";template=\"A@{seq}\";});\n",
        BACKEND POOL "sequences=({key=\"k\";template=\"B@{date}@{seq}\";"
                     "period=\"day\";});\n",
        "2 changes are refused while the broker runs, and nothing was applied: "
        "sequences.k.period from 'none' to 'day' (numbers would get another "
        "meaning: seqctl migrate, or a new sequence); sequences.k.template "
        "from 'A@{seq}' to 'B@{date}@{seq}' (the numbers are counted "
        "otherwise: begin a new sequence; or restart if docs/numbers.md calls "
        "the change safe)");
}

/* --- what is kept --- */

static void tell_setting(void *context, const struct seqb_setting_value *value)
{
    struct probe_log *told = context;

    if (strstr(value->path, "name") == NULL && !value->is_default)
        assert_true(text_append(told->text, sizeof told->text, "%s=%s\n",
                                value->path, value->value));
}

static void tell_all(const struct config *config, struct probe_log *told)
{
    struct seqb_settings_part all = {.count = SIZE_MAX};

    config_visit(config, &all, tell_setting, told);
}

/* A reload from one to the next; returns what then runs. */
static struct config *reload(struct config *runs, const char *text,
                             const int32_t *pools)
{
    struct config *next = open_sound(text);
    const struct config_kept kept = {.changes = compare(runs, next),
                                     .queue = &config_topology(runs)->queue,
                                     .pools = pools};

    assert_ok(config_keep(next, &kept, NULL));
    return next;
}

TEST(what_needs_a_restart_stays_and_is_told_again)
{
    static const int32_t pools[] = {-1, 0};
    static const char after[] =
        "broker={spool=false;interval=\"1s\";};\n"
        "backends=(" SQLITE("a") "," SQLITE(
            "b") ");\n"
                 "pools=({name=\"q\";partitions=[\"b\"];},{name=\"p\";"
                 "partitions=[\"a\"];});\n"
                 "sequences=({key=\"l\";pool=\"q\";},{key=\"k\";pool=\"p\";"
                 "js_safe=true;});\n"
                 "daemon={socket=[];};\n";
    struct config *first =
        open_sound(BACKEND POOL KEY "daemon={http=\"127.0.0.1:1\";};\n");
    struct config *next = reload(first, after, pools);
    const struct queue_options *queue = &config_topology(next)->queue;
    struct probe_log told = {.text = ""};
    struct probe_log again = {.text = ""};
    struct config *third = open_sound(after);

    tell_all(next, &told);
    assert_string_equal(told.text, "broker.interval=1s\n"
                                   "backends.a.engine=sqlite\n"
                                   "backends.a.path=a.db\n"
                                   "pools.p.partitions=a\n"
                                   "sequences.k.key=k\n"
                                   "sequences.k.pool=p\n"
                                   "daemon.http=127.0.0.1:1\n");
    assert_int_equal(queue->sequence_count, 1);
    assert_string_equal(queue->sequences[0].key, "k");
    assert_int_equal(queue->sequences[0].pool, 0);
    config_report_changes(compare(next, third), tell_change, &again);
    assert_string_equal(again.text,
                        "restart: broker.spool 'true' -> 'false'\n"
                        "restart: backends.b '' -> 'present'\n"
                        "restart: pools.q '' -> 'present'\n"
                        "restart: sequences.l '' -> 'present'\n"
                        "restart: sequences.k.js_safe 'false' -> 'true'\n"
                        "restart: daemon.socket '' -> ''\n"
                        "restart: daemon.http '127.0.0.1:1' -> ''\n");
    config_close(third);
    config_close(next);
    config_close(first);
}

TEST(pool_that_went_stays_until_a_restart)
{
    static const int32_t pools[] = {0};
    struct config *first = open_sound("backends=(" SQLITE("a") "," SQLITE(
        "b") ");\n"
             "pools=({name=\"p\";partitions=[\"a\"];},{name=\"q\";"
             "partitions=[\"b\"];timeout=\"5ms\";});\n"
             "sequences=({key=\"k\";pool=\"p\";},{key=\"l\";pool=\"q\";});"
             "\n");
    struct config *next = reload(first, BACKEND POOL KEY, pools);
    struct probe_log told = {.text = ""};

    config_close(first); /* what is kept is a copy */
    tell_all(next, &told);
    assert_string_equal(told.text, "backends.a.engine=sqlite\n"
                                   "backends.a.path=a.db\n"
                                   "backends.b.engine=sqlite\n"
                                   "backends.b.path=b.db\n"
                                   "pools.p.partitions=a\n"
                                   "pools.q.partitions=b\n"
                                   "pools.q.timeout=5ms\n"
                                   "sequences.k.key=k\n");
    config_close(next);
}

TEST(each_of_like_sequences_keeps_its_own_value)
{
    static const int32_t pools[] = {0};
    struct config *first =
        open_sound(BACKEND POOL "sequences=({key=\"k\";},"
                                "{key=\"l\";js_safe=true;},"
                                "{key=\"m\";js_safe=true;});\n");
    struct config *next =
        reload(first,
               BACKEND POOL
               "sequences=({key=\"k\";pool=\"p\";js_safe=true;warm=true;},"
               "{key=\"l\";pool=\"p\";js_safe=true;warm=true;},"
               "{key=\"m\";pool=\"p\";js_safe=true;warm=true;});\n",
               pools);
    struct probe_log told = {.text = ""};

    tell_all(next, &told);
    assert_string_equal(told.text, "backends.a.engine=sqlite\n"
                                   "backends.a.path=a.db\n"
                                   "pools.p.partitions=a\n"
                                   "sequences.k.key=k\n"
                                   "sequences.k.pool=p\n"
                                   "sequences.k.warm=true\n"
                                   "sequences.l.key=l\n"
                                   "sequences.l.pool=p\n"
                                   "sequences.l.js_safe=true\n"
                                   "sequences.l.warm=true\n"
                                   "sequences.m.key=m\n"
                                   "sequences.m.pool=p\n"
                                   "sequences.m.js_safe=true\n"
                                   "sequences.m.warm=true\n");
    config_close(next);
    config_close(first);
}

/* --- the table --- */

TEST(each_setting_needs_something_and_new_ones_a_restart)
{
    assert_int_equal(seqb_setting_need("pools", "timeout"),
                     SEQB_RELOAD_NOTHING);
    assert_int_equal(seqb_setting_need("pools", "partitions"),
                     SEQB_RELOAD_REFUSED);
    assert_int_equal(seqb_setting_need("daemon", "listen"),
                     SEQB_RELOAD_RESTART);
    assert_int_equal(seqb_setting_need("daemon", "no such setting"),
                     SEQB_RELOAD_RESTART);
    assert_string_equal(seqb_reload_need_name(SEQB_RELOAD_REFUSED), "refused");
    assert_string_equal(seqb_reload_need_name((enum seqb_reload_need)77),
                        "unknown");
}
