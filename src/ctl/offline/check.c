/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl check: the library's errors, notes and warnings for a topology
 * file. */
#include <stdio.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "ctl/commands.h"
#include "ctl/complain.h"
#include "ctl/json.h"
#include "ctl/offline/offline.h"
#include "tls/tls.h"

/* What lines begin with. The first list has the lines with other beginnings. */
static const char *const kinds[] = {"", "note: ", "warning: "};

#define KINDS (sizeof kinds / sizeof kinds[0])

struct findings {
    bool is_json;
    size_t lines;
    size_t kind; /* of the line before */
    struct brief briefs[KINDS];
    json_t *lists[KINDS];
};

static size_t kind_of(const char *line)
{
    size_t kind = KINDS - 1;

    while (kind > 0 && strncmp(line, kinds[kind], strlen(kinds[kind])) != 0)
        kind--;
    return kind;
}

static void list_end(struct findings *findings)
{
    brief_end(&findings->briefs[findings->kind], kinds[findings->kind]);
}

static void on_diagnostic(void *context, const char *line)
{
    struct findings *findings = context;
    const size_t kind = kind_of(line);
    const char *text = line + strlen(kinds[kind]);

    findings->lines++;
    if (findings->is_json) {
        (void)json_array_append_new(findings->lists[kind], json_of_text(text));
        return;
    }
    if (kind != findings->kind)
        list_end(findings);
    findings->kind = kind;
    if (brief_passes(&findings->briefs[kind], text))
        puts(line);
}

static bool findings_print(struct findings *findings, const char *file,
                           bool is_sound)
{
    if (findings->is_json)
        return json_line_print(
            json_pack("{so sb sO sO sO}", "file", json_of_text(file), "ok",
                      (int)is_sound, "mistakes", findings->lists[0], "notes",
                      findings->lists[1], "warnings", findings->lists[2]));
    list_end(findings);
    if (is_sound)
        printf("%s: ok\n", file);
    return true;
}

/* Lack of memory is noticed when the settings are used. */
static void setting_take(void *context, const char *setting, const char *value)
{
    (void)tls_settings_take(context, setting, value);
}

/* Checks the files of the daemon's TLS: an error in them is an error of the
 * topology, too. */
static enum seqb_status files_check(const char *file, struct findings *findings,
                                    struct seqb_error *err)
{
    struct tls_settings settings = {.cert_file = NULL};
    enum seqb_status status =
        seqb_daemon_settings(file, setting_take, &settings, err);

    if (status == SEQB_OK)
        status = tls_files_check(&settings, on_diagnostic, findings, err);
    tls_settings_free(&settings);
    if (status != SEQB_OK)
        on_diagnostic(findings, err->text);
    return status;
}

/* Lines on stdout say what is wrong. JSON has an error as well, as every
 * command does. */
static void failure_complain(const struct findings *findings, const char *file,
                             enum seqb_status status,
                             const struct seqb_error *err)
{
    if (findings->lines > 0 && !findings->is_json)
        return;
    complaint_code_set(seqb_status_name(status));
    if (findings->lines > 1)
        ctl_complain("%s: %zu mistakes", file,
                     json_array_size(findings->lists[0]));
    else
        ctl_complain("%s", err->text);
}

enum ctl_exit check_run(const struct ctl_options *options, char **argument)
{
    struct findings findings = {.is_json = options->given & CTL_JSON};
    struct seqb_error err;
    enum seqb_status status;
    bool is_printed;

    if (options->given & CTL_PROBE)
        return probe_run(options, argument);
    for (size_t i = 0; i < KINDS; i++) {
        findings.lists[i] = json_array();
        findings.briefs[i].is_all = options->given & CTL_ALL;
    }
    status = seqb_check_topology(argument[0], on_diagnostic, &findings, &err);
    if (status == SEQB_OK)
        status = files_check(argument[0], &findings, &err);
    if (status != SEQB_OK)
        failure_complain(&findings, argument[0], status, &err);
    is_printed = findings_print(&findings, argument[0], status == SEQB_OK);
    for (size_t i = 0; i < KINDS; i++)
        json_decref(findings.lists[i]);
    if (status != SEQB_OK)
        return CTL_USAGE;
    return is_printed ? CTL_OK : CTL_FAILED;
}
