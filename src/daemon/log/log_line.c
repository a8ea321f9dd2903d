/* SPDX-License-Identifier: Apache-2.0 */
/* Formatting of log lines. JSON is made from the logfmt words, each of which
 * becomes a member; a quoted value is a JSON string already. */
#include "daemon/log/log_line.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "status/json/json.h"

#define DATE_SIZE   32
#define PREFIX_SIZE 8 /* "<6>" */
#define ESCAPE_SIZE 6 /* "\u009b" */

/* The priorities of syslog, which journald reads. */
static const int priorities[] = {3, 4, 6, 7};

const char *log_level_name(enum seqb_log_level level)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};

    return names[level];
}

/* Writes the time as "2026-11-21T10:00:00.123Z". */
static void date_print(int64_t time_ms, char out[DATE_SIZE])
{
    const time_t seconds = (time_t)(time_ms / 1000);
    struct tm utc;
    char date[DATE_SIZE - 8];

    gmtime_r(&seconds, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, DATE_SIZE, "%s.%03dZ", date, (int)(time_ms % 1000));
}

/* --- JSON --- */

/* Bytes of the control character that `text` begins with; 0: it is none. */
static size_t control_length(const char *text)
{
    const unsigned char first = (unsigned char)text[0];

    if (first == 0x7f)
        return 1;
    return first == 0xc2 && (unsigned char)text[1] < 0xa0 ? 2 : 0;
}

char *log_controls_escape(char *json)
{
    const char *from = json;
    char *escaped = NULL;
    size_t used = 0;

    if (json != NULL)
        escaped = malloc(strlen(json) * ESCAPE_SIZE + 1);
    for (; escaped != NULL && *from != '\0'; from++) {
        const size_t length = control_length(from);

        if (length == 0) {
            escaped[used++] = *from;
            continue;
        }
        from += length - 1;
        used += (size_t)snprintf(escaped + used, ESCAPE_SIZE + 1, "\\u%04x",
                                 (unsigned)(unsigned char)*from);
    }
    if (escaped != NULL)
        escaped[used] = '\0';
    free(json);
    return escaped;
}

/* A quoted value whose end was truncated is shown as it is, if it is valid
 * text. */
static json_t *value_make(const char *text, size_t length)
{
    json_t *value = NULL;

    if (*text == '"')
        value = json_loadb(text, length, JSON_DECODE_ANY, NULL);
    if (value == NULL)
        value = json_stringn(text, length);
    return value != NULL ? value : json_string("");
}

/* Adds the words of the line. False if memory is short. */
static bool words_add(json_t *object, const char *line)
{
    struct log_word word;

    while (log_word_next(&line, &word)) {
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)word.key_length, word.key);
        if (json_object_set_new(object, name,
                                value_make(word.value, word.value_length)) != 0)
            return false;
    }
    return true;
}

static char *object_print(const struct log_entry *entry, bool is_journal)
{
    json_t *object = json_object();
    char date[DATE_SIZE];
    char *text = NULL;

    date_print(entry->time_ms, date);
    if ((is_journal ||
         json_object_set_new(object, "ts", json_string(date)) == 0) &&
        json_object_set_new(object, "level",
                            json_string(log_level_name(entry->level))) == 0 &&
        words_add(object, entry->line))
        text = log_controls_escape(json_to_text(object, JSON_COMPACT));
    json_decref(object);
    return text;
}

char *log_entry_json(const struct log_entry *entry)
{
    return object_print(entry, false);
}

/* --- lines --- */

static void priority_print(const struct log_entry *entry, char out[PREFIX_SIZE])
{
    snprintf(out, PREFIX_SIZE, "<%d>", priorities[entry->level]);
}

static char *logfmt_make(const struct log_entry *entry, bool is_journal)
{
    char date[DATE_SIZE];
    char priority[PREFIX_SIZE] = "";
    char *line;

    date_print(entry->time_ms, date);
    priority_print(entry, priority);
    if (asprintf(&line, "%s%s%s %s\n", is_journal ? priority : date,
                 is_journal ? "" : " ", log_level_name(entry->level),
                 entry->line) < 0)
        return NULL;
    return line;
}

static char *json_make(const struct log_entry *entry, bool is_journal)
{
    char priority[PREFIX_SIZE] = "";
    char *object = object_print(entry, is_journal);
    char *line = NULL;

    priority_print(entry, priority);
    if (object != NULL &&
        asprintf(&line, "%s%s\n", is_journal ? priority : "", object) < 0)
        line = NULL;
    free(object);
    return line;
}

char *log_line_make(const struct log_entry *entry, enum log_format format,
                    bool is_journal)
{
    return (format == LOG_JSON ? json_make : logfmt_make)(entry, is_journal);
}

char *log_json(const struct log_entry *entry)
{
    return object_print(entry, false);
}
