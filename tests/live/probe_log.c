/* SPDX-License-Identifier: Apache-2.0 */
/* The listener of a probe. */
#include "probe_log.h"

#include <string.h>

#include "platform/text.h"
#include "support/test.h"

static void on_diagnostic(void *context, const char *line)
{
    struct probe_log *told = context;

    assert_true(
        text_append(told->diagnostics, sizeof told->diagnostics, "%s\n", line));
}

static void on_backend(void *context, const struct seqb_probe *probe)
{
    struct probe_log *told = context;

    assert_true(told->count < PROBE_LOG_MAX);
    told->found[told->count++] = *probe;
}

static void on_note(void *context, const char *line)
{
    struct probe_log *told = context;

    assert_true(text_append(told->notes, sizeof told->notes, "%s\n", line));
}

static void on_warning(void *context, const char *line)
{
    struct probe_log *told = context;

    assert_true(
        text_append(told->warnings, sizeof told->warnings, "%s\n", line));
}

const struct probe_log *
probe_log_of(const char *topology,
             const struct seqb_backend_ops *const *engines)
{
    static struct probe_log told;
    const struct seqb_probe_listener listener = {.diagnostic = on_diagnostic,
                                                 .backend = on_backend,
                                                 .note = on_note,
                                                 .warning = on_warning,
                                                 .context = &told};

    memset(&told, 0, sizeof told);
    told.status = seqb_probe_topology(topology, engines, &listener, &told.err);
    return &told;
}

void probe_log_expect(const struct probe_log *told, enum seqb_status expected)
{
    if (told->status != expected)
        fail_msg("the probe answered %s: %s\n%s",
                 seqb_status_name(told->status), told->err.text,
                 told->diagnostics);
}

void probe_log_expect_found(const struct probe_log *told, size_t i,
                            enum seqb_status expected, const char *words)
{
    const struct seqb_probe *found = &told->found[i];

    assert_true(i < told->count);
    if (found->status != expected)
        fail_msg("backend %s is %s: %s", found->backend,
                 seqb_status_name(found->status), found->reason);
    scene_expect_words(found->reason, words);
}

void probe_log_expect_well(const struct probe_log *told, size_t i,
                           const char *place)
{
    probe_log_expect_found(told, i, SEQB_OK, "");
    assert_string_equal(told->found[i].reason, "");
    assert_string_equal(told->found[i].place, place);
    assert_true(strlen(told->found[i].server) > 0);
    assert_true(strlen(told->found[i].domain) > 0);
    assert_string_equal(told->found[i].loss, "");
    assert_true(told->found[i].open_us > 0);
}

void probe_log_expect_details(const struct probe_log *told, size_t i,
                              const struct seqb_details *expected)
{
    const struct seqb_details *found = &told->found[i].details;

    assert_true(i < told->count);
    assert_string_equal(found->node, expected->node);
    assert_string_equal(found->role, expected->role);
    assert_string_equal(found->quorum, expected->quorum);
    scene_expect_words(found->replicas, expected->replicas);
    assert_string_equal(found->tls, expected->tls);
}
