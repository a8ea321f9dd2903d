/* SPDX-License-Identifier: Apache-2.0 */
/* The process-wide logger: the only mutable global of the library. Also the
 * quoting of values in log lines. */
#include "platform/log.h"

#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "platform/text.h"

#define WORDS_SIZE  (SEQB_ERROR_TEXT_SIZE + 256)
#define REASON_SIZE ((size_t)2 * SEQB_ERROR_TEXT_SIZE)
#define ESCAPE_SIZE 8
#define VALUE_MIN   8 /* bytes: two quotes, "...", the final 0, and a few */

static struct {
    pthread_mutex_t lock; /* guards the other fields; one line at a time */
    void (*write)(void *context, enum seqb_log_level level, const char *line);
    void *context;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER};

void seqb_set_logger(void (*write)(void *context, enum seqb_log_level level,
                                   const char *line),
                     void *context)
{
    pthread_mutex_lock(&logger.lock);
    logger.write = write;
    logger.context = context;
    pthread_mutex_unlock(&logger.lock);
}

static void line_write(enum seqb_log_level level, const char *line)
{
    pthread_mutex_lock(&logger.lock);
    if (logger.write != NULL)
        logger.write(logger.context, level, line);
    pthread_mutex_unlock(&logger.lock);
}

/* Bytes of the UTF-8 character that `text` begins with; 0: it is not valid. */
static size_t character_length(const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)text[0];
    const size_t length = first < 0x80    ? 1
                          : first >= 0xf0 ? 4
                          : first >= 0xe0 ? 3
                                          : 2;
    uint32_t point = first & (0xffU >> (length + 1));

    if (length == 1)
        return 1;
    if (first < 0xc0 || first > 0xf7)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) /* true for the final 0, too */
            return 0;
        point = point << 6 | (text[i] & 0x3fU);
    }
    if (point < least[length] || point > 0x10ffff || (point >> 11) == 0x1b)
        return 0;
    return length;
}

/* U+0080 ... U+009F, which a terminal may obey as it obeys ESC. */
static bool is_c1_control(const char *text)
{
    return (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0;
}

/* The text of the character that `text` begins with, escaped if necessary.
 * Returns how many bytes of `text` it stands for. */
static size_t character_escape(const char *text, char out[ESCAPE_SIZE])
{
    static const char named[] = "\"\\\n\r\t";
    static const char names[] = "\"\\nrt";
    const size_t length = character_length(text);
    const char *name = strchr(named, *text);

    if (length == 0) {
        (void)text_copy(out, ESCAPE_SIZE, "\\ufffd");
        return 1;
    }
    if (name != NULL)
        (void)text_format(out, ESCAPE_SIZE, "\\%c", names[name - named]);
    else if ((unsigned char)*text < ' ' || *text == 0x7f)
        (void)text_format(out, ESCAPE_SIZE, "\\u%04x", (unsigned)*text);
    else if (is_c1_control(text))
        (void)text_format(out, ESCAPE_SIZE, "\\u%04x",
                          (unsigned)(unsigned char)text[1]);
    else
        (void)text_format(out, ESCAPE_SIZE, "%.*s", (int)length, text);
    return length;
}

static void value_quote(char *to, size_t size, const char *value)
{
    static const char end[] = "\"";
    static const char cut[] = "...\"";
    size_t used = 1;
    size_t cut_at = 1; /* the last position that leaves room for `cut` */

    to[0] = '"';
    while (*value != '\0') {
        char escape[ESCAPE_SIZE];
        const size_t length = character_escape(value, escape);
        const size_t width = strlen(escape);

        if (used + width + sizeof end > size) {
            memcpy(to + cut_at, cut, sizeof cut);
            return;
        }
        (void)text_copy(to + used, size - used, escape);
        used += width;
        value += length;
        if (used + sizeof cut <= size)
            cut_at = used;
    }
    memcpy(to + used, end, sizeof end);
}

/* Whether a parser would end the value early, or read none. */
static bool value_needs_quotes(const char *value)
{
    if (*value == '\0')
        return true;
    for (; *value != '\0'; value++)
        if ((unsigned char)*value <= ' ' || (unsigned char)*value >= 0x7f ||
            strchr("\"=\\", *value) != NULL)
            return true;
    return false;
}

const char *log_value(char *to, size_t size, const char *value)
{
    assert(size >= VALUE_MIN);
    if (value_needs_quotes(value) || strlen(value) >= size)
        value_quote(to, size, value);
    else
        (void)text_copy(to, size, value);
    return to;
}

void log_line(enum seqb_log_level level, const char *format, ...)
{
    char line[WORDS_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    line_write(level, line);
}

void log_reason(enum seqb_log_level level, const char *reason,
                const char *format, ...)
{
    static const char key[] = " reason=";
    char line[WORDS_SIZE + sizeof key + REASON_SIZE];
    size_t used;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, WORDS_SIZE, format, args);
    va_end(args);
    (void)text_append(line, sizeof line, "%s", key);
    used = strlen(line);
    value_quote(line + used, sizeof line - used, reason);
    line_write(level, line);
}
