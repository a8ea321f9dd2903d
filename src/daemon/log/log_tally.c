/* SPDX-License-Identifier: Apache-2.0 */
/* Counting lines by their event; see log_tally.h. */
#include "daemon/log/log_tally.h"

#include <stdlib.h>
#include <string.h>

/* The tally of the event, or a free one made its own; NULL if there is none. */
static struct log_tally *tally_find(struct log_tally tallies[LOG_EVENTS_MAX],
                                    const struct log_word *event)
{
    for (size_t i = 0; i < LOG_EVENTS_MAX; i++) {
        struct log_tally *tally = &tallies[i];

        if (tally->event[0] == '\0') {
            memcpy(tally->event, event->value, event->value_length);
            return tally;
        }
        if (strlen(tally->event) == event->value_length &&
            memcmp(tally->event, event->value, event->value_length) == 0)
            return tally;
    }
    return NULL;
}

/* The amount of that key in the line; 0 if the line has none. */
static int64_t amount_of(const char *line, const char *key)
{
    struct log_word word;

    return log_word_find(line, key, &word) ? strtoll(word.value, NULL, 10) : 0;
}

void log_tally_add(struct log_tally tallies[LOG_EVENTS_MAX],
                   const struct log_entry *entry)
{
    const char *line = entry->line;
    struct log_tally *tally = NULL;
    struct log_word event;

    if (log_word_find(line, "event", &event) &&
        event.value_length < sizeof tally->event)
        tally = tally_find(tallies, &event);
    if (tally == NULL)
        return;
    tally->lines[entry->level]++;
    tally->numbers += amount_of(line, "numbers");
    tally->taken += amount_of(line, "taken");
    tally->given += amount_of(line, "given");
    tally->kept = amount_of(line, "kept");
    tally->waiting = amount_of(line, "waiting");
    tally->last = entry->number;
}
