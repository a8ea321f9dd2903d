/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl check --probe: the results of a probe, as a table (libsmartcols) with
 * a line for each reason and warning, or as one JSON object that is printed as
 * results come. */
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "ctl/complain.h"
#include "ctl/json.h"
#include "ctl/offline/offline.h"
#include "ctl/terminal/terminal.h"

#define CELL_SIZE 64

static const struct {
    const char *title;
    bool is_optional;
} columns[] = {
    {"BACKEND", false}, {"ENGINE", false}, {"PLACE", false}, {"ANSWERS", false},
    {"SERVER", false},  {"ROLE", false},   {"CLASS", false}, {"LOSES", false},
    {"CLAIM", false},   {"DOMAIN", false}, {"NODE", true},   {"QUORUM", true},
    {"REPLICAS", true}, {"TLS", true},
};

#define COLUMNS (sizeof columns / sizeof columns[0])

/* The lists that are printed one after the other, backends first. */
enum list { BACKENDS, NOTES, WARNINGS, LISTS };

struct output {
    bool is_json;
    bool is_lost; /* a result was lost for lack of memory */
    struct libscols_table *table;
    FILE *whys; /* a line for each backend that cannot serve */
    char *whys_text;
    size_t whys_size;
    bool has_value[COLUMNS]; /* a row has a value in this column */
    size_t backends;
    size_t lines;   /* of the current list */
    enum list list; /* the current list */
    struct brief mistakes;
    struct brief warnings;
};

static const char *role_of(const struct seqb_probe *probe)
{
    if (probe->details.role[0] != '\0')
        return probe->details.role;
    if (probe->status == SEQB_ROLE)
        return "no primary";
    return probe->open_us > 0 ? "ok" : "";
}

static const char *claim_of(const struct seqb_probe *probe)
{
    return probe->open_us > 0 && *probe->place == '\0' ? "none" : probe->place;
}

static const char *class_of(const struct seqb_probe *probe)
{
    return probe->is_windowed ? "windowed" : "direct";
}

/* --- the table --- */

static void place_format(char *to, size_t size, const struct seqb_probe *probe)
{
    if (probe->partition < 0)
        snprintf(to, size, "authority");
    else
        snprintf(to, size, "%s/%" PRId32, probe->pool, probe->partition);
}

/* A server in the wrong role did answer. */
static void answers_format(char *to, size_t size,
                           const struct seqb_probe *probe)
{
    if (probe->open_us > 0)
        snprintf(to, size, "%" PRId64 ".%" PRId64 "ms", probe->open_us / 1000,
                 probe->open_us / 100 % 10);
    else
        snprintf(to, size, probe->status == SEQB_ROLE ? "yes" : "no");
}

/* The reason, as wide as the terminal; for another program it is one line. In
 * the table it would make all rows wider. */
static void why_add(struct output *output, const struct seqb_probe *probe)
{
    const struct terminal_size terminal = terminal_size();
    char line[SEQB_ERROR_TEXT_SIZE + CELL_SIZE];

    if (*probe->reason == '\0')
        return;
    snprintf(line, sizeof line, "%s: %s", probe->backend, probe->reason);
    text_wrap(output->whys, line, terminal.rows > 0 ? terminal.columns : 0);
}

static void table_add(struct output *output, const struct seqb_probe *probe)
{
    struct libscols_line *line = scols_table_new_line(output->table, NULL);
    char place[CELL_SIZE];
    char answers[CELL_SIZE];
    const char *const cells[COLUMNS] = {probe->backend,
                                        probe->engine,
                                        place,
                                        answers,
                                        probe->server,
                                        role_of(probe),
                                        class_of(probe),
                                        probe->loss,
                                        claim_of(probe),
                                        probe->domain,
                                        probe->details.node,
                                        probe->details.quorum,
                                        probe->details.replicas,
                                        probe->details.tls};

    place_format(place, sizeof place, probe);
    answers_format(answers, sizeof answers, probe);
    for (size_t i = 0; i < COLUMNS; i++) {
        const char *cell = *cells[i] != '\0' ? cells[i] : "-";

        output->has_value[i] |= *cells[i] != '\0';
        if (line == NULL || scols_line_set_data(line, i, cell) != 0)
            output->is_lost = true;
    }
    why_add(output, probe);
}

static bool table_begin(struct output *output)
{
    output->whys = open_memstream(&output->whys_text, &output->whys_size);
    output->table = output->whys != NULL ? scols_new_table() : NULL;
    for (size_t i = 0; output->table != NULL && i < COLUMNS; i++) {
        if (scols_table_new_column(output->table, columns[i].title, 0, 0) ==
            NULL)
            return false;
    }
    return output->table != NULL;
}

/* Removes columns without any value. */
static void table_trim(struct output *output)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        struct libscols_column *column =
            scols_table_get_column(output->table, i);

        if (columns[i].is_optional && !output->has_value[i])
            (void)scols_column_set_flags(column, SCOLS_FL_HIDDEN);
    }
}

static void whys_end(struct output *output)
{
    if (output->whys == NULL)
        return;
    output->is_lost |= fclose(output->whys) != 0;
    output->whys = NULL;
    if (!output->is_lost)
        fputs(output->whys_text, stdout);
    free(output->whys_text);
}

