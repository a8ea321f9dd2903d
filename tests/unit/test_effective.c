/* SPDX-License-Identifier: Apache-2.0 */
/* The settings that a topology comes to: what it says, what follows, defaults,
 * and what must not be shown. */
#include <string.h>

#include "config/build/build.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

#define SECRET "swordfish"

/* All of them, a line each: "path = value", and " (default)". */
struct probe_log {
    char text[32768];
};

static void tell(void *context, const struct seqb_setting_value *setting)
{
    struct probe_log *told = context;

    assert_true(text_append(told->text, sizeof told->text, "%s = %s%s\n",
                            setting->path, setting->value,
                            setting->is_default ? " (default)" : ""));
}

static const struct probe_log *settings_of(const char *text)
{
    static struct probe_log told;
    const struct config_request request = {.path = "t.conf"};
    struct seqb_settings_part all = {.count = SIZE_MAX};
    struct config *config = NULL;
    struct seqb_error err = {.text = ""};

    assert_done(config_open_text(&request, text, &config, &err), err);
    told = (struct probe_log){.text = "\n"};
    config_visit(config, &all, tell, &told);
    config_close(config);
    return &told;
}

/* A whole line. */
static void expect(const struct probe_log *told, const char *line)
{
    char lined[512];

    assert_true(text_format(lined, sizeof lined, "\n%s\n", line));
    if (strstr(told->text, lined) == NULL)
        fail_msg("no \"%s\" in:%s", line, told->text);
}

static void expect_no(const struct probe_log *told, const char *part)
{
    if (strstr(told->text, part) != NULL)
        fail_msg("\"%s\" in:%s", part, told->text);
}

TEST_BEFORE_ALL(topology_setup);

TEST(what_is_given_is_told_as_it_is_written)
{
    const struct probe_log *told = settings_of(
        "broker={name=\"b\";interval=\"500ms\";spool=false;};\n"
        "backends=(" SQLITE("a") "," SQLITE(
            "c") ");\n"
                 "pools=({name=\"p\";partitions=[\"a\",\"c\"];rescue_after="
                 "\"1d\";});\n"
                 "sequences=({key=\"x.y\";memory_bits=5;period=\"day\";});\n"
                 "daemon={listen=[\"127.0.0.1:1\",\"[::1]:2\"];socket=[];"
                 "http=\"a:0\";https=\"none\";};\n");

    expect(told, "broker.name = b");
    expect(told, "broker.interval = 500ms");
    expect(told, "broker.spool = false");
    expect(told, "pools.p.partitions = a, c");
    expect(told, "pools.p.rescue_after = 1d");
    expect(told, "sequences.x.y.memory_bits = 5");
    expect(told, "sequences.x.y.period = day");
    expect(told, "daemon.listen = 127.0.0.1:1, [::1]:2");
    expect(told, "daemon.socket = ");
    expect(told, "daemon.http = a:0");
    expect(told, "daemon.https = ");
}

TEST(durations_are_told_in_their_largest_unit)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {{0, "0ms"},       {1, "1ms"},        {1500, "1500ms"},
                 {60000, "1m"},    {90000, "90s"},    {3600000, "1h"},
                 {86400000, "1d"}, {90000000, "25h"}, {172800000, "2d"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[DURATION_SIZE];
        int64_t ms = -1;

        duration_format(cases[i].ms, text);
        assert_string_equal(text, cases[i].text);
        assert_true(duration_parse(text, &ms));
        assert_int_equal(ms, cases[i].ms);
    }
}

TEST(the_rest_are_defaults)
{
    const struct probe_log *told = settings_of(BACKEND POOL KEY);

    expect(told, "broker.name = seqbroker (default)");
    expect(told, "broker.state_dir = /state (default)");
    expect(told, "broker.interval = 20ms (default)");
    expect(told, "backends.a.path = a.db");
    expect(told, "pools.p.timeout = 200ms (default)");
    expect(told, "sequences.k.memory_bits = 3 (default)");
    expect(told, "daemon.socket_mode = 0660 (default)");
}

