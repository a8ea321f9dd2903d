/* SPDX-License-Identifier: Apache-2.0 */
/* A list sorted by line; mistakes of one line stay in the order found. */
#include "config/mistakes.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_SIZE 512
#define KEPT_MAX  500 /* who has more will run the check again anyway */

static void make_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

static void insert(struct mistake **at, struct mistake *mistake)
{
    while (*at != NULL && (*at)->line <= mistake->line)
        at = &(*at)->next;
    mistake->next = *at;
    *at = mistake;
}

static void keep(struct arena *arena, struct mistake **first, int line,
                 char *text)
{
    struct mistake *mistake;

    make_one_line(text);
    mistake = arena_take(arena, 1, sizeof *mistake);
    if (mistake == NULL)
        return;
    mistake->line = line;
    mistake->text = arena_format(arena, "%s", text);
    if (mistake->text != NULL)
        insert(first, mistake);
}

void mistakes_add(struct mistakes *mistakes, int line, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    if (mistakes->count++ >= KEPT_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    keep(mistakes->arena, &mistakes->first, line, text);
}

void mistakes_warn(struct mistakes *mistakes, int line, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    if (mistakes->warning_count++ >= KEPT_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    keep(mistakes->arena, &mistakes->warnings, line, text);
}

void mistakes_note(struct mistakes *mistakes, int line, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list args;

    if (mistakes->note_count++ >= KEPT_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    keep(mistakes->arena, &mistakes->notes, line, text);
}
