/* SPDX-License-Identifier: Apache-2.0 */
/* A token bucket for each event; see flood.h. */
#include "daemon/log/flood.h"

#include <stdio.h>
#include <string.h>

#include "daemon/log/log.h"

#define LINE_MS (INT64_C(1000) / FLOOD_PER_SECOND)

/* Finds the bucket of a line. Lines without an event share one, and events
 * beyond FLOOD_EVENTS share the last one. */
static struct flood_event *event_find(struct flood *flood, const char *line)
{
    struct log_word word = {.value = "", .value_length = 0};
    char name[FLOOD_NAME_SIZE];
    size_t i = 0;

    (void)log_word_find(line, "event", &word);
    snprintf(name, sizeof name, "%.*s",
             word.value_length > 0 ? (int)word.value_length : 1,
             word.value_length > 0 ? word.value : "-");
    while (i + 1 < FLOOD_EVENTS && flood->events[i].name[0] != '\0' &&
           strcmp(flood->events[i].name, name) != 0)
        i++;
    if (flood->events[i].name[0] == '\0') {
        memcpy(flood->events[i].name, name, sizeof name);
        flood->events[i].lines_ms = FLOOD_BURST * LINE_MS;
    }
    return &flood->events[i];
}

bool flood_admit(struct flood *flood, const char *line, int64_t now_ms)
{
    struct flood_event *event = event_find(flood, line);

    if (now_ms > event->at_ms && event->at_ms > 0)
        event->lines_ms += now_ms - event->at_ms;
    if (event->lines_ms > FLOOD_BURST * LINE_MS)
        event->lines_ms = FLOOD_BURST * LINE_MS;
    event->at_ms = now_ms;
    if (event->lines_ms >= LINE_MS) {
        event->lines_ms -= LINE_MS;
        return true;
    }
    if (event->left_out++ == 0 && event->report_ms < now_ms)
        event->report_ms = now_ms;
    return false;
}

const char *flood_report(struct flood *flood, int64_t now_ms, int64_t *count)
{
    for (size_t i = 0; i < FLOOD_EVENTS && flood->events[i].name[0] != '\0';
         i++) {
        struct flood_event *event = &flood->events[i];

        if (event->left_out == 0 || now_ms < event->report_ms)
            continue;
        *count = event->left_out;
        event->left_out = 0;
        event->report_ms = now_ms + FLOOD_REPORT_MS;
        return event->name;
    }
    return NULL;
}
