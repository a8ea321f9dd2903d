/* SPDX-License-Identifier: Apache-2.0 */
/* The tables are JSON from the beginning; nothing else is kept of them. */
#include "bench/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "bench/cells.h"
#include "bench/markdown.h"
#include "platform/text.h"

#define RUNS_MAX 101

struct report {
    char name[64];
    json_t *root;
    json_t *table; /* these two are the root's */
    json_t *row;
    const struct report_table *shape;
    struct timespec begin;
};

/* Out of memory, or a mistake of the program: neither goes on. */
static void must(int failed)
{
    if (failed == 0)
        return;
    fprintf(stderr, "report: cannot build the report\n");
    exit(EXIT_FAILURE);
}

static void set_string(json_t *object, const char *key, const char *text)
{
    must(json_object_set_new(object, key, json_string(text)));
}

/* --- where and when --- */

static void read_processor(char *out, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];

    (void)text_copy(out, size, "unknown processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        line[strcspn(line, "\n")] = '\0';
        (void)text_copy(out, size, colon + 2);
        break;
    }
    if (file != NULL)
        (void)fclose(file);
}

static void tell_where(json_t *root)
{
    struct utsname system;
    char text[256];
    double load = 0;
    time_t now = time(NULL);
    struct tm utc;

    gmtime_r(&now, &utc);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
    set_string(root, "when", text);
    read_processor(text, sizeof text);
    set_string(root, "processor", text);
    must(uname(&system));
    system.release[strcspn(system.release, "-")] = '\0';
    (void)text_format(text, sizeof text, "%s %s", system.sysname,
                      system.release);
    set_string(root, "kernel", text);
    must(json_object_set_new(root, "cores",
                             json_integer(sysconf(_SC_NPROCESSORS_ONLN))));
    if (getloadavg(&load, 1) == 1)
        must(json_object_set_new(root, "load", json_real(load)));
}

static void tell_command(json_t *root, int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/');
    char text[256];

    (void)text_copy(text, sizeof text, name == NULL ? argv[0] : name + 1);
    for (int i = 1; i < argc; i++)
        (void)text_append(text, sizeof text, " %s", argv[i]);
    set_string(root, "command", text);
}

/* --- a program's beginning and end --- */

static void arguments_read(int argc, char **argv,
                           struct report_arguments *arguments)
{
    if (argc > 1)
        arguments->span = strtod(argv[1], NULL);
    if (argc > 2)
        arguments->runs = (int)strtol(argv[2], NULL, 10);
    if (argc <= 3 && arguments->span > 0 && arguments->runs > 0 &&
        arguments->runs <= RUNS_MAX)
        return;
    fprintf(stderr, "usage: %s [%s [RUNS]]\n", argv[0],
            arguments->unit == NULL ? "SECONDS_A_RUN" : arguments->unit);
    exit(2);
}

struct report *report_open(int argc, char **argv,
                           struct report_arguments *arguments)
{
    struct report *report = calloc(1, sizeof *report);
    const char *name = strrchr(argv[0], '/');

    arguments_read(argc, argv, arguments);
    must(report == NULL);
    (void)text_copy(report->name, sizeof report->name,
                    name == NULL ? argv[0] : name + 1);
    report->root = json_object();
    tell_command(report->root, argc, argv);
    tell_where(report->root);
    must(json_object_set_new(report->root, "runs",
                             json_integer(arguments->runs)));
    must(json_object_set_new(report->root, "tables", json_array()));
    clock_gettime(CLOCK_MONOTONIC, &report->begin);
    return report;
}

static int report_write(const struct report *report)
{
    const char *folder = getenv("SEQB_BENCH_DIR");
    char path[4096];

    if (folder == NULL)
        return EXIT_SUCCESS;
    if (text_format(path, sizeof path, "%s/%s.json", folder, report->name) &&
        json_dump_file(report->root, path,
                       JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0)
        return EXIT_SUCCESS;
    fprintf(stderr, "%s: cannot be written\n", path);
    return EXIT_FAILURE;
}

int report_close(struct report *report)
{
    struct timespec end;
    int code;

    clock_gettime(CLOCK_MONOTONIC, &end);
    must(json_object_set_new(report->root, "seconds",
                             json_integer(end.tv_sec - report->begin.tv_sec)));
    code = report_write(report);
    json_decref(report->root);
    free(report);
    return code;
}

/* --- tables --- */

static json_t *column_new(const struct report_column *column)
{
    static const char *const bars[] = {NULL, "at least", "at most"};
    static const char *const plots[] = {NULL, "linear", "log"};
    json_t *out = json_object();

    set_string(out, "name", column->name);
    if (column->unit != NULL)
        set_string(out, "unit", column->unit);
    if (column->bar != BAR_NONE)
        set_string(out, "bar", bars[column->bar]);
    if (column->plot != PLOT_NOT)
        set_string(out, "plot", plots[column->plot]);
    return out;
}

void report_table(struct report *report, const struct report_table *table)
{
    static const char *const shapes[] = {"bars", "lines", "wide"};
    json_t *columns = json_array();

    report->table = json_object();
    report->shape = table;
    must(json_array_append_new(json_object_get(report->root, "tables"),
                               report->table));
    set_string(report->table, "id", table->id);
    set_string(report->table, "title", table->title);
    if (table->note != NULL)
        set_string(report->table, "note", table->note);
    set_string(report->table, "shape", shapes[table->shape]);
    for (size_t i = 0; i < table->column_count; i++)
        must(json_array_append_new(columns, column_new(&table->columns[i])));
    must(json_object_set_new(report->table, "columns", columns));
    must(json_object_set_new(report->table, "rows", json_array()));
    printf("\n%s\n\n", table->title);
    markdown_head(stdout, report->table);
    fflush(stdout);
}

void report_row(struct report *report)
{
    report->row = json_array();
    for (size_t i = 0; i < report->shape->column_count; i++)
        must(json_array_append_new(report->row, json_object()));
    must(json_array_append_new(json_object_get(report->table, "rows"),
                               report->row));
}

void report_select(struct report *report, size_t row)
{
    report->row = json_array_get(json_object_get(report->table, "rows"), row);
    must(report->row == NULL);
}

static json_t *cell_at(const struct report *report, size_t column)
{
    json_t *cell = json_array_get(report->row, column);

    must(cell == NULL);
    return cell;
}

void report_text(struct report *report, size_t column, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    set_string(cell_at(report, column), "text", text);
}

void report_sample(struct report *report, size_t column, double value)
{
    json_t *cell = cell_at(report, column);
    json_t *samples = json_object_get(cell, "samples");

    if (samples == NULL) {
        samples = json_array();
        must(json_object_set_new(cell, "samples", samples));
    }
    must(json_array_append_new(samples, json_real(value)));
}

void report_bar(struct report *report, size_t column, double bar)
{
    must(json_object_set_new(cell_at(report, column), "bar", json_real(bar)));
}

void report_row_end(struct report *report)
{
    markdown_row(stdout, report->table, report->row);
    fflush(stdout);
}

void report_rows_end(struct report *report, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        report_select(report, row);
        report_row_end(report);
    }
}

void report_figure(struct report *report, size_t column, double value,
                   double bar)
{
    if (value < 0)
        report_text(report, column, "never");
    else
        report_sample(report, column, value);
    if (bar >= 0)
        report_bar(report, column, bar);
}

double report_median(const struct report *report, size_t column)
{
    return cell_median(cell_at(report, column));
}
