/* SPDX-License-Identifier: Apache-2.0 */
/* The mutants of one file, and the file with them. What each inserts before
 * and after its expression is sorted, so that mutants nest. */
#include "mutants/rewrite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct mutant {
    struct span span;
    char *changed;
    int number;
};

struct insertion {
    size_t at;
    const struct mutant *mutant;
    bool ends;
};

struct rewrite {
    const char *text;
    struct mutant *mutants;
    size_t count;
    size_t room;
    int next;
};

struct rewrite *rewrite_new(const char *text, int first)
{
    struct rewrite *rewrite = calloc(1, sizeof *rewrite);

    if (rewrite == NULL)
        return NULL;
    rewrite->text = text;
    rewrite->next = first;
    return rewrite;
}

void rewrite_free(struct rewrite *rewrite)
{
    if (rewrite == NULL)
        return;
    for (size_t i = 0; i < rewrite->count; i++)
        free(rewrite->mutants[i].changed);
    free(rewrite->mutants);
    free(rewrite);
}

static void *at_least(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "mutate: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

void rewrite_add(struct rewrite *rewrite, const struct span *span,
                 char *changed)
{
    if (rewrite->count == rewrite->room) {
        rewrite->room = 2 * rewrite->room + 64;
        rewrite->mutants = at_least(realloc(
            rewrite->mutants, rewrite->room * sizeof *rewrite->mutants));
    }
    rewrite->mutants[rewrite->count++] = (struct mutant){
        .span = *span,
        .changed = changed,
        .number = rewrite->next++,
    };
}

/* Past a comment that begins there, or where it is. */
static size_t past_comment(const char *text, size_t at)
{
    const char *end;

    if (strncmp(text + at, "/*", 2) != 0)
        return at;
    end = strstr(text + at + 2, "*/");
    return end == NULL ? at : (size_t)(end + 2 - text);
}

char *rewrite_text(const struct rewrite *rewrite, const struct span *span)
{
    char *line = at_least(malloc(span->end - span->begin + 1));
    const char *text = rewrite->text;
    size_t size = 0;
    size_t i = span->begin;

    while (i < span->end) {
        i = past_comment(text, i);
        if (i >= span->end)
            break;
        if (!isspace((unsigned char)text[i]))
            line[size++] = text[i];
        else if (size > 0 && line[size - 1] != ' ')
            line[size++] = ' ';
        i++;
    }
    line[size] = '\0';
    return line;
}

static int compare(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* In the file's order. In one place, what ends comes before what begins; the
 * inner one ends first and begins last. */
static int insertion_order(const void *left, const void *right)
{
    const struct insertion *a = left;
    const struct insertion *b = right;
    const struct span *x = &a->mutant->span;
    const struct span *y = &b->mutant->span;
    int order = compare(a->at, b->at);

    if (order == 0)
        order = b->ends - a->ends;
    if (order == 0)
        order = a->ends ? compare(y->begin, x->begin) : compare(y->end, x->end);
    if (order == 0)
        order = a->mutant->number - b->mutant->number;
    if (order != 0 && a->at == b->at && a->ends && x->begin == y->begin)
        order = -order;
    return order;
}

static struct insertion *insertions(const struct rewrite *rewrite)
{
    struct insertion *all =
        at_least(calloc(2 * rewrite->count + 1, sizeof *all));

    for (size_t i = 0; i < rewrite->count; i++) {
        const struct mutant *mutant = &rewrite->mutants[i];

        all[2 * i] = (struct insertion){mutant->span.begin, mutant, false};
        all[2 * i + 1] = (struct insertion){mutant->span.end, mutant, true};
    }
    qsort(all, 2 * rewrite->count, sizeof *all, insertion_order);
    return all;
}

void rewrite_write(struct rewrite *rewrite, FILE *out)
{
    struct insertion *all = insertions(rewrite);
    size_t at = 0;

    for (size_t i = 0; i < 2 * rewrite->count; i++) {
        (void)fwrite(rewrite->text + at, 1, all[i].at - at, out);
        at = all[i].at;
        if (all[i].ends)
            (void)fputs("))", out);
        else
            (void)fprintf(out, "(mutant(%d) ? (%s) : (", all[i].mutant->number,
                          all[i].mutant->changed);
    }
    (void)fputs(rewrite->text + at, out);
    free(all);
}
