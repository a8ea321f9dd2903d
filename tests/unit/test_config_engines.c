/* SPDX-License-Identifier: Apache-2.0 */
/* Engines that a service brings along: which are refused, and what a topology
 * may say of one. */

#include <string.h>

#include "backends/backends.h"
#include "config/config.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

/* A complete engine that is never opened here. */
static struct seqb_backend_ops complete(const char *name)
{
    struct seqb_backend_ops ops = backend_sqlite;

    ops.engine = name;
    return ops;
}

static enum seqb_status some_install(struct seqb_backend *backend,
                                     const struct seqb_window *window,
                                     int64_t *standing, struct seqb_error *err)
{
    (void)backend;
    (void)window;
    (void)standing;
    (void)err;
    return SEQB_OK;
}

static struct seqb_backend_ops windowed(const char *name)
{
    struct seqb_backend_ops ops = complete(name);

    ops.guarantee = SEQB_WINDOWED;
    ops.install = some_install;
    ops.swap = NULL;
    ops.purge = NULL;
    return ops;
}

static void expect_refused(const struct seqb_backend_ops *const *engines,
                           const char *text)
{
    const struct config_request request = {.engines = engines};
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};

    assert_int_equal(config_open(&request, &config, &error), SEQB_INVALID);
    assert_string_equal(error.text, text);
    assert_null(config);
}

static void must_have(const struct seqb_backend_ops *ops, const char *function)
{
    const struct seqb_backend_ops *const engines[] = {ops, NULL};
    char text[128];

    assert_true(text_format(text, sizeof text,
                            "engine own of the service has no function '%s': "
                            "its class must have one",
                            function));
    expect_refused(engines, text);
}

TEST(engine_without_a_function_is_refused)
{
    struct seqb_backend_ops ops[7];
    static const char *const names[] = {"library", "open", "reserve", "raise",
                                        "claim",   "swap", "close"};

    for (size_t i = 0; i < COUNT_OF(ops); i++)
        ops[i] = complete("own");
    ops[0].library = NULL;
    ops[1].open = NULL;
    ops[2].reserve = NULL;
    ops[3].raise = NULL;
    ops[4].claim = NULL;
    ops[5].swap = NULL;
    ops[6].close = NULL;
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        must_have(&ops[i], names[i]);
    ops[0] = windowed("own");
    ops[0].install = NULL;
    must_have(&ops[0], "install");
}

TEST(function_of_another_class_is_refused)
{
    struct seqb_backend_ops ops[] = {windowed("own"), windowed("own")};
    static const char *const names[] = {"swap", "purge"};

    ops[0].swap = backend_sqlite.swap;
    ops[1].purge = backend_sqlite.purge;
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        const struct seqb_backend_ops *const engines[] = {&ops[i], NULL};
        char text[128];

        assert_true(text_format(text, sizeof text,
                                "engine own of the service has a function "
                                "'%s': its class has none, leave it NULL",
                                names[i]));
        expect_refused(engines, text);
    }
}

/* The same topology as another engine's: it is opened or not for the engine. */
static void expect_accepted(const struct seqb_backend_ops *ops)
{
    const struct seqb_backend_ops *const engines[] = {ops, NULL};
    const struct config_request request = {.path = "t.conf",
                                           .engines = engines};
    struct config *config = NULL;
    struct seqb_error error;

    if (config_open_text(&request,
                         "backends=({name=\"a\";engine=\"sqlite\";"
                         "path=\"a\";});\n" POOL KEY,
                         &config, &error) != SEQB_OK)
        fail_msg("%s", error.text);
    config_close(config);
}

TEST(engines_that_are_built_in_have_what_their_class_has)
{
    const struct seqb_backend_ops *ops;

    for (size_t i = 0; (ops = backend_at(i)) != NULL; i++) {
        struct seqb_backend_ops own = *ops;

        own.engine = "own";
        expect_accepted(&own);
    }
}

