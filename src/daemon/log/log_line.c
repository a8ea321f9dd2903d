/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the log. JSON is made of the logfmt words, each of which becomes a
 * member: what is quoted there is a string of JSON already. */
#include "daemon/log/log_line.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PREFIX_SIZE 8 /* "<6>" */

/* Those of syslog, which journald reads. */
static const int priorities[] = {3, 4, 6, 7};

const char *log_level_name(enum seqb_log_level level)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};

    return names[level];
}

void log_date_print(int64_t time_ms, char out[LOG_DATE_SIZE])
{
    const time_t seconds = (time_t)(time_ms / 1000);
    struct tm utc;
    char date[LOG_DATE_SIZE - 8];

    gmtime_r(&seconds, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, LOG_DATE_SIZE, "%s.%03dZ", date, (int)(time_ms % 1000));
}

/* --- JSON --- */

/* Bytes of the value that `text` begins with: up to its quote, or to a space.
 */
static size_t value_length(const char *text)
{
    size_t length = 1;

    if (*text != '"')
        return strcspn(text, " ");
    while (text[length] != '"' && text[length] != '\0')
        length += text[length] == '\\' && text[length + 1] != '\0' ? 2 : 1;
    return length + (text[length] == '"');
}

/* A value that a line lost its end of is shown as it stands there. */
static json_t *value_make(const char *text, size_t length)
{
    json_t *value = NULL;

    if (*text == '"')
        value = json_loadb(text, length, JSON_DECODE_ANY, NULL);
    return value != NULL ? value : json_stringn(text, length);
}

/* Adds the words of the line. False: out of memory. */
static bool words_add(json_t *object, const char *line)
{
    while (*line != '\0') {
        const size_t key = strcspn(line, "= ");
        const size_t begin = key + (line[key] == '=');
        const size_t length = value_length(line + begin);
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)key, line);
        if (json_object_set_new(object, name,
                                value_make(line + begin, length)) != 0)
            return false;
        line += begin + length;
        line += strspn(line, " ");
    }
    return true;
}

static char *object_print(const struct log_entry *entry, bool is_journal)
{
    json_t *object = json_object();
    char date[LOG_DATE_SIZE];
    char *text = NULL;

    log_date_print(entry->time_ms, date);
    if ((is_journal ||
         json_object_set_new(object, "ts", json_string(date)) == 0) &&
        json_object_set_new(object, "level",
                            json_string(log_level_name(entry->level))) == 0 &&
        words_add(object, entry->line))
        text = json_dumps(object, JSON_COMPACT);
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
    char date[LOG_DATE_SIZE];
    char priority[PREFIX_SIZE] = "";
    char *line;

    log_date_print(entry->time_ms, date);
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
