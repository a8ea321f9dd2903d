/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl show: what each broker is asked, and how the answer is shown. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/answer.h"
#include "ctl/brokers.h"
#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/json.h"
#include "ctl/show/show.h"
#include "ctl/status/status.h"
#include "ctl/terminal/terminal.h"

#define EVERY_SETTING "*" /* as a pattern */

#define LINE_SIZE 4200 /* of the longest line of the log, and a moment */

/* A subject that can be shown. */
struct subject {
    const char *name; /* also the argument of SEQ.SHOW */
    enum status_of of;
    bool is_list;
};

static const struct subject subjects[] = {
    {"config", STATUS_OF_CONFIG, false}, {"clients", STATUS_OF_CLIENTS, true},
    {"events", STATUS_OF_EVENTS, true},  {"errors", STATUS_OF_ERRORS, true},
    {"limits", STATUS_OF_LIMITS, true},  {"stats", STATUS_OF_STATS, false},
};

struct show {
    const struct subject *subject;
    const char *pattern; /* of settings; NULL: not given */
    struct event_filter filter;
    struct view view;
    size_t brokers; /* how many were shown */
};

/* --- for a person --- */

/* A moment, an age or a size is printed as such, so its name is printed without
 * the unit. */
static void field_print(const struct status_field *field,
                        const redisReply *answer, FILE *to)
{
    const int64_t integer = reply_integer(answer, field->name);
    const bool is_time = field->show == SHOW_AGE || field->show == SHOW_MOMENT;
    const size_t unit = is_time ? strlen("_ms") : 0;
    char text[40];

    fprintf(to, "%.*s: ", (int)(strlen(field->name) - unit), field->name);
    if (field->show == SHOW_AGE)
        age_format(text, sizeof text, integer);
    else if (field->show == SHOW_MOMENT)
        moment_format(text, sizeof text, integer);
    else if (field->show == SHOW_BYTES)
        bytes_format(text, sizeof text, integer);
    else
        snprintf(text, sizeof text, "%" PRId64, integer);
    fprintf(to, "%s\n",
            status_is_text(field) ? reply_text(answer, field->name) : text);
}

static void fields_print(const struct show *show, const redisReply *answer)
{
    const struct status_field *field = status_tables[show->subject->of].fields;

    for (; field->name != NULL; field++)
        field_print(field, answer, show->view.to);
}

/* Prints what follows the settings if some of them were left out. */
static void left_out_print(const redisReply *answer, FILE *to)
{
    const int64_t sequences = reply_integer(answer, "sequences_left_out");
    const int64_t settings = reply_integer(answer, "settings_left_out");

    if (sequences > 0)
        fprintf(to,
                "%" PRId64 " setting%s of sequences left out: --all or a "
                "pattern as sequences.KEY shows them\n",
                sequences, sequences == 1 ? "" : "s");
    if (settings > 0)
        fprintf(to, "%" PRId64 " more setting%s: a pattern shows fewer\n",
                settings, settings == 1 ? "" : "s");
}

/* Prints one setting on a line: "pools.main.timeout: 200ms (default)". */
static void settings_print(const redisReply *settings, FILE *to)
{
    for (size_t i = 0; i < settings->elements; i++) {
        const redisReply *setting = settings->element[i];
        const bool is_default = reply_integer(setting, "is_default") != 0;

        fprintf(to, "%s: %s%s\n", reply_text(setting, "path"),
                reply_text(setting, "value"), is_default ? " (default)" : "");
    }
}

/* Below the table of errors: the last line about each partition. */
static void last_lines_print(const struct rows *rows, const struct view *view)
{
    char line[LINE_SIZE];

    for (size_t i = 0; i < rows->count; i++) {
        const char *last = reply_text(rows->row[i], "last");
        char moment[40];

        if (*last == '\0')
            continue;
        moment_format(moment, sizeof moment,
                      reply_integer(rows->row[i], "last_ms"));
        snprintf(line, sizeof line, "%s %s", moment, last);
        text_wrap(view->to, line, view->is_wide ? 0 : view->width);
    }
}

static bool rows_print(const struct show *show, const struct rows *rows)
{
    if (show->subject->of == STATUS_OF_EVENTS)
        return events_print(rows, &show->view);
    if (show->subject->of == STATUS_OF_LIMITS && rows->count == 0)
        return fputs("no user and no key has a limit\n", show->view.to) >= 0;
    if (!table_print(&show->view, show->subject->of, rows,
                     show->subject->of == STATUS_OF_ERRORS))
        return false;
    if (show->subject->of == STATUS_OF_ERRORS)
        last_lines_print(rows, &show->view);
    return true;
}

/* --- as JSON --- */

