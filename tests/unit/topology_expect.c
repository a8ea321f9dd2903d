/* SPDX-License-Identifier: Apache-2.0 */
/* Every line that is told must be there, and in the error too. */
#include "unit/topology_expect.h"

#include <stdlib.h>

#include "config/config.h"
#include "platform/text.h"
#include "support/test.h"

#define KEPT_MAX 64

static void collect(void *context, const char *line)
{
    char *lines = context;

    assert_true(
        text_append(lines, 4096, "%s%s", *lines == '\0' ? "" : "\n", line));
}

void topology_expect(const char *text, const char *expected)
{
    char lines[4096] = "";
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};
    const struct config_request request = {
        .path = "t.conf", .report = collect, .context = lines};
    const enum seqb_status status =
        config_open_text(&request, text, &config, &error);

    config_close(config);
    assert_string_equal(lines, expected);
    assert_string_equal(error.text, expected);
    assert_int_equal(status, *expected == '\0' ? SEQB_OK : SEQB_CONFIG);
}

void topology_expect_all(const struct topology_wrong *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        topology_expect(cases[i].text, cases[i].lines);
}

int topology_setup(void **state)
{
    (void)state;
    return setenv("SEQBROKER_STATE_DIR", "/state", 1);
}

static struct config *kept[KEPT_MAX];
static size_t kept_count;

static void kept_close(void)
{
    while (kept_count > 0)
        config_close(kept[--kept_count]);
}

static const struct config_topology *keep(struct config *config)
{
    if (kept_count == 0)
        (void)atexit(kept_close);
    assert_true(kept_count < KEPT_MAX);
    kept[kept_count++] = config;
    return config_topology(config);
}

const struct config_topology *topology_of_file(const char *path)
{
    const struct config_request request = {.path = path};
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};

    assert_done(config_open(&request, &config, &error), error);
    return keep(config);
}

const struct config_topology *topology_of_text(const char *text)
{
    const struct config_request request = {.path = "t.conf"};
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};

    assert_done(config_open_text(&request, text, &config, &error), error);
    return keep(config);
}

struct probe_log {
    char notes[1024];
    char warnings[1024];
};

static void keep_lines(const char *const *lines, char out[1024])
{
    for (; *lines != NULL; lines++)
        assert_true(
            text_append(out, 1024, "%s%s", *out == '\0' ? "" : "\n", *lines));
}

void topology_expect_notes(const char *text, const char *notes,
                           const char *warnings)
{
    const struct config_request request = {.path = "t.conf"};
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};
    struct probe_log told = {"", ""};

    assert_done(config_open_text(&request, text, &config, &error), error);
    keep_lines(config_topology(config)->notes, told.notes);
    keep_lines(config_topology(config)->warnings, told.warnings);
    config_close(config);
    if (notes != NULL)
        assert_string_equal(told.notes, notes);
    assert_string_equal(told.warnings, warnings);
}
