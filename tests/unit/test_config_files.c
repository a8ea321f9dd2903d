/* SPDX-License-Identifier: Apache-2.0 */
/* What a topology touches: its file and those it includes, password files, the
 * state directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "platform/text.h"
#include "unit/topology_expect.h"

/* A folder for the files of one test. */
struct fixture {
    char folder[32];
    char path[64]; /* of the file written last */
};

static const char *const names[] = {"t.conf", "part.conf", "secret"};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    if (fixture == NULL ||
        !text_copy(fixture->folder, sizeof fixture->folder,
                   "/tmp/test-config-XXXXXX") ||
        mkdtemp(fixture->folder) == NULL)
        return 1;
    *state = fixture;
    return topology_setup(NULL);
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    int status;

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)text_format(fixture->path, sizeof fixture->path, "%s/%s",
                          fixture->folder, names[i]);
        (void)unlink(fixture->path);
    }
    status = rmdir(fixture->folder);
    free(fixture);
    return status;
}

/* Writes one of `names` with that mode; its path is `fixture->path` then. */
static void write_file(struct fixture *fixture, const char *name,
                       const char *text, size_t length, mode_t mode)
{
    FILE *file;

    assert_true(text_format(fixture->path, sizeof fixture->path, "%s/%s",
                            fixture->folder, name));
    file = fopen(fixture->path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(fixture->path, mode), 0);
}

static void write_text(struct fixture *fixture, const char *name,
                       const char *text)
{
    write_file(fixture, name, text, strlen(text), 0600);
}

/* The error of a file that must be refused, with %s for the folder. */
static void expect_refused(const struct fixture *fixture, const char *path,
                           const char *format)
{
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};
    const char *at = strstr(format, "%s");
    char expected[SEQB_ERROR_TEXT_SIZE];

    if (at == NULL)
        assert_true(text_copy(expected, sizeof expected, format));
    else
        assert_true(text_format(expected, sizeof expected, "%.*s%s%s",
                                (int)(at - format), format, fixture->folder,
                                at + 2));
    assert_int_equal(config_open(path, NULL, NULL, &config, &error),
                     SEQB_CONFIG);
    assert_string_equal(error.text, expected);
    assert_null(config);
}

static void included_files_are_read_and_named_in_mistakes(void **state)
{
    struct fixture *fixture = *state;
    char expected[256];

    write_text(fixture, "part.conf", "\n" BACKEND POOL);
    write_text(fixture, "t.conf", "@include \"part.conf\"\n" KEY);
    config_close(topology_open_sound(fixture->path));
    write_text(fixture, "part.conf", "\n\nlog=1;\n" BACKEND POOL);
    write_text(fixture, "t.conf", "@include \"part.conf\"\n" KEY "x=1;\n");
    assert_true(text_format(expected, sizeof expected,
                            "%s/part.conf:3: unknown section 'log'\n"
                            "%s/t.conf:3: unknown section 'x'",
                            fixture->folder, fixture->folder));
    expect_refused(fixture, fixture->path, expected);
}

static void an_absent_include_is_told_with_its_line(void **state)
{
    struct fixture *fixture = *state;
    char expected[256];

    write_text(fixture, "t.conf", BACKEND "@include \"part.conf\"\n");
    assert_true(text_format(expected, sizeof expected,
                            "%s/t.conf:2: cannot open %s/part.conf: No such "
                            "file or directory",
                            fixture->folder, fixture->folder));
    expect_refused(fixture, fixture->path, expected);
}

static void files_that_are_no_topology_are_refused(void **state)
{
    struct fixture *fixture = *state;
    char *large = malloc((1 << 20) + 1);

    assert_non_null(large);
    memset(large, ' ', (1 << 20) + 1);
    write_file(fixture, "t.conf", large, (1 << 20) + 1, 0600);
    free(large);
    expect_refused(fixture, fixture->path,
                   "%s/t.conf is larger than 1048576 bytes");
    write_file(fixture, "t.conf", "x\0y", 3, 0600);
    expect_refused(fixture, fixture->path,
                   "%s/t.conf holds a 0 byte: it is no text");
    expect_refused(fixture, fixture->folder, "cannot read %s: Is a directory");
    expect_refused(fixture, "/nowhere/t.conf",
                   "cannot open /nowhere/t.conf: No such file or directory");
}

#define WITH_PASSWORD                                                          \
    "backends=({name=\"r\";engine=\"redis\";user=\"u\";\n"                     \
    "password_file=\"secret\";}," SQLITE(                                      \
        "a") ");\n"                                                            \
             "pools=({name=\"p\";partitions=[\"r\"];authority=\"a\";});\n" KEY

