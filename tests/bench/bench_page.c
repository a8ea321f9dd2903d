/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the page of the benchmarks: the text of a template, in which a line
 * "@table ID" stands for a table and its picture, "@bars" for a list of all
 * bars, "@machine" for the file machine.md among the results.
 *
 *   bench_page RESULTS_FOLDER TEMPLATE PAGE
 *
 * Reads every .json of the folder, and writes a picture a table beside it.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "bench/cells.h"
#include "bench/markdown.h"
#include "bench/plot.h"
#include "platform/text.h"

#define REPORTS_MAX 32
#define PATH_SIZE   4096

struct page {
    const char *folder;
    const char *folder_name; /* its last part: how the page links to it */
    json_t *reports[REPORTS_MAX];
    size_t count;
    FILE *out;
};

_Noreturn static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_page: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static FILE *open_file(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);

    if (file == NULL)
        die(path, "cannot be opened");
    return file;
}

static void page_load(struct page *page)
{
    char pattern[PATH_SIZE];
    json_error_t why;
    glob_t found;

    (void)text_format(pattern, sizeof pattern, "%s/*.json", page->folder);
    if (glob(pattern, 0, NULL, &found) != 0)
        die(page->folder, "holds no results");
    for (size_t i = 0; i < found.gl_pathc && i < REPORTS_MAX; i++) {
        json_t *report = json_load_file(found.gl_pathv[i], 0, &why);

        if (report == NULL)
            die(found.gl_pathv[i], why.text);
        page->reports[page->count++] = report;
    }
    globfree(&found);
}

/* The table of that id, and the report that it is in. */
static const json_t *page_find(const struct page *page, const char *id,
                               const json_t **report)
{
    for (size_t i = 0; i < page->count; i++) {
        const json_t *tables = json_object_get(page->reports[i], "tables");

        for (size_t j = 0; j < json_array_size(tables); j++) {
            const json_t *table = json_array_get(tables, j);

            *report = page->reports[i];
            if (strcmp(text_of(table, "id"), id) == 0)
                return table;
        }
    }
    return NULL;
}

static void write_picture(const struct page *page, const json_t *table)
{
    const char *id = text_of(table, "id");
    char path[PATH_SIZE];
    FILE *file;

    if (!plot_is_wanted(table))
        return;
    (void)text_format(path, sizeof path, "%s/%s.svg", page->folder, id);
    file = open_file(path, "we");
    plot_write(file, table);
    if (fclose(file) != 0)
        die(path, "cannot be written");
    fprintf(page->out, "![%s](%s/%s.svg)\n\n", text_of(table, "title"),
            page->folder_name, id);
}

/* How, when and on what the table was measured. */
static void write_origin(const struct page *page, const json_t *report)
{
    const json_int_t runs = json_integer_value(json_object_get(report, "runs"));

    fprintf(page->out, "`build/bench/tests/%s`: ", text_of(report, "command"));
    if (runs > 1)
        fprintf(page->out, "medians of %lld (min ... max); ", (long long)runs);
    else
        fprintf(page->out, "one run; ");
    fprintf(page->out,
            "%lld s, %s, %s, %lld cores, %s, load %.1f before it.\n\n",
            (long long)json_integer_value(json_object_get(report, "seconds")),
            text_of(report, "when"), text_of(report, "processor"),
            (long long)json_integer_value(json_object_get(report, "cores")),
            text_of(report, "kernel"),
            json_number_value(json_object_get(report, "load")));
}

static void write_table(const struct page *page, const char *id)
{
    const json_t *report = NULL;
    const json_t *table = page_find(page, id, &report);

    if (table == NULL) {
        fprintf(page->out, "(No results of the bench for \"%s\" yet.)\n", id);
        return;
    }
    write_origin(page, report);
    markdown_head(page->out, table);
    for (size_t row = 0; row < table_rows(table); row++)
        markdown_row(page->out, table,
                     json_array_get(json_object_get(table, "rows"), row));
    fputc('\n', page->out);
    write_picture(page, table);
}

static void write_bars(const struct page *page, const char *ids)
{
    char id[64];
    int used;

    fprintf(page->out, "| what | bar | measured | met |\n|---|---|---|---|\n");
    for (; sscanf(ids, " %63s%n", id, &used) == 1; ids += used) {
        const json_t *report = NULL;
        const json_t *table = page_find(page, id, &report);

        if (table != NULL)
            markdown_bars(page->out, table);
    }
}

static void write_machine(const struct page *page)
{
    char path[PATH_SIZE];
    char line[1024];
    FILE *file;

    (void)text_format(path, sizeof path, "%s/machine.md", page->folder);
    file = open_file(path, "re");
    while (fgets(line, sizeof line, file) != NULL)
        fputs(line, page->out);
    (void)fclose(file);
}

static void write_line(const struct page *page, char *line)
{
    if (line[0] != '@') {
        fputs(line, page->out);
        return;
    }
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "@table ", 7) == 0)
        write_table(page, line + 7);
    else if (strncmp(line, "@bars ", 6) == 0)
        write_bars(page, line + 6);
    else if (strcmp(line, "@machine") == 0)
        write_machine(page);
    else
        die(line, "no such line in a template");
}

int main(int argc, char **argv)
{
    struct page page = {0};
    char line[1024];
    FILE *template;

    if (argc != 4) {
        fprintf(stderr, "usage: bench_page RESULTS_FOLDER TEMPLATE PAGE\n");
        return 2;
    }
    page.folder = argv[1];
    page.folder_name = strrchr(argv[1], '/');
    page.folder_name =
        page.folder_name == NULL ? argv[1] : page.folder_name + 1;
    page_load(&page);
    template = open_file(argv[2], "re");
    page.out = open_file(argv[3], "we");
    while (fgets(line, sizeof line, template) != NULL)
        write_line(&page, line);
    (void)fclose(template);
    for (size_t i = 0; i < page.count; i++)
        json_decref(page.reports[i]);
    if (fclose(page.out) != 0)
        die(argv[3], "cannot be written");
    return EXIT_SUCCESS;
}
