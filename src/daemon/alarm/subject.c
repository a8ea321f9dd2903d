/* SPDX-License-Identifier: Apache-2.0 */
/* The table of states, and of the events that begin and end them; see
 * subject.h. Any other event is a subject of its own. */
#include "daemon/alarm/subject.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "daemon/log/log.h"

#define OWN_PREFIX "alarm_"

struct state_event {
    const char *event;
    const char *of;
    bool ends;
};

static const struct state_event state_events[ALARM_STATE_EVENTS] = {
    {"suspect", "partition", false},
    {"quarantined", "partition", false},
    {"refused", "partition", false},
    {"poisoned", "partition", false},
    {"up", "partition", true},
    {"drained", "partition", true},
    {"counter_refused", "counter", false},
    {"exhausted", "counter", false}, /* a stamp's end, a wider
                                        template, or a restart ends it */
    {"layout", "counter", false}, /* ends when a reload takes the sequence out,
                                     or by a restart */
    {"counter_recovered", "counter", true},
    {"lessor_waits", "lessor", false},
    {"lessor_level", "lessor", true},
    {"worker_lease_failed", "worker_lease", false},
    {"worker_leased", "worker_lease", true},
    {"clock_unset", "clock", false},
    {"clock_back", "clock", false},
    {"clock_ahead", "clock", false},
    {"clock_ok", "clock", true},
    {"clock_not_kept", "clock_file", false},
    {"clock_kept", "clock_file", true},
    {"unasked", "unasked", false},
    {"asked", "unasked", true},
    {"tls_reload_failed", "tls_files", false},
    {"tls_reloaded", "tls_files", true},
    {"audit_failed", "audit_file", false},
    {"audit_written", "audit_file", true},
};

/* The keys that identify the subject of an event. The other keys describe its
 * condition. */
static const char *const identities[] = {"pool", "partition", "backend",
                                         "key",  "counter",   "file",
                                         "user", "target",    "name"};

static const struct state_event *state_event_find(const char *event)
{
    for (size_t i = 0; i < ALARM_STATE_EVENTS; i++) {
        if (strcmp(state_events[i].event, event) == 0)
            return &state_events[i];
    }
    return NULL;
}

static enum alarm_subject_kind state_kind(const struct state_event *state)
{
    if (state == NULL)
        return ALARM_OF_ONCE;
    return strcmp(state->of, "counter") == 0 ? ALARM_OF_COUNTER
                                             : ALARM_OF_SYSTEM;
}

static bool is_identity(const struct log_word *word)
{
    for (size_t i = 0; i < sizeof identities / sizeof identities[0]; i++) {
        if (strlen(identities[i]) == word->key_length &&
            strncmp(identities[i], word->key, word->key_length) == 0)
            return true;
    }
    return false;
}

/* Removes the last character of a truncated text, which may not be whole. */
static void character_drop(char *text)
{
    size_t end = strlen(text);

    while (end > 0 && ((unsigned char)text[end - 1] & 0xc0) == 0x80)
        end--;
    text[end > 0 ? end - 1 : 0] = '\0';
}

/* A name that does not fit is truncated: two subjects may then be taken for
 * one. */
static void name_print(char name[ALARM_SUBJECT_SIZE], const char *of,
                       const char *line)
{
    size_t used = (size_t)snprintf(name, ALARM_SUBJECT_SIZE, "%s", of);
    struct log_word word;

    while (log_word_next(&line, &word) && used < ALARM_SUBJECT_SIZE) {
        const int length = (int)(word.value + word.value_length - word.key);

        if (is_identity(&word))
            used += (size_t)snprintf(name + used, ALARM_SUBJECT_SIZE - used,
                                     " %.*s", length, word.key);
    }
    if (used >= ALARM_SUBJECT_SIZE)
        character_drop(name);
}

/* Whether the line says that some of what the state is about still wait. */
static bool is_in_part(const char *line)
{
    struct log_word word;

    return log_word_find(line, "waiting", &word) && word.value[0] != '0';
}

bool alarm_subject_find(const char *line, struct alarm_subject *out)
{
    const struct state_event *state;
    struct log_word word;

    if (strncmp(line, "event=", strlen("event=")) != 0 ||
        !log_word_find(line, "event", &word) ||
        word.value_length >= sizeof out->event ||
        strncmp(word.value, OWN_PREFIX, strlen(OWN_PREFIX)) == 0)
        return false;
    snprintf(out->event, sizeof out->event, "%.*s", (int)word.value_length,
             word.value);
    state = state_event_find(out->event);
    out->kind = state_kind(state);
    out->ends = state != NULL && state->ends && !is_in_part(line);
    name_print(out->name, state != NULL ? state->of : out->event, line);
    return true;
}
