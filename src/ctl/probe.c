/* SPDX-License-Identifier: Apache-2.0 */
/* What a probe tells, as a table (libsmartcols) and a line each warning, or as
 * one JSON object, printed as it comes. */
#include "ctl/probe.h"

#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdio.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "ctl/json.h"

#define CELL_SIZE 64

struct output {
    bool is_json;
    bool is_lost; /* no memory for the table */
    struct libscols_table *table;
    size_t backends;
    size_t warnings;
};

static const struct {
    const char *title;
    int flags; /* of libsmartcols */
} columns[] = {
    {"BACKEND", 0}, {"ENGINE", 0}, {"PLACE", 0},           {"ANSWERS", 0},
    {"SERVER", 0},  {"ROLE", 0},   {"CLASS", 0},           {"LOSES", 0},
    {"CLAIM", 0},   {"DOMAIN", 0}, {"WHY", SCOLS_FL_WRAP},
};

#define COLUMNS (sizeof columns / sizeof columns[0])

static const char *role_of(const struct seqb_probe *probe)
{
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
    if (probe->is_local)
        return "local";
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

/* A role that is wrong is an answer, too. */
static void answers_format(char *to, size_t size,
                           const struct seqb_probe *probe)
{
    if (probe->open_us > 0)
        snprintf(to, size, "%" PRId64 ".%" PRId64 "ms", probe->open_us / 1000,
                 probe->open_us / 100 % 10);
    else
        snprintf(to, size, probe->status == SEQB_ROLE ? "yes" : "no");
}

static void table_add(struct output *output, const struct seqb_probe *probe)
{
    struct libscols_line *line = scols_table_new_line(output->table, NULL);
    char place[CELL_SIZE];
    char answers[CELL_SIZE];
    const char *const cells[COLUMNS] = {
        probe->backend,  probe->engine,  place,           answers,
        probe->server,   role_of(probe), class_of(probe), probe->loss,
        claim_of(probe), probe->domain,  probe->reason};

    place_format(place, sizeof place, probe);
    answers_format(answers, sizeof answers, probe);
    for (size_t i = 0; i < COLUMNS; i++) {
        const char *cell = *cells[i] != '\0' ? cells[i] : "-";

        if (line == NULL || scols_line_set_data(line, i, cell) != 0)
            output->is_lost = true;
    }
}

static bool table_begin(struct output *output)
{
    output->table = scols_new_table();
    for (size_t i = 0; output->table != NULL && i < COLUMNS; i++) {
        if (scols_table_new_column(output->table, columns[i].title, 0,
                                   columns[i].flags) == NULL)
            return false;
    }
    return output->table != NULL;
}

static void table_end(struct output *output)
{
    if (output->table != NULL && !output->is_lost && output->backends > 0 &&
        scols_print_table(output->table) != 0)
        output->is_lost = true;
    scols_unref_table(output->table);
    output->table = NULL;
}

/* --- JSON --- */

static void member_print(const char *name, const char *value)
{
    json_string(stdout, name);
    fputs(": ", stdout);
    json_string(stdout, value);
    fputs(", ", stdout);
}

static void object_print(const struct seqb_probe *probe)
{
    putchar('{');
    member_print("backend", probe->backend);
    member_print("engine", probe->engine);
    member_print("pool", probe->pool);
    printf("\"partition\": %" PRId32 ", \"authority\": %s, ", probe->partition,
           probe->is_authority ? "true" : "false");
    member_print("status", seqb_status_name(probe->status));
    member_print("reason", probe->reason);
    member_print("server", probe->server);
    member_print("role", role_of(probe));
    member_print("class", class_of(probe));
    member_print("loss", probe->loss);
    member_print("claim", probe->place);
    member_print("domain", probe->domain);
    printf("\"open_us\": %" PRId64 "}", probe->open_us);
}

/* --- what is told --- */

static void hear_mistake(void *context, const char *line)
{
    const struct output *output = context;

    if (output->is_json)
        ctl_complain("%s", line);
    else
        puts(line);
}

static void hear_backend(void *context, const struct seqb_probe *probe)
{
    struct output *output = context;

    if (output->is_json) {
        fputs(output->backends > 0 ? ",\n    " : "{\n  \"backends\": [\n    ",
              stdout);
        object_print(probe);
    } else {
        table_add(output, probe);
    }
    output->backends++;
}

static void hear_warning(void *context, const char *line)
{
    struct output *output = context;

    if (output->is_json) {
        fputs(output->warnings > 0 ? ",\n    "
                                   : "\n  ],\n  \"warnings\": [\n    ",
              stdout);
        json_string(stdout, line);
    } else {
        if (output->warnings == 0) {
            table_end(output);
            putchar('\n');
        }
        printf("warning: %s\n", line);
    }
    output->warnings++;
}

static void output_end(struct output *output)
{
    if (!output->is_json) {
        table_end(output);
        return;
    }
    if (output->backends == 0)
        return;
    puts(output->warnings > 0 ? "\n  ]\n}" : "\n  ],\n  \"warnings\": []\n}");
}

enum ctl_exit probe_run(const char *topology, bool is_json)
{
    struct output output = {.is_json = is_json};
    const struct seqb_probe_listener listener = {.mistake = hear_mistake,
                                                 .backend = hear_backend,
                                                 .warning = hear_warning,
                                                 .context = &output};
    struct seqb_error err;
    enum seqb_status status;

    if (!is_json && !table_begin(&output)) {
        scols_unref_table(output.table);
        ctl_complain("out of memory");
        return CTL_FAILED;
    }
    status = seqb_probe(topology, NULL, &listener, &err);
    output_end(&output);
    if (status == SEQB_CONFIG)
        return CTL_USAGE;
    if (output.is_lost)
        ctl_complain("out of memory");
    if (status != SEQB_OK)
        ctl_complain("%s: %s", topology, err.text);
    return status == SEQB_OK && !output.is_lost ? CTL_OK : CTL_FAILED;
}
