/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a topology, before it is understood: memory that lives as long
 * as it, the mistakes found in it, and what is done to it before libconfig sees
 * it. The front header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/status.h>

/* --- arena.c --- */

struct arena_block;

/* Zeroed is empty. */
struct arena {
    struct arena_block *blocks;
    bool is_out_of_memory; /* stays true; whoever fills the arena asks once,
                              at the end */
};

/* `count` zeroed elements; NULL when out of memory. */
void *arena_take(struct arena *arena, size_t count, size_t size);

/* A copy of a text; NULL when out of memory. */
char *arena_copy(struct arena *arena, const char *text);

/* The same of a text that ends after `length` bytes. */
char *arena_copy_part(struct arena *arena, const char *text, size_t length);

/* A formatted text; NULL when out of memory. */
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void arena_free(struct arena *arena);

/* --- mistakes.c --- */

struct diagnostic {
    struct diagnostic *next;
    int line; /* of the source, see source_line_at */
    char *text;
};

struct diagnostic_list {
    struct diagnostic *first; /* sorted by line */
    size_t count;             /* may be more than are kept */
};

/* Collected by all who look at a topology, told at the end all at once. */
struct diagnostics {
    struct arena *arena; /* holds them, and what is needed to find them */
    struct diagnostic_list found;
    struct diagnostic_list warnings; /* of what is sound, but to be looked at */
    struct diagnostic_list notes;    /* of what is worth knowing */
};

/* Adds one; control characters become '?' and a long text is cut, so that it
 * is one line whatever the topology holds. */
void diagnostics_add(struct diagnostics *diagnostics, int line,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a warning, and for a note. */
void diagnostics_warn(struct diagnostics *diagnostics, int line,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diagnostics_note(struct diagnostics *diagnostics, int line,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether one more would be kept. */
bool diagnostics_have_room(const struct diagnostic_list *list);

struct did_you_mean {
    const char *word; /* the unknown one */
    const char *best; /* NULL: none is near */
    int distance;
};

/* Weighs one known word (NULL is none); the nearest stands in `best`. */
void did_you_mean_weigh(struct did_you_mean *did_you_mean, const char *known);

#define NEAREST_HINT_SIZE 96

/* ": did you mean 'x'?" into `out`, or `otherwise` if none is near. Returns
 * `out`. */
const char *did_you_mean_hint(const struct did_you_mean *did_you_mean,
                              const char *otherwise,
                              char out[NEAREST_HINT_SIZE]);

/* --- scan.c --- */

#define SCAN_SIZE_MAX (16 << 20) /* bytes of a topology, includes and all */

/* Whether libconfig's names may have it, if not as their first letter. Whatever
 * the locale. */
static inline bool source_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '*';
}

/* Where a line of the source came from. */
struct source_line {
    const char *file;
    int line;
};

/* One text made of a topology and what it includes. Lines count from 1. */
struct source {
    struct arena *arena;
    struct diagnostics *diagnostics;
    /* Reads a whole file, `*out` is for free(). NULL: no includes. */
    enum seqb_status (*read)(const char *path, char **out,
                             struct seqb_error *err);
    char *text;
    size_t length;
    size_t capacity;
    struct source_line *lines;
    size_t line_count;
    size_t line_capacity;
    size_t taken;     /* bytes read from files so far */
    bool is_given_up; /* too large or too deep: reading on makes it worse */
};

/*
 * Appends `text`, which is called `file` in messages; an include is relative
 * to the folder of the file that names it. False, and at least one mistake,
 * if libconfig must not read the result.
 */
bool scan_text(struct source *source, const char *text, const char *file);

/* Where a line came from; past the end, the last one. */
struct source_line source_line_at(const struct source *source, int line);

/* Takes a zeroed or half-built one. Does not free the arena. */
void source_free(struct source *source);

/* --- alike.c --- */

/* A group of a list that is an earlier one with another key. */
struct alike_group {
    size_t at;       /* its place in the list */
    size_t of;       /* that of the earlier one */
    int lines;       /* from that one to it */
    const char *key; /* in the text; ends after `length` */
    size_t length;
};

struct alike {
    char *text; /* without those groups; its lines are the same */
    struct alike_group *groups; /* in the order of the list */
    size_t count;
    size_t capacity;
};

/*
 * Finds the groups of the list named `list` that are alike but for the text of
 * their setting `key`, which is a sound key in each. `text` must outlive them.
 * False if there are none, or no memory to find them: then the text as it is
 * has all. Is to be freed in either case.
 *
 * `text` may be no libconfig: then alike->text is none, either, or reads as
 * groups with mistakes. So with any mistake in it, `text` is to be read.
 */
bool alike_find(struct alike *alike, const char *text, const char *list,
                const char *key);

void alike_free(struct alike *alike);
