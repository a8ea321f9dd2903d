/* SPDX-License-Identifier: Apache-2.0 */
/* The steps from a file to options: scan, read, check, build. Then reports the
 * mistakes that a step found. */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/build/build.h"
#include "config/check/check.h"
#include "config/settings/settings.h"
#include "config/source/source.h"
#include "embedded_conf.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/text.h"

#define LINE_SIZE     2048
#define EMBEDDED_NAME "embedded.conf"
#define MORE_SIZE     32 /* of "... and N more" */

struct config {
    struct config_topology topology;
    struct arena arena; /* holds everything that the topology points to */
    struct zones zones;
    struct templates templates;
};

/* One topology that is being parsed. */
struct parse {
    struct config *config;
    struct arena scratch; /* holds the mistakes; freed after parsing */
    struct diagnostics diagnostics;
    struct source source;
    struct draft draft;
};

/* Reports mistakes: line by line to the callback, and as many as fit in one
 * text. */
struct reporting {
    void (*report)(void *context, const char *line);
    void *context;
    char text[SEQB_ERROR_TEXT_SIZE];
    size_t left; /* mistakes that are not in `text` */
};

static void report(struct reporting *reporting, const char *line)
{
    const size_t used = strlen(reporting->text);
    const size_t room = sizeof reporting->text - used - MORE_SIZE;

    if (reporting->report != NULL)
        reporting->report(reporting->context, line);
    if (reporting->left == 0 && (used == 0 || strlen(line) + 1 < room))
        (void)text_append(reporting->text, sizeof reporting->text - MORE_SIZE,
                          "%s%s", used == 0 ? "" : "\n", line);
    else
        reporting->left++;
}

static enum seqb_status report_diagnostics(const struct parse *parse,
                                           struct reporting *reporting,
                                           struct seqb_error *err)
{
    char line[LINE_SIZE];
    size_t listed = 0;

    for (const struct diagnostic *at = parse->diagnostics.found.first;
         at != NULL; at = at->next) {
        const struct source_line from =
            source_line_at(&parse->source, at->line);

        (void)text_format(line, sizeof line, "%s:%d: %s", from.file, from.line,
                          at->text);
        report(reporting, line);
        listed++;
    }
    if (listed < parse->diagnostics.found.count) {
        (void)text_format(line, sizeof line, "... and %zu more mistakes",
                          parse->diagnostics.found.count - listed);
        report(reporting, line);
    }
    if (reporting->left > 0)
        (void)text_append(reporting->text, sizeof reporting->text,
                          "\n... and %zu more", reporting->left);
    return error_set(err, SEQB_CONFIG, "%s", reporting->text);
}

/* Reads a text file. A text with a 0 byte is refused, because file_read does
 * not return the length and the text would seem to end there. */
static enum seqb_status read_text(const char *path, char **out,
                                  struct seqb_error *err)
{
    struct stat about;
    char *text;
    const enum seqb_status status = file_read(path, SCAN_SIZE_MAX, &text, err);

    if (status != SEQB_OK)
        return status;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
        strlen(text) < (size_t)about.st_size) {
        free(text);
        (void)error_set(err, SEQB_INVALID, "%s holds a 0 byte: it is no text",
                        path);
        return SEQB_INVALID;
    }
    *out = text;
    return SEQB_OK;
}

static bool is_out_of_memory(const struct parse *parse)
{
    return parse->config->arena.is_out_of_memory ||
           parse->scratch.is_out_of_memory;
}

/* Copies the diagnostics as lines into the config's arena, because the list is
 * freed after parsing. A last line tells how many more there are. The list that
 * is returned ends with NULL. */
static const char *const *keep_lines(struct parse *parse,
                                     const struct diagnostic_list *list)
{
    struct arena *arena = &parse->config->arena;
    const char **lines = arena_take(arena, list->count + 1, sizeof *lines);
    size_t count = 0;

    for (const struct diagnostic *at = list->first; lines != NULL && at != NULL;
         at = at->next) {
        const struct source_line from =
            source_line_at(&parse->source, at->line);

        lines[count++] =
            arena_format(arena, "%s:%d: %s", from.file, from.line, at->text);
    }
    if (lines != NULL && count < list->count)
        lines[count] =
            arena_format(arena, "... and %zu more", list->count - count);
    return lines;
}

/* All steps up to the options. A fault of the topology is added as a mistake.
 * Only a missing state directory and a lack of memory are returned as
 * errors. */
