/* SPDX-License-Identifier: Apache-2.0 */
/* Lists sorted by line; mistakes of one line keep the order in which they were
 * found. Also finds the known word nearest to an unknown one. */
#include "config/source/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/text.h"

#define TEXT_SIZE 512
/* More would not help: the check has to run again anyway. */
#define KEPT_MAX  500

static void make_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

static void insert(struct diagnostic **at, struct diagnostic *diagnostic)
{
    while (*at != NULL && (*at)->line <= diagnostic->line)
        at = &(*at)->next;
    diagnostic->next = *at;
    *at = diagnostic;
}

__attribute__((format(printf, 4, 0))) static void
keep(struct arena *arena, struct diagnostic_list *list, int line,
     const char *format, va_list args)
{
    struct diagnostic *diagnostic;
    char text[TEXT_SIZE];

    if (list->count++ >= KEPT_MAX)
        return;
    (void)vsnprintf(text, sizeof text, format, args);
    make_one_line(text);
    diagnostic = arena_take(arena, 1, sizeof *diagnostic);
    if (diagnostic == NULL)
        return;
    diagnostic->line = line;
    diagnostic->text = arena_format(arena, "%s", text);
    if (diagnostic->text != NULL)
        insert(&list->first, diagnostic);
}

void diagnostics_add(struct diagnostics *diagnostics, int line,
                     const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep(diagnostics->arena, &diagnostics->found, line, format, args);
    va_end(args);
}

void diagnostics_warn(struct diagnostics *diagnostics, int line,
                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep(diagnostics->arena, &diagnostics->warnings, line, format, args);
    va_end(args);
}

void diagnostics_note(struct diagnostics *diagnostics, int line,
                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep(diagnostics->arena, &diagnostics->notes, line, format, args);
    va_end(args);
}

bool diagnostics_have_room(const struct diagnostic_list *list)
{
    return list->count < KEPT_MAX;
}

/* --- did you mean --- */

/* A longer word may have more typing errors. */
static int most_edits(const char *word)
{
    const size_t length = strlen(word);

    if (length < 4)
        return length > 1;
    return length < 8 ? 2 : 3;
}

void did_you_mean_weigh(struct did_you_mean *did_you_mean, const char *known)
{
    int distance;

    if (known == NULL)
        return;
    distance = text_distance(did_you_mean->word, known);
    if (distance > most_edits(known))
        return;
    if (did_you_mean->best != NULL && did_you_mean->distance <= distance)
        return;
    did_you_mean->best = known;
    did_you_mean->distance = distance;
}

const char *did_you_mean_hint(const struct did_you_mean *did_you_mean,
                              const char *otherwise,
                              char out[DID_YOU_MEAN_SIZE])
{
    if (did_you_mean->best == NULL)
        (void)text_copy(out, DID_YOU_MEAN_SIZE, otherwise);
    else
        (void)text_format(out, DID_YOU_MEAN_SIZE, ": did you mean '%s'?",
                          did_you_mean->best);
    return out;
}