static void password_is_read_without_its_newline(void **state)
{
    static const char *const texts[] = {"open sesame\r\n", "open sesame\n",
                                        "open sesame"};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        const struct seqb_backend_options *redis;
        struct config *config;

        write_text(fixture, "secret", texts[i]);
        write_text(fixture, "t.conf", WITH_PASSWORD);
        config = topology_open_sound(fixture->path);
        redis = &config_topology(config)->ha.backends[0].options;
        assert_string_equal(redis->user, "u");
        assert_string_equal(redis->password, "open sesame");
        config_close(config);
    }
}

/* What is told of a topology whose password file is `secret`. */
static void expect_password(struct fixture *fixture, const char *expected)
{
    write_text(fixture, "t.conf", WITH_PASSWORD);
    expect_refused(fixture, fixture->path, expected);
}

static void password_files_are_private_and_one_line(void **state)
{
    struct fixture *fixture = *state;
    char absent[256];

    assert_true(text_format(absent, sizeof absent,
                            "%s/t.conf:2: cannot open %s/secret: No such file "
                            "or directory",
                            fixture->folder, fixture->folder));
    expect_password(fixture, absent);
    write_file(fixture, "secret", "x\n", 2, 0640);
    assert_true(text_format(absent, sizeof absent,
                            "%s/t.conf:2: others may read the password file "
                            "%s/secret: chmod 600 it",
                            fixture->folder, fixture->folder));
    expect_password(fixture, absent);
    write_file(fixture, "secret", "\n", 1, 0600);
    assert_true(text_format(absent, sizeof absent,
                            "%s/t.conf:2: %s/secret must hold one line, the "
                            "password",
                            fixture->folder, fixture->folder));
    expect_password(fixture, absent);
    write_file(fixture, "secret", "x\ny\n", 4, 0600);
    expect_password(fixture, absent);
}

struct place_case {
    const char *own;
    const char *configured;
    const char *xdg;
    const char *home;
    const char *state_dir; /* NULL: SEQB_STATE_DIR */
};

static void set_variable(const char *name, const char *value)
{
    assert_int_equal(value == NULL ? unsetenv(name) : setenv(name, value, 1),
                     0);
}

static void expect_place(const struct place_case *expected)
{
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};
    enum seqb_status status;
    char text[512];

    set_variable("SEQBROKER_STATE_DIR", expected->own);
    set_variable("XDG_STATE_HOME", expected->xdg);
    set_variable("HOME", expected->home);
    assert_true(
        text_format(text, sizeof text, "broker={%s%s%s};\n" BACKEND POOL KEY,
                    expected->configured == NULL ? "" : "state_dir=\"",
                    expected->configured == NULL ? "" : expected->configured,
                    expected->configured == NULL ? "" : "\";"));
    status = config_open_text(text, "t.conf", NULL, NULL, &config, &error);
    if (expected->state_dir == NULL) {
        assert_int_equal(status, SEQB_STATE_DIR);
        assert_string_equal(error.text,
                            "no state directory: set SEQBROKER_STATE_DIR, "
                            "state_dir in the topology, XDG_STATE_HOME or "
                            "HOME");
        return;
    }
    assert_int_equal(status, SEQB_OK);
    assert_string_equal(config_topology(config)->state_dir,
                        expected->state_dir);
    config_close(config);
}

static void state_directory_is_the_first_that_is_set(void **state)
{
    static const struct place_case cases[] = {
        {"/own", "/file", "/xdg", "/home/u", "/own"},
        {NULL, "/file", "/xdg", "/home/u", "/file"},
        {"", "/file", "/xdg", "/home/u", "/file"},
        {NULL, NULL, "/xdg", "/home/u", "/xdg/seqbroker"},
        {NULL, NULL, NULL, "/home/u", "/home/u/.local/state/seqbroker"},
        {NULL, NULL, "", "/home/u/", "/home/u/.local/state/seqbroker"},
        {NULL, NULL, NULL, NULL, NULL},
        {NULL, NULL, "", "", NULL},
        {"/a//b/./c/.", NULL, NULL, NULL, "/a/b/c"},
        {"/", NULL, NULL, NULL, "/"},
    };
    char here[PATH_MAX];
    char below[PATH_MAX + 8];
    struct place_case relative = {NULL, "below", NULL, NULL, below};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_place(&cases[i]);
    assert_non_null(getcwd(here, sizeof here));
    assert_true(text_format(below, sizeof below, "%s/below", here));
    expect_place(&relative);
    relative.own = "below";
    relative.configured = "/file";
    expect_place(&relative);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            included_files_are_read_and_named_in_mistakes, setup, teardown),
        cmocka_unit_test_setup_teardown(an_absent_include_is_told_with_its_line,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(files_that_are_no_topology_are_refused,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(password_is_read_without_its_newline,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(password_files_are_private_and_one_line,
                                        setup, teardown),
        /* Last: it leaves the environment without a home. */
        cmocka_unit_test(state_directory_is_the_first_that_is_set),
    };

    return cmocka_run_group_tests(tests, topology_setup, NULL);
}
