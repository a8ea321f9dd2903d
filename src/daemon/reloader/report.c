/* SPDX-License-Identifier: Apache-2.0 */
/* See report.h. */
#include "daemon/reloader/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"

#define ADVICE_SIZE 128
#define MORE_SIZE   32 /* "; and 100000 more" */

static void line_fini(struct reload_line *line)
{
    free(line->path);
    free(line->before);
    free(line->after);
    free(line->advice);
}

static bool line_add(struct reload_report *report,
                     const struct seqb_reload_change *change)
{
    struct reload_line *lines =
        realloc(report->lines, (report->count + 1) * sizeof *lines);
    struct reload_line *line;

    if (lines == NULL)
        return false;
    report->lines = lines;
    line = &lines[report->count];
    *line = (struct reload_line){change->need, strdup(change->path),
                                 strdup(change->before), strdup(change->after),
                                 strdup(change->advice)};
    if (line->path == NULL || line->before == NULL || line->after == NULL ||
        line->advice == NULL) {
        line_fini(line);
        return false;
    }
    report->count++;
    return true;
}

bool reload_report_reason(struct reload_report *report, const char *reason)
{
    if (report->reason_count == RELOAD_REASONS_MAX) {
        report->reasons_left_out++;
        return true;
    }
    report->reasons[report->reason_count] = strdup(reason);
    return report->reasons[report->reason_count] != NULL &&
           ++report->reason_count > 0;
}

static bool reason_of_change(struct reload_report *report,
                             const struct seqb_reload_change *change)
{
    char reason[SEQB_ERROR_TEXT_SIZE];

    snprintf(reason, sizeof reason,
             "%s cannot change from '%s' to '%s' while the broker runs: %s",
             change->path, change->before, change->after, change->advice);
    return reload_report_reason(report, reason);
}

bool reload_report_add(struct reload_report *report,
                       const struct seqb_reload_change *change)
{
    if (change->need == SEQB_RELOAD_REFUSED &&
        !reason_of_change(report, change))
        return false;
    report->applied += change->need == SEQB_RELOAD_NOTHING;
    report->restart += change->need == SEQB_RELOAD_RESTART;
    if (report->count < RELOAD_LISTED_MAX)
        return line_add(report, change);
    report->left_out++;
    return true;
}

static void lines_free(struct reload_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        line_fini(&report->lines[i]);
    free(report->lines);
    report->lines = NULL;
    report->count = 0;
}

void reload_report_free(struct reload_report *report)
{
    for (size_t i = 0; i < report->reason_count; i++)
        free(report->reasons[i]);
    report->reason_count = 0;
    lines_free(report);
}

/* --- what is in effect --- */

static unsigned long long bit_of(const struct daemon *daemon,
                                 const struct daemon_place *place)
{
    return 1ULL << (place - daemon->places);
}

void reload_given_add(struct reload_given *given, const struct daemon *daemon,
                      const char *setting)
{
    char path[64];
    const struct daemon_place *place;

    snprintf(path, sizeof path, "daemon.%s", setting);
    place = daemon_find_place(daemon, path);
    if (place != NULL)
        given->setting |= bit_of(daemon, place);
}

static bool text_replace(char **text, const char *with)
{
    char *copy = strdup(with);

    if (copy == NULL)
        return false;
    free(*text);
    *text = copy;
    return true;
}

/* `what` is an option, or a variable of the environment. */
static bool advise(struct reload_line *line, const char *what,
                   const char *decides)
{
    char advice[ADVICE_SIZE];

    snprintf(advice, sizeof advice, "%s, not the topology, decides %s", what,
             decides);
    return text_replace(&line->advice, advice);
}

/* A setting that is not given has the value ""; but the daemon may listen
 * somewhere all the same. */
static bool place_explain(struct reload_line *line, const struct daemon *daemon,
                          const struct daemon_place *place,
                          const struct reload_given *given)
{
    const bool is_given =
        !given->has_settings || (given->setting & bit_of(daemon, place)) != 0;

    if ((place->decider != NULL || line->before[0] == '\0') &&
        !text_replace(&line->before, place_in_use(place)))
        return false;
    if (!is_given && place->fallback != NULL &&
        !text_replace(&line->after, place->fallback))
        return false;
    return place->decider == NULL ||
           advise(line, place->decider, "where it listens");
}

static bool line_explain(struct reload_line *line, const struct daemon *daemon,
                         const struct reload_given *given)
{
    const struct daemon_place *place = daemon_find_place(daemon, line->path);

    if (place != NULL)
        return place_explain(line, daemon, place, given);
    if (given->has_level && strcmp(line->path, "daemon.log_level") == 0)
        return advise(line, "--log-level", "what is logged");
    return true;
}

bool reload_report_explain(struct reload_report *report,
                           const struct daemon *daemon,
                           const struct reload_given *given)
{
    for (size_t i = 0; i < report->count; i++)
        if (!line_explain(&report->lines[i], daemon, given))
            return false;
    return true;
}

/* The error has as many of the reasons as fit. */
static void reasons_join(struct reload_report *report)
{
    const size_t all = report->reason_count + report->reasons_left_out;
    const size_t room = sizeof report->err.text - MORE_SIZE;
    char *text = report->err.text;
    size_t listed = 0;
    size_t length;

    snprintf(text, room, "nothing was applied, for %zu reasons", all);
    length = strlen(text);
    while (listed < report->reason_count &&
           length + strlen("; ") + strlen(report->reasons[listed]) < room) {
        snprintf(text + length, room - length, "%s %s", listed == 0 ? ":" : ";",
                 report->reasons[listed]);
        length += strlen(text + length);
        listed++;
    }
    if (listed < all)
        snprintf(text + length, MORE_SIZE, "; and %zu more", all - listed);
}

/* If memory is short, the report has no lines, or no reasons but its error. */
void reload_report_refuse(struct reload_report *report,
                          const struct daemon *daemon,
                          const struct reload_given *given)
{
    if (daemon == NULL || !reload_report_explain(report, daemon, given))
        lines_free(report);
    report->applied = 0;
    report->restart = 0;
    if (report->reason_count == 0)
        (void)reload_report_reason(report, report->err.text);
    else if (report->reason_count > 1)
        reasons_join(report);
}
