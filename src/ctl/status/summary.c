/* SPDX-License-Identifier: Apache-2.0 */
/* One line for each of several brokers. Why one is not serving is printed below
 * them, wrapped, as the reasons of partitions are. */
#include "ctl/status/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/terminal/terminal.h"

#define CELL_SIZE 320

enum { AT, NAME, HEALTH, UP, RATE, RUNWAY, COLUMNS };

static const struct {
    const char *title;
    bool is_right;
} columns[COLUMNS] = {
    [AT] = {"BROKER", false},     [NAME] = {"NAME", false},
    [HEALTH] = {"HEALTH", false}, [UP] = {"UP", true},
    [RATE] = {"RATE/S", true},    [RUNWAY] = {"RUNWAY", true},
};

/* --- collecting --- */

static int64_t runway_lowest(const struct rows *sequences)
{
    int64_t lowest = -1;

    for (size_t i = 0; i < sequences->count; i++) {
        const int64_t runway = reply_integer(sequences->row[i], "runway_ms");

        if (runway >= 0 && (lowest < 0 || runway < lowest))
            lowest = runway;
    }
    return lowest;
}

static int64_t rate_sum(const struct rows *sequences)
{
    int64_t sum = 0;

    for (size_t i = 0; i < sequences->count; i++)
        sum += reply_integer(sequences->row[i], "rate");
    return sum;
}

/* An authority has a row like a partition, but none asks it for numbers. */
static void partitions_count(const struct rows *partitions,
                             struct summary *summary)
{
    for (size_t i = 0; i < partitions->count; i++) {
        const redisReply *row = partitions->row[i];

        if (reply_integer(row, "partition") < 0)
            continue;
        summary->partitions++;
        summary->up += strcmp(reply_text(row, "state"), "up") == 0;
    }
}

/* NULL if out of memory: then the reason is missing. */
static char *reason_make(const redisReply *health)
{
    const char *reason = reply_text(health, "reason");
    const char *warning = reply_text(health, "warning");
    char *text = NULL;

    if (asprintf(&text, "%s%s%s%s", reason,
                 reason[0] != '\0' && warning[0] != '\0' ? "; " : "",
                 warning[0] != '\0' ? "warning: " : "", warning) < 0)
        return NULL;
    return text;
}

void summary_add(struct summaries *summaries, const char *at,
                 const redisReply *status, const redisReply *health,
                 const struct selection *selection)
{
    struct summary *summary = &summaries->broker[summaries->count++];

    *summary = (struct summary){
        .at = at,
        .rate = rate_sum(&selection->sequences),
        .runway_ms = runway_lowest(&selection->sequences),
        .reason = reason_make(health),
    };
    partitions_count(&selection->partitions, summary);
    snprintf(summary->name, sizeof summary->name, "%s",
             reply_text(status, "broker"));
    snprintf(summary->health, sizeof summary->health, "%s",
             reply_text(health, "health"));
}

void summary_add_silent(struct summaries *summaries, const char *at)
{
    summaries->broker[summaries->count++] = (struct summary){
        .at = at, .name = "-", .health = "unknown", .is_silent = true};
}

void summaries_fini(struct summaries *summaries)
{
    for (size_t i = 0; i < summaries->count; i++)
        free(summaries->broker[i].reason);
    summaries->count = 0;
}

/* --- printing --- */

static void cell_make(char *to, const struct summary *summary, size_t column)
{
    switch (column) {
    case AT:
        snprintf(to, CELL_SIZE, "%s", summary->at);
        return;
    case NAME:
        snprintf(to, CELL_SIZE, "%s", summary->name);
        return;
    case HEALTH:
        snprintf(to, CELL_SIZE, "%s", summary->health);
        return;
    default:
        break;
    }
    if (summary->is_silent)
        snprintf(to, CELL_SIZE, "-");
    else if (column == UP)
        snprintf(to, CELL_SIZE, "%zu/%zu", summary->up, summary->partitions);
    else if (column == RATE)
        snprintf(to, CELL_SIZE, "%" PRId64, summary->rate);
    else
        age_format(to, CELL_SIZE, summary->runway_ms);
}

/* The addresses are cut if the lines are too long otherwise. */
static void widths_find(const struct summaries *summaries,
                        const struct view *view, size_t widths[COLUMNS])
{
    size_t sum = COLUMNS - 1;
    char cell[CELL_SIZE];

    for (size_t column = 0; column < COLUMNS; column++) {
        widths[column] = strlen(columns[column].title);
        for (size_t i = 0; i < summaries->count; i++) {
            cell_make(cell, &summaries->broker[i], column);
            if (strlen(cell) > widths[column])
                widths[column] = strlen(cell);
        }
        sum += widths[column];
    }
    while (sum-- > view->width && widths[AT] > strlen(columns[AT].title))
        widths[AT]--;
}

/* The last column ends the line; there are no spaces behind it. */
static void cell_print(const struct view *view, const char *cell, size_t column,
                       size_t width)
{
    const size_t length = strlen(cell);
    const int gap = (int)(length < width ? width - length : 0);

    if (columns[column].is_right)
        fprintf(view->to, "%*s", gap, "");
    color_print(view->to, column == HEALTH ? cell : "", cell, view->is_colored);
    if (!columns[column].is_right)
        fprintf(view->to, "%*s", gap, "");
    fputc(column + 1 < COLUMNS ? ' ' : '\n', view->to);
}

static void reason_print(const struct summary *summary, const struct view *view)
{
    char *line = NULL;

    if (summary->reason == NULL || summary->reason[0] == '\0' ||
        asprintf(&line, "%s %s: %s", summary->at, summary->health,
                 summary->reason) < 0)
        return;
    text_wrap(view->to, line, view->width);
    free(line);
}

void summaries_print(const struct summaries *summaries, const struct view *view)
{
    size_t widths[COLUMNS];
    char cell[CELL_SIZE];

    widths_find(summaries, view, widths);
    for (size_t column = 0; column < COLUMNS; column++)
        cell_print(view, columns[column].title, column, widths[column]);
    for (size_t i = 0; i < summaries->count; i++) {
        for (size_t column = 0; column < COLUMNS; column++) {
            cell_make(cell, &summaries->broker[i], column);
            name_cut(cell, widths[column]);
            cell_print(view, cell, column, widths[column]);
        }
    }
    for (size_t i = 0; i < summaries->count; i++)
        reason_print(&summaries->broker[i], view);
}