TEST(functions_that_no_class_needs_may_be_missing)
{
    struct seqb_backend_ops ops = complete("own");

    ops.install = NULL;
    ops.purge = NULL;
    ops.clock = NULL;
    expect_accepted(&ops);
    ops = windowed("own");
    ops.clock = NULL;
    expect_accepted(&ops);
}

TEST(engine_has_a_legal_name_of_its_own)
{
    static const char not_legal[] = "engine 1 of the service: its name must be "
                                    "1 to 23 of A-Z a-z 0-9 _ -";
    static const char *const wrong[] = {NULL, "", "a b",
                                        "name-of-24-letters-is-it"};
    struct seqb_backend_ops ops[2] = {complete("own"), complete("own")};
    const struct seqb_backend_ops *const engines[] = {&ops[0], &ops[1], NULL};

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        ops[1].engine = wrong[i];
        expect_refused(engines, not_legal);
    }
    ops[1].engine = "own";
    expect_refused(engines, "engine own of the service: there is another one "
                            "of that name: give it one of its own");
    ops[1].engine = "sqlite";
    expect_refused(engines, "engine sqlite of the service: there is another "
                            "one of that name: give it one of its own");
    ops[1] = complete("other");
    ops[1].guarantee = (enum seqb_guarantee)2;
    expect_refused(engines, "engine other of the service: its guarantee is "
                            "neither SEQB_DIRECT nor SEQB_WINDOWED");
}

static const char every_setting[] =
    "backends=({name=\"o\";engine=\"own\";path=\"f\";host=\"h\";port=7;"
    "socket=\"s\";user=\"u\";password=\"x\";database=\"d\";conninfo=\"c\";"
    "prefix=\"p\";sentinels=[\"h:1\",\"i:2\"];master_name=\"m\";"
    "table_format=\"t\";keep_rows=5;tls=\"verify\";tls_ca=\"ca\";"
    "tls_cert=\"cert\";tls_key=\"/"
    "key\";parameters=\"a=1\";accept_loss=true;"
    "auto_create=false;connect_timeout=\"3s\";});\n"
    "pools=({name=\"p\";partitions=[\"o\"];timeout=\"4s\";});\n" KEY;

TEST(engine_of_the_service_gets_every_setting)
{
    const struct seqb_backend_ops ops = complete("own");
    const struct seqb_backend_ops *const engines[] = {&ops, NULL};
    const struct config_request request = {.path = "f/t.conf",
                                           .engines = engines};
    const struct seqb_backend_options *out;
    struct config *config = NULL;
    struct seqb_error error;

    assert_done(config_open_text(&request, every_setting, &config, &error),
                error);
    assert_ptr_equal(config_topology(config)->ha.backends[0].ops, &ops);
    out = &config_topology(config)->ha.backends[0].options;
    assert_string_equal(out->path, "/state/f");
    assert_string_equal(out->socket_path, "s");
    assert_string_equal(out->user, "u");
    assert_string_equal(out->password, "x");
    assert_string_equal(out->database, "d");
    assert_string_equal(out->conninfo, "c");
    assert_string_equal(out->prefix, "p");
    assert_string_equal(out->sentinels[1], "i:2");
    assert_null(out->sentinels[2]);
    assert_string_equal(out->master_name, "m");
    assert_string_equal(out->table_format, "t");
    assert_int_equal(out->keep_rows, 5);
    assert_int_equal(out->tls, SEQB_TLS_VERIFY);
    assert_string_equal(out->tls_ca, "f/ca");
    assert_string_equal(out->tls_cert, "f/cert");
    assert_string_equal(out->tls_key, "/key");
    assert_string_equal(out->parameters, "a=1");
    assert_true(out->accept_loss);
    assert_false(out->auto_create);
    assert_int_equal(out->connect_timeout_ms, 3000);
    assert_int_equal(out->timeout_ms, 4000);
    config_close(config);
}