TEST(what_has_no_meaning_is_not_told)
{
    const struct probe_log *told =
        settings_of("backends=(" SQLITE("a") "," REDIS(
            "socket=\"/run/r\";") ");\n"
                                  "pools=({name=\"p\";partitions=[\"r\"];"
                                  "authority=\"a\";});\n" KEY);

    expect_no(told, "backends.a.host");
    expect_no(told, "backends.a.prefix");
    expect_no(told, "backends.r.host");
    expect_no(told, "backends.r.port");
    expect_no(told, "required");
    expect_no(told, ".ids");
    expect_no(told, ".snowflake");
    expect_no(told, "auto_sequences");
    expect(told, "backends.r.prefix = seqbroker (default)");
}

TEST(what_follows_from_other_settings_is_told_as_a_default)
{
    const struct probe_log *told =
        settings_of("backends=(" REDIS("") "," SQLITE(
            "a") ");\n"
                 "pools=({name=\"p\";partitions=[\"r\"];authority=\"a\";"
                 "window_bits=12;});\n"
                 "sequences=({key=\"k\";},{key=\"i\";memory_bits=0;window_bits="
                 "8;"
                 "ids={unit=\"hour\";time=20;"
                 "shard=12;counter=19;};});\n");

    expect(told, "backends.r.port = 6379 (default)");
    expect(told, "backends.r.host = 127.0.0.1 (default)");
    expect(told, "pools.p.window_bits = 12");
    expect(told, "sequences.k.pool = p (default)");
    expect(told, "sequences.k.window_bits = 12 (default)");
    expect(told, "sequences.i.period = hour (default)");
    expect(told, "sequences.i.ids.unit = hour");
    expect(told, "sequences.i.ids.epoch = 2020-01-01 (default)");
}

TEST(the_state_directory_is_the_one_in_effect)
{
    expect(
        settings_of("broker={state_dir=\"/elsewhere\";};\n" BACKEND POOL KEY),
        "broker.state_dir = /state");
}

TEST(no_secret_is_told)
{
    const struct probe_log *told = settings_of("backends=(" REDIS(
        "user=\"u\";password=\"" SECRET
        "\";") ",\n"
               "{name=\"pg\";engine=\"postgres\";"
               "conninfo=\"host=h password=" SECRET "\";},\n"
               "{name=\"uri\";engine=\"postgres\";"
               "conninfo=\"postgresql://u:" SECRET "@h/d\";},\n"
               "{name=\"open\";engine=\"postgres\";conninfo=\"host=h "
               "user=u\";});\n"
               "pools=({name=\"p\";partitions=[\"pg\",\"uri\"];authority="
               "\"none\";},"
               "{name=\"q\";partitions=[\"open\"];},"
               "{name=\"w\";partitions=[\"r\"];authority=\"open\";});\n"
               "sequences=({key=\"k\";pool=\"p\";});\n"
               "daemon={webhook=\"https://h/?access_token=" SECRET "\";};\n");

    expect_no(told, SECRET);
    expect(told, "daemon.webhook = ***");
    expect(told, "backends.r.password = ***");
    expect(told, "backends.r.user = u");
    expect(told, "backends.pg.conninfo = ***");
    expect(told, "backends.uri.conninfo = ***");
    expect(told, "backends.open.conninfo = host=h user=u");
}

/* A setting that is called so, in whatever section, is one. */
TEST(rows_that_are_called_so_are_secrets)
{
    static const struct {
        const char *name;
        bool is_secret;
    } cases[] = {{"password", true},
                 {"password_file", false},
                 {"password_env", false},
                 {"admin_password", true},
                 {"secret", true},
                 {"parameters", true},
                 {"shuffle_key_file", false},
                 {"host", false}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct schema_row row = {.name = cases[i].name,
                                       .section = SCHEMA_BROKER};

        assert_string_equal(secret_masked(&row, "x"),
                            cases[i].is_secret ? "***" : "x");
    }
}
