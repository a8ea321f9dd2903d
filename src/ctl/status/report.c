/* SPDX-License-Identifier: Apache-2.0 */
/* A status for a person: tables, and lines for the broker and its clock. */
#include <inttypes.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/status/status.h"
#include "ctl/terminal/terminal.h"

#define LINE_SIZE 1024

static void line_print(const struct view *view, const char *line)
{
    text_wrap(view->to, line, view_wrap(view));
}

static bool pools_are_several(const redisReply *partitions)
{
    for (size_t i = 1; i < partitions->elements; i++) {
        if (strcmp(reply_text(partitions->element[0], "pool"),
                   reply_text(partitions->element[i], "pool")) != 0)
            return true;
    }
    return false;
}

static void broker_print(const redisReply *status, const struct view *view)
{
    char line[LINE_SIZE];
    char age[32];

    age_format(age, sizeof age, reply_integer(status, "uptime_ms"));
    snprintf(line, sizeof line,
             "broker %s: seqbroker %s, pid %" PRId64 ", up %s",
             reply_text(status, "broker"), reply_text(status, "version"),
             reply_integer(status, "pid"), age);
    line_print(view, line);
}

static void apart_append(char line[LINE_SIZE], const redisReply *clock,
                         const char *name, const char *what)
{
    const int64_t ms = reply_integer(clock, name);
    const size_t used = strlen(line);
    char age[32];

    if (ms == 0)
        return;
    age_format(age, sizeof age, ms);
    snprintf(line + used, LINE_SIZE - used, ", the machine's is %s %s", age,
             what);
}

/* Stamps are made of this clock. A problem of it is a warning: plain counters
 * go on. */
static void clock_print(const redisReply *clock, const struct view *view)
{
    const int64_t steps = reply_integer(clock, "steps_back");
    const char *reason = reply_text(clock, "reason");
    const char *effect = reply_text(clock, "effect");
    char moment[40];
    char line[LINE_SIZE];

    if (clock == NULL)
        return;
    moment_format(moment, sizeof moment, reply_integer(clock, "guarded_ms"));
    snprintf(line, sizeof line, "clock %s", moment);
    apart_append(line, clock, "behind_ms", "behind");
    apart_append(line, clock, "ahead_ms", "ahead");
    if (steps > 0)
        snprintf(line + strlen(line), sizeof line - strlen(line),
                 ", it went back %" PRId64 " time%s", steps,
                 steps == 1 ? "" : "s");
    fputc('\n', view->to);
    line_print(view, line);
    if (*reason == '\0')
        return;
    snprintf(line, sizeof line, "warning: %s%s%s", effect,
             effect[0] != '\0' ? ": " : "", reason);
    line_print(view, line);
}

/* The lessors of pools with neighbours; `several`: pools are named. */
static bool lessors_print(const struct rows *lessors, const struct view *view,
                          bool several)
{
    if (lessors->count == 0)
        return true;
    fputc('\n', view->to);
    return table_print(view, STATUS_OF_LESSORS, lessors, several);
}

static bool sequences_print(const struct selection *selection,
                            const struct view *view)
{
    char line[LINE_SIZE];

    fputc('\n', view->to);
    if (selection->sequences.count == 0 && selection->left_out == 0) {
        line_print(view, "no sequence is in use yet");
        return true;
    }
    if (!table_print(view, STATUS_OF_SEQUENCES, &selection->sequences, false))
        return false;
    if (selection->left_out == 0)
        return true;
    snprintf(
        line, sizeof line,
        "%zu more sequence%s: --all or --top N shows them, or name a key or "
        "a pool",
        selection->left_out, selection->left_out == 1 ? "" : "s");
    line_print(view, line);
    return true;
}

static bool partitions_print(const struct selection *selection,
                             const struct view *view, bool several)
{
    const size_t up = selection->up_left_out;
    char line[LINE_SIZE];

    if (selection->partitions.count > 0 &&
        !table_print(view, STATUS_OF_PARTITIONS, &selection->partitions,
                     several))
        return false;
    if (up == 0)
        return true;
    snprintf(line, sizeof line, "%zu %spartition%s: up", up,
             selection->partitions.count > 0 ? "more " : "",
             up == 1 ? "" : "s");
    line_print(view, line);
    return true;
}

bool status_report(const redisReply *status, const struct selection *selection,
                   const struct view *view)
{
    const bool several = pools_are_several(reply_array(status, "partitions"));

    broker_print(status, view);
    fputc('\n', view->to);
    if (!partitions_print(selection, view, several) ||
        !lessors_print(&selection->lessors, view, several) ||
        !sequences_print(selection, view))
        return false;
    clock_print(reply_array(status, "clock"), view);
    return true;
}
