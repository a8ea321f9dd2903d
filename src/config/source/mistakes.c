/* SPDX-License-Identifier: Apache-2.0 */
/* Lists sorted by line; mistakes of one line stay in the order found. And the
 * known word that is nearest to an unknown one. */
#include "config/source/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/text.h"

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

__attribute__((format(printf, 4, 0))) static void
keep(struct arena *arena, struct mistake_list *list, int line,
     const char *format, va_list args)
{
    struct mistake *mistake;
    char text[TEXT_SIZE];

    if (list->count++ >= KEPT_MAX)
        return;
    (void)vsnprintf(text, sizeof text, format, args);
    make_one_line(text);
    mistake = arena_take(arena, 1, sizeof *mistake);
    if (mistake == NULL)
        return;
    mistake->line = line;
    mistake->text = arena_format(arena, "%s", text);
    if (mistake->text != NULL)
        insert(&list->first, mistake);
}

void mistakes_add(struct mistakes *mistakes, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep(mistakes->arena, &mistakes->found, line, format, args);
    va_end(args);
}

void mistakes_warn(struct mistakes *mistakes, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep(mistakes->arena, &mistakes->warnings, line, format, args);
    va_end(args);
}

void mistakes_note(struct mistakes *mistakes, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep(mistakes->arena, &mistakes->notes, line, format, args);
    va_end(args);
}

/* --- did you mean --- */

/* The longer a word, the more slips of the finger are believed. */
static int most_edits(const char *word)
{
    const size_t length = strlen(word);

    if (length < 4)
        return length > 1;
    return length < 8 ? 2 : 3;
}

void nearest_weigh(struct nearest *nearest, const char *known)
{
    int distance;

    if (known == NULL)
        return;
    distance = text_distance(nearest->word, known);
    if (distance > most_edits(known))
        return;
    if (nearest->best != NULL && nearest->distance <= distance)
        return;
    nearest->best = known;
    nearest->distance = distance;
}

const char *nearest_hint(const struct nearest *nearest, const char *otherwise,
                         char out[NEAREST_HINT_SIZE])
{
    if (nearest->best == NULL)
        (void)text_copy(out, NEAREST_HINT_SIZE, otherwise);
    else
        (void)text_format(out, NEAREST_HINT_SIZE, ": did you mean '%s'?",
                          nearest->best);
    return out;
}
