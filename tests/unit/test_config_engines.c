/* SPDX-License-Identifier: Apache-2.0 */
/* Engines that a service brings along: which are refused, and what a topology
 * may say of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "backends/backends.h"
#include "config/config.h"
#include "platform/text.h"
#include "unit/topology_expect.h"

/* A complete engine that is never opened here. */
static struct seqb_backend_ops complete(const char *name)
{
    struct seqb_backend_ops ops = backend_sqlite;

    ops.engine = name;
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

static void engine_without_a_function_is_refused(void **state)
{
    struct seqb_backend_ops ops[10];
    static const char *const names[] = {"library", "open",  "reserve", "raise",
                                        "install", "claim", "swap",    "purge",
                                        "clock",   "close"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        ops[i] = complete("own");
    ops[0].library = NULL;
    ops[1].open = NULL;
    ops[2].reserve = NULL;
    ops[3].raise = NULL;
    ops[4].install = NULL;
    ops[5].claim = NULL;
    ops[6].swap = NULL;
    ops[7].purge = NULL;
    ops[8].clock = NULL;
    ops[9].close = NULL;
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        const struct seqb_backend_ops *const engines[] = {&ops[i], NULL};
        char text[128];

        assert_true(text_format(text, sizeof text,
                                "engine own of the service has no function "
                                "'%s': an engine has them all",
                                names[i]));
        expect_refused(engines, text);
    }
}

static void engine_has_a_legal_name_of_its_own(void **state)
{
    static const char not_legal[] = "engine 1 of the service: its name must be "
                                    "1 to 23 of A-Z a-z 0-9 _ -";
    static const char *const wrong[] = {NULL, "", "a b",
                                        "name-of-24-letters-is-it"};
    struct seqb_backend_ops ops[2] = {complete("own"), complete("own")};
    const struct seqb_backend_ops *const engines[] = {&ops[0], &ops[1], NULL};

    (void)state;
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
    ops[1].guarantee = (enum seqb_guarantee)7;
    expect_refused(engines,
                   "engine other of the service: its guarantee is "
                   "none of SEQB_DIRECT, SEQB_WINDOWED and SEQB_LOCAL");
}

static const char every_setting[] =
    "backends=({name=\"o\";engine=\"own\";path=\"f\";host=\"h\";port=7;"
    "socket=\"s\";user=\"u\";password=\"x\";database=\"d\";conninfo=\"c\";"
    "prefix=\"p\";sentinels=[\"h:1\",\"i:2\"];master_name=\"m\";"
    "table_format=\"t\";keep_rows=5;tls=\"verify\";tls_ca=\"ca\";"
    "tls_cert=\"cert\";tls_key=\"/"
    "key\";parameters=\"a=1\";epoch=\"1970-01-02\";"
    "time_bits=40;worker_bits=9;counter_bits=8;lease=\"7s\";accept_loss=true;"
    "auto_create=false;connect_timeout=\"3s\";});\n"
    "pools=({name=\"p\";partitions=[\"o\"];timeout=\"4s\";});\n" KEY;

static void engine_of_the_service_gets_every_setting(void **state)
{
    const struct seqb_backend_ops ops = complete("own");
    const struct seqb_backend_ops *const engines[] = {&ops, NULL};
    const struct config_request request = {.path = "f/t.conf",
                                           .engines = engines};
    const struct seqb_backend_options *out;
    struct config *config = NULL;
    struct seqb_error error;

    (void)state;
    if (config_open_text(&request, every_setting, &config, &error) != SEQB_OK)
        fail_msg("%s", error.text);
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
    assert_int_equal(out->epoch_ms, 86400000);
    assert_int_equal(out->time_bits, 40);
    assert_int_equal(out->worker_bits, 9);
    assert_int_equal(out->counter_bits, 8);
    assert_int_equal(config_topology(config)->ha.backends[0].lease_ms, 7000);
    assert_true(out->accept_loss);
    assert_false(out->auto_create);
    assert_int_equal(out->connect_timeout_ms, 3000);
    assert_int_equal(out->timeout_ms, 4000);
    config_close(config);
}

static void engines_of_the_service_are_listed_with_the_others(void **state)
{
    const struct seqb_backend_ops ops[] = {complete("own"), complete("two")};
    const struct seqb_backend_ops *const engines[] = {&ops[0], &ops[1], NULL};
    const struct config_request request = {.path = "t.conf",
                                           .engines = engines};
    struct config *config = NULL;
    struct seqb_error error;

    (void)state;
    assert_int_equal(
        config_open_text(&request,
                         "backends=({name=\"a\";engine=\"owm\";});\n" POOL KEY,
                         &config, &error),
        SEQB_CONFIG);
    assert_non_null(strstr(error.text, "; the service has own, two"));
}

static void windowed_engine_of_the_service_is_no_authority(void **state)
{
    struct seqb_backend_ops ops = complete("own");
    const struct seqb_backend_ops *const engines[] = {&ops, NULL};
    const struct config_request request = {.path = "t.conf",
                                           .engines = engines};
    struct config *config = NULL;
    struct seqb_error error;

    (void)state;
    ops.guarantee = SEQB_WINDOWED;
    assert_int_equal(
        config_open_text(&request,
                         "backends=({name=\"a\";engine=\"own\";});\n"
                         "pools=({name=\"p\";partitions=[\"a\"];"
                         "authority=\"a\";});\n" KEY,
                         &config, &error),
        SEQB_CONFIG);
    assert_string_equal(error.text,
                        "t.conf:2: backend 'a' cannot be an authority: engine "
                        "own may forget; name one that is direct, such as "
                        "sqlite");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engine_without_a_function_is_refused),
        cmocka_unit_test(engine_has_a_legal_name_of_its_own),
        cmocka_unit_test(engine_of_the_service_gets_every_setting),
        cmocka_unit_test(engines_of_the_service_are_listed_with_the_others),
        cmocka_unit_test(windowed_engine_of_the_service_is_no_authority),
    };

    return cmocka_run_group_tests(tests, topology_setup, NULL);
}
