/* SPDX-License-Identifier: Apache-2.0 */
/* What a topology touches: its file and those it includes, the state
 * directory. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "config/source/source.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"
#include "unit/topology_files.h"

TEST_WITH(FILES, included_files_are_read_and_named_in_mistakes)
{
    topology_write(files, "part.conf", "\n" BACKEND POOL);
    topology_write(files, "t.conf", "@include \"part.conf\"\n" KEY);
    (void)topology_of_file(files->path);
    topology_write(files, "part.conf", "\n\nlog=1;\n" BACKEND POOL);
    topology_write(files, "t.conf", "@include \"part.conf\"\n" KEY "x=1;\n");
    topology_refused(files, files->path,
                     "@/part.conf:3: unknown section 'log'\n"
                     "@/t.conf:3: unknown section 'x'");
}

TEST_WITH(FILES, an_absent_include_is_told_with_its_line)
{
    topology_write(files, "t.conf", BACKEND "@include \"part.conf\"\n");
    topology_refused(files, files->path,
                     "@/t.conf:2: cannot open @/part.conf: No such file or "
                     "directory");
}

TEST_WITH(FILES, files_that_are_no_topology_are_refused)
{
    char *large = malloc(SCAN_SIZE_MAX + 1);

    assert_non_null(large);
    memset(large, ' ', SCAN_SIZE_MAX + 1);
    topology_write_bytes(files, "t.conf", large, SCAN_SIZE_MAX + 1);
    free(large);
    topology_refused(files, files->path,
                     "@/t.conf is larger than 16777216 bytes");
    topology_write_bytes(files, "t.conf", "x\0y", 3);
    topology_refused(files, files->path,
                     "@/t.conf holds a 0 byte: it is no text");
    topology_refused(files, files->folder, "cannot read @: Is a directory");
    topology_refused(files, "/nowhere/t.conf",
                     "cannot open /nowhere/t.conf: No such file or directory");
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
    const struct config_request request = {.path = "t.conf"};
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
    status = config_open_text(&request, text, &config, &error);
    if (expected->state_dir == NULL) {
        assert_int_equal(status, SEQB_STATE_DIR);
        assert_string_equal(error.text,
                            "no state directory: set SEQBROKER_STATE_DIR, "
                            "state_dir in the topology, XDG_STATE_HOME or "
                            "HOME");
        return;
    }
    assert_ok(status);
    assert_string_equal(config_topology(config)->state_dir,
                        expected->state_dir);
    config_close(config);
}

/* Last: it leaves the environment without a home. */
TEST(state_directory_is_the_first_that_is_set)
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

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_place(&cases[i]);
    assert_non_null(getcwd(here, sizeof here));
    assert_true(text_format(below, sizeof below, "%s/below", here));
    expect_place(&relative);
    relative.own = "below";
    relative.configured = "/file";
    expect_place(&relative);
}

TEST_BEFORE_ALL(topology_setup);