TEST(engines_of_the_service_are_listed_with_the_others)
{
    const struct seqb_backend_ops ops[] = {complete("own"), complete("two")};
    const struct seqb_backend_ops *const engines[] = {&ops[0], &ops[1], NULL};
    const struct config_request request = {.path = "t.conf",
                                           .engines = engines};
    struct config *config = NULL;
    struct seqb_error error;

    assert_int_equal(
        config_open_text(&request,
                         "backends=({name=\"a\";engine=\"owm\";});\n" POOL KEY,
                         &config, &error),
        SEQB_CONFIG);
    assert_non_null(strstr(error.text, "; the service has own, two"));
}

/* A topology with the service's engines is wrong so. */
static void expect_wrong(const struct seqb_backend_ops *const *engines,
                         const char *topology, const char *text)
{
    const struct config_request request = {.path = "t.conf",
                                           .engines = engines};
    struct config *config = NULL;
    struct seqb_error error;

    assert_int_equal(config_open_text(&request, topology, &config, &error),
                     SEQB_CONFIG);
    assert_string_equal(error.text, text);
}

TEST(windowed_engine_of_the_service_is_no_authority)
{
    const struct seqb_backend_ops ops = windowed("own");
    const struct seqb_backend_ops *const engines[] = {&ops, NULL};

    expect_wrong(engines,
                 "backends=({name=\"a\";engine=\"own\";});\n"
                 "pools=({name=\"p\";partitions=[\"a\"];"
                 "authority=\"a\";});\n" KEY,
                 "t.conf:2: backend 'a' cannot be an authority: engine own may "
                 "forget; name one that is direct, such as sqlite");
}

TEST(engine_that_purges_nothing_has_no_periods)
{
    struct seqb_backend_ops ops = complete("own");
    const struct seqb_backend_ops forgets = windowed("cache");
    const struct seqb_backend_ops *const engines[] = {&ops, &forgets, NULL};

    ops.purge = NULL;
    expect_wrong(engines,
                 "backends=({name=\"a\";engine=\"own\";});\n" POOL
                 "sequences=({key=\"k\";period=\"day\";});\n",
                 "t.conf:3: the sequence has a period, but backend 'a' of its "
                 "pool cannot have one: engine own has counters that cannot "
                 "begin afresh: use another engine there, or a pool without "
                 "it");
    expect_wrong(engines,
                 "backends=({name=\"a\";engine=\"own\";},"
                 "{name=\"c\";engine=\"cache\";});\n"
                 "pools=({name=\"p\";partitions=[\"c\"];"
                 "authority=\"a\";});\n"
                 "sequences=({key=\"k\";period=\"day\";});\n",
                 "t.conf:3: the sequence has a period, but the authority 'a' "
                 "of its pool cannot lease windows of one: engine own has "
                 "counters that cannot begin afresh: use another engine there");
}

TEST(engine_without_cells_counts_in_no_windows)
{
    struct seqb_backend_ops ops = complete("own");
    const struct seqb_backend_ops *const engines[] = {&ops, NULL};
    static const char all[] = "backends=({name=\"a\";engine=\"own\";}," SQLITE(
        "b") ");\n"
             "pools=({name=\"p\";partitions=[\"a\",\"b\"];"
             "authority=\"b\";windows=\"all\";});\n" KEY;
    static const char neighbours[] =
        "backends=({name=\"a\";engine=\"own\";}," SQLITE("b") "," SQLITE(
            "c") "," SQLITE("d") ");\n"
                                 "pools=({name=\"p\";partitions=[\"a\",\"b\","
                                 "\"c\",\"d\"];"
                                 "authority=\"neighbours\";});\n" KEY;

    ops.install = NULL;
    ops.list = NULL;
    expect_wrong(engines, all,
                 "t.conf:2: backend 'a' cannot count in windows: engine own "
                 "has no cells; use another engine there, such as sqlite, or "
                 "make it the authority");
    expect_wrong(engines, neighbours,
                 "t.conf:2: with 'authority' = \"neighbours\" every partition "
                 "counts in windows, but engine own of backend 'a' has no "
                 "cells: use another engine there, such as sqlite, or name one "
                 "backend as the authority");
}

TEST_BEFORE_ALL(topology_setup);