static bool rows_object(const struct show *show, const struct rows *rows)
{
    fputs("{\n  ", stdout);
    if (!objects_print(show->subject->of, rows))
        return false;
    puts("\n}");
    return true;
}

static bool map_object(const struct show *show, const redisReply *answer,
                       const redisReply *settings)
{
    struct rows rows;
    bool is_printed = rows_init(&rows, settings);

    fputs("{\n  ", stdout);
    is_printed =
        is_printed &&
        json_print(object_make(status_tables[show->subject->of].fields, answer),
                   JSON_EMBED);
    if (is_printed && settings != NULL) {
        fputs(",\n  ", stdout);
        is_printed = objects_print(STATUS_OF_SETTINGS, &rows);
    }
    rows_fini(&rows);
    return is_printed && puts("\n}") != EOF;
}

/* --- one broker --- */

static bool list_show(const struct show *show,
                      const struct ctl_options *options,
                      const redisReply *answer)
{
    struct rows rows;
    bool is_shown = rows_init(&rows, answer);

    if (is_shown && show->subject->of == STATUS_OF_EVENTS)
        events_keep(&rows, &show->filter);
    is_shown =
        is_shown && (options->given & CTL_JSON ? rows_object(show, &rows)
                                               : rows_print(show, &rows));
    rows_fini(&rows);
    return is_shown;
}

/* The statistics are only a map of fields. */
static bool map_show(const struct show *show, const struct ctl_options *options,
                     const redisReply *answer)
{
    const redisReply *settings = reply_array(answer, "settings");

    if (options->given & CTL_JSON)
        return map_object(show, answer, settings);
    fields_print(show, answer);
    if (settings == NULL)
        return true;
    settings_print(settings, show->view.to);
    left_out_print(answer, show->view.to);
    return true;
}

/* Prints the broker's address if there are several. */
static void head_print(struct show *show, const struct ctl_options *options)
{
    if (options->is_one_of_several && (options->given & CTL_JSON) == 0)
        printf("%s%s:\n", show->brokers++ > 0 ? "\n" : "", options->socket);
}

/* Fails if no setting matches the pattern. */
static enum ctl_exit answer_check(const struct show *show,
                                  const redisReply *answer)
{
    const redisReply *settings = reply_array(answer, "settings");

    if (answer->type != REDIS_REPLY_ARRAY)
        return reply_refuse("SEQ.SHOW", "is no list");
    if (show->pattern == NULL || settings == NULL || settings->elements > 0)
        return CTL_OK;
    ctl_complain("no setting has \"%s\" in its path: seqctl show config lists "
                 "them",
                 show->pattern);
    return CTL_FAILED;
}

static enum ctl_exit broker_show(const struct ctl_options *options,
                                 void *context)
{
    struct show *show = context;
    const char *const words[] = {"SEQ.SHOW", show->subject->name,
                                 show->pattern};
    redisReply *answer;
    enum ctl_exit result =
        client_ask(options, show->pattern != NULL ? 3 : 2, words, &answer);

    if (result == CTL_OK)
        result = answer_check(show, answer);
    if (result == CTL_OK) {
        head_print(show, options);
        if (!(show->subject->is_list ? list_show(show, options, answer)
                                     : map_show(show, options, answer)))
            result = CTL_FAILED;
    }
    freeReplyObject(answer);
    return result;
}

/* --- the command line --- */

static const struct subject *subject_find(const char *name)
{
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        if (strcmp(subjects[i].name, name) == 0)
            return &subjects[i];
    }
    return NULL;
}

bool show_has(const char *name)
{
    return subject_find(name) != NULL;
}

enum ctl_exit show_run(const struct ctl_options *options, char **argument)
{
    struct show show = {.subject = subject_find(argument[0]),
                        .pattern = argument[1]};

    if (show.subject == NULL) {
        ctl_complain(
            "show config, clients, events, errors, limits or stats, not \"%s\"",
            argument[0]);
        return CTL_USAGE;
    }
    if (!event_filter_init(&show.filter, options) ||
        !view_init(&show.view, options))
        return CTL_USAGE;
    if (options->given & (CTL_SINCE | CTL_LEVEL) &&
        show.subject->of != STATUS_OF_EVENTS) {
        ctl_complain("--since and --level are for show events only");
        return CTL_USAGE;
    }
    if ((show.pattern != NULL || options->given & CTL_ALL) &&
        show.subject->of != STATUS_OF_CONFIG) {
        ctl_complain("a pattern and --all are for show config only");
        return CTL_USAGE;
    }
    if (show.pattern != NULL && options->given & CTL_ALL) {
        ctl_complain("show config takes a pattern or --all, not both");
        return CTL_USAGE;
    }
    if (options->given & CTL_ALL)
        show.pattern = EVERY_SETTING;
    return brokers_each(options, broker_show, &show);
}