static void table_end(struct output *output)
{
    if (output->table != NULL)
        table_trim(output);
    if (output->table != NULL && !output->is_lost && output->backends > 0 &&
        scols_print_table(output->table) != 0)
        output->is_lost = true;
    scols_unref_table(output->table);
    output->table = NULL;
    whys_end(output);
}

/* --- JSON --- */

static json_t *object_make(const struct seqb_probe *probe)
{
    return json_pack(
        "{so so so si sb ss so so so so so so so so so so so sI}", "backend",
        json_of_text(probe->backend), "engine", json_of_text(probe->engine),
        "pool", json_of_text(probe->pool), "partition", (int)probe->partition,
        "authority", (int)probe->is_authority, "status",
        seqb_status_name(probe->status), "reason", json_of_text(probe->reason),
        "server", json_of_text(probe->server), "role",
        json_of_text(role_of(probe)), "class", json_of_text(class_of(probe)),
        "loss", json_of_text(probe->loss), "claim", json_of_text(probe->place),
        "domain", json_of_text(probe->domain), "node",
        json_of_text(probe->details.node), "quorum",
        json_of_text(probe->details.quorum), "replicas",
        json_of_text(probe->details.replicas), "tls",
        json_of_text(probe->details.tls), "open_us",
        (json_int_t)probe->open_us);
}

/* --- callbacks of the probe --- */

static void on_diagnostic(void *context, const char *line)
{
    struct output *output = context;

    if (output->is_json)
        ctl_complain("%s", line);
    else if (brief_passes(&output->mistakes, line))
        puts(line);
}

static void on_backend(void *context, const struct seqb_probe *probe)
{
    struct output *output = context;

    if (output->is_json) {
        fputs(output->backends > 0 ? ",\n    " : "{\n  \"backends\": [\n    ",
              stdout);
        output->lines++;
        output->is_lost |= !json_print(object_make(probe), 0);
    } else {
        table_add(output, probe);
    }
    output->backends++;
}

/* Ends the earlier lists of the JSON object, and begins this one. */
static void list_begin(struct output *output, enum list list)
{
    static const char *const names[] = {
        [NOTES] = "notes", [WARNINGS] = "warnings"};

    while (output->list < list) {
        fputs(output->lines > 0 ? "\n  ]" : "]", stdout);
        output->lines = 0;
        output->list++;
        if (output->list < LISTS)
            printf(",\n  \"%s\": [", names[output->list]);
    }
}

static void line_print(struct output *output, enum list list, const char *kind,
                       const char *line)
{
    if (output->is_json) {
        list_begin(output, list);
        fputs(output->lines > 0 ? ",\n    " : "\n    ", stdout);
        output->is_lost |= !json_print(json_of_text(line), 0);
    } else {
        if (output->table != NULL) {
            table_end(output);
            putchar('\n');
        }
        printf("%s: %s\n", kind, line);
    }
    output->lines++;
}

static void on_note(void *context, const char *line)
{
    line_print(context, NOTES, "note", line);
}

static void on_warning(void *context, const char *line)
{
    struct output *output = context;

    if (output->is_json || brief_passes(&output->warnings, line))
        line_print(output, WARNINGS, "warning", line);
}

static void output_end(struct output *output)
{
    if (!output->is_json) {
        table_end(output);
        brief_end(&output->mistakes, "");
        brief_end(&output->warnings, "warning: ");
        return;
    }
    if (output->backends == 0)
        return;
    list_begin(output, LISTS);
    puts("\n}");
}

/* The results are printed after the bar, mistakes in the topology before it. */
static void bar_show(void *context, int64_t done, int64_t total)
{
    progress_show(context, done, total);
    if (done == total)
        progress_erase(context);
}

enum ctl_exit probe_run(const struct ctl_options *options, char **argument)
{
    const bool is_all = options->given & CTL_ALL;
    struct output output = {.is_json = options->given & CTL_JSON,
                            .mistakes.is_all = is_all,
                            .warnings.is_all = is_all};
    const struct seqb_probe_listener listener = {.diagnostic = on_diagnostic,
                                                 .backend = on_backend,
                                                 .note = on_note,
                                                 .warning = on_warning,
                                                 .context = &output};
    struct progress progress;
    const struct seqb_progress bar = {bar_show, &progress};
    struct seqb_error err;
    enum seqb_status status;

    if (!output.is_json && !table_begin(&output)) {
        output.is_lost = true;
        table_end(&output);
        ctl_complain("out of memory");
        return CTL_FAILED;
    }
    progress_begin(&progress, true);
    status = seqb_probe_watched(argument[0], NULL, &listener, &bar, &err);
    progress_erase(&progress);
    output_end(&output);
    complaint_code_set(status != SEQB_OK ? seqb_status_name(status) : "");
    if (status == SEQB_CONFIG)
        return CTL_USAGE;
    if (output.is_lost && !output.is_json) /* json_print has reported it */
        ctl_complain("out of memory");
    if (status != SEQB_OK)
        ctl_complain("%s: %s", argument[0], err.text);
    return status == SEQB_OK && !output.is_lost ? CTL_OK : CTL_FAILED;
}