static enum seqb_status parse_all(struct parse *parse, const char *text,
                                  const char *name, struct seqb_error *err)
{
    struct arena *arena = &parse->config->arena;
    const char *slash = strrchr(name, '/');
    const struct build build = {
        .draft = &parse->draft,
        .folder = slash == NULL ? "."
                                : arena_format(arena, "%.*s",
                                               (int)(slash - name) + 1, name),
        .source = &parse->source,
        .arena = arena,
        .diagnostics = &parse->diagnostics,
        .templates = &parse->config->templates,
        .topology = &parse->config->topology,
    };
    enum seqb_status status;

    if (scan_text(&parse->source, text, name) && !is_out_of_memory(parse) &&
        read_draft(parse->source.text, arena, &parse->diagnostics,
                   &parse->draft) &&
        !is_out_of_memory(parse)) {
        engines_resolve(&parse->draft);
        neighbours_resolve(&parse->draft);
        zones_open(&parse->config->zones, &parse->draft, &parse->diagnostics);
        check_draft(&parse->draft, &parse->diagnostics);
    }
    if (is_out_of_memory(parse))
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", name);
    if (parse->diagnostics.found.count > 0)
        return SEQB_OK;
    status = build_topology(&build, err);
    parse->config->topology.warnings =
        keep_lines(parse, &parse->diagnostics.warnings);
    parse->config->topology.notes =
        keep_lines(parse, &parse->diagnostics.notes);
    return status;
}

static enum seqb_status parse_and_report(struct parse *parse, const char *text,
                                         const char *name,
                                         struct reporting *reporting,
                                         struct seqb_error *err)
{
    struct seqb_error error;
    const enum seqb_status status = parse_all(parse, text, name, &error);

    if (status != SEQB_OK) {
        if (reporting->report != NULL)
            reporting->report(reporting->context, error.text);
        return error_copy(err, &error);
    }
    if (is_out_of_memory(parse))
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", name);
    if (parse->diagnostics.found.count > 0)
        return report_diagnostics(parse, reporting, err);
    return SEQB_OK;
}

/* `request->path` is the name of the text in messages. */
static enum seqb_status open_text(const struct config_request *request,
                                  const char *text, bool may_include,
                                  struct config **out, struct seqb_error *err)
{
    const char *name = request->path;
    struct reporting reporting = {.report = request->report,
                                  .context = request->context};
    struct config *config = calloc(1, sizeof *config);
    struct parse parse = {.config = config, .draft.engines = request->engines};
    enum seqb_status status;

    if (config == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", name);
    parse.diagnostics.arena = &parse.scratch;
    parse.draft.now_ms = clock_wall_ms();
    config->zones.arena = &config->arena;
    config->templates.arena = &config->arena;
    parse.source.arena = &config->arena;
    parse.source.diagnostics = &parse.diagnostics;
    parse.source.read = may_include ? read_text : NULL;
    status = parse_and_report(&parse, text, name, &reporting, err);
    source_free(&parse.source);
    arena_free(&parse.scratch);
    if (status != SEQB_OK) {
        config_close(config);
        return status;
    }
    *out = config;
    return SEQB_OK;
}

enum seqb_status config_open_text(const struct config_request *request,
                                  const char *text, struct config **out,
                                  struct seqb_error *err)
{
    return open_text(request, text, false, out, err);
}

enum seqb_status config_open(const struct config_request *request,
                             struct config **out, struct seqb_error *err)
{
    struct config_request embedded = *request;
    struct seqb_error error = {.text = ""};
    enum seqb_status status = engines_check(request->engines, err);
    char *text;

    if (status != SEQB_OK)
        return status;
    embedded.path = EMBEDDED_NAME;
    if (request->path == NULL)
        return open_text(&embedded, embedded_conf, false, out, err);
    if (read_text(request->path, &text, &error) != SEQB_OK) {
        if (request->report != NULL)
            request->report(request->context, error.text);
        if (error.status != SEQB_NO_MEMORY)
            error.status = SEQB_CONFIG;
        return error_copy(err, &error);
    }
    status = open_text(request, text, true, out, err);
    free(text);
    return status;
}

const struct config_topology *config_topology(const struct config *config)
{
    return &config->topology;
}

void config_visit(const struct config *config, struct seqb_settings_part *part,
                  config_visit_function *visit, void *context)
{
    settings_visit(config->topology.settings, part, visit, context);
}

enum seqb_status config_compare(const struct config *runs, struct config *next,
                                struct config_changes **out,
                                struct seqb_error *err)
{
    return changes_find(&runs->topology, &next->topology, &next->arena, out,
                        err);
}

enum seqb_status config_keep(struct config *next,
                             const struct config_kept *kept,
                             struct seqb_error *err)
{
    return changes_keep(kept, &next->topology, &next->arena, err);
}

void config_close(struct config *config)
{
    if (config == NULL)
        return;
    templates_free(&config->templates);
    zones_close(&config->zones);
    arena_free(&config->arena);
    free(config);
}

const char *config_embedded_text(void)
{
    return embedded_conf;
}
