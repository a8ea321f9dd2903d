/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a topology before it is parsed: an arena for all that is made of
 * it, the list of mistakes, and what is done to the text before libconfig reads
 * it. This is the front header of the folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/status.h>

/* --- arena.c --- */

struct arena_block;

/* Zeroed is empty. Not thread-safe. */
struct arena {
    struct arena_block *blocks;
    bool is_out_of_memory; /* once set, it stays set: callers check it once, at
                              the end */
};

/* `count` zeroed elements of `size` bytes; NULL when out of memory. */
void *arena_take(struct arena *arena, size_t count, size_t size);

/* A copy of a text; NULL when out of memory. */
char *arena_copy(struct arena *arena, const char *text);

/* A copy of the first `length` bytes of a text, terminated by 0; NULL when out
 * of memory. */
char *arena_copy_part(struct arena *arena, const char *text, size_t length);

/* A formatted text; NULL when out of memory. */
char *arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void arena_free(struct arena *arena);

/* --- diagnostics.c --- */

struct diagnostic {
    struct diagnostic *next;
    int line; /* of the source; see source_line_at */
    char *text;
};

struct diagnostic_list {
    struct diagnostic *first; /* sorted by line */
    size_t count;             /* number found; may be more than are kept */
};

/* Every step adds its findings here. They are reported all at once, at the
 * end. */
struct diagnostics {
    struct arena *arena; /* holds the diagnostics */
    struct diagnostic_list found;
    struct diagnostic_list warnings; /* valid, but probably not intended */
    struct diagnostic_list notes;    /* worth knowing */
};

/* Adds a mistake. Control characters become '?' and a long text is cut, so that
 * a mistake is always one line. */
void diagnostics_add(struct diagnostics *diagnostics, int line,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a warning and for a note. */
void diagnostics_warn(struct diagnostics *diagnostics, int line,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diagnostics_note(struct diagnostics *diagnostics, int line,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the list would keep one more diagnostic. */
bool diagnostics_have_room(const struct diagnostic_list *list);

struct did_you_mean {
    const char *word; /* the unknown word */
    const char *best; /* the nearest known word; NULL: none is near */
    int distance;
};

/* Compares the unknown word with one known word, and keeps the nearest in
 * `best`. `known` may be NULL. */
void did_you_mean_weigh(struct did_you_mean *did_you_mean, const char *known);

#define DID_YOU_MEAN_SIZE 96

/* Writes ": did you mean 'x'?" to `out`, or `otherwise` if no known word is
 * near. Returns `out`. */
const char *did_you_mean_hint(const struct did_you_mean *did_you_mean,
                              const char *otherwise,
                              char out[DID_YOU_MEAN_SIZE]);

/* --- scan.c --- */

/* Bytes of a topology including its includes. */
#define SCAN_SIZE_MAX (16 << 20)

/* Whether the character may be in a name of libconfig; digits, '-' and '_' may
 * not be the first one. Does not depend on the locale. */
static inline bool source_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '*';
}

/* The file and line that a line of the source came from. */
struct source_line {
    const char *file;
    int line;
};

/* A topology and its includes as one text. Lines count from 1. */
struct source {
    struct arena *arena;
    struct diagnostics *diagnostics;
    /* Reads a whole file; the caller frees `*out`. NULL: includes are not
     * allowed. */
    enum seqb_status (*read)(const char *path, char **out,
                             struct seqb_error *err);
    char *text;
    size_t length;
    size_t capacity;
    struct source_line *lines;
    size_t line_count;
    size_t line_capacity;
    size_t taken;     /* bytes of all files read so far */
    bool is_given_up; /* too large or includes too deep: scanning stops */
};

/*
 * Appends `text`, which messages call `file`. The path of an include is
 * relative to the folder of the file that names it. False, with at least one
 * mistake added, if libconfig must not read the result.
 */
bool scan_text(struct source *source, const char *text, const char *file);

/* The origin of a line; that of the last line if `line` is past the end. */
struct source_line source_line_at(const struct source *source, int line);

/* A zeroed or half-built source is allowed. The arena is not freed. */
void source_free(struct source *source);

/* --- alike.c --- */

/* A group of a list that equals an earlier group except for its key. */
struct alike_group {
    size_t at;       /* its index in the list */
    size_t of;       /* the earlier group's index */
    int lines;       /* lines from the earlier group to this one */
    const char *key; /* in the text; `length` bytes, not terminated */
    size_t length;
};

struct alike {
    char *text; /* without those groups; line numbers are the same */
    struct alike_group *groups; /* in the order of the list */
    size_t count;
    size_t capacity;
};

/*
 * Finds the groups of the list `list` that differ from an earlier one only in
 * the text of the setting `key`. The key is valid in each of them. `text` must
 * outlive the result. False if there are none, or if there is no memory: then
 * parse `text` itself. Call alike_free in either case.
 *
 * `text` need not be valid libconfig. If it is not, alike->text is not valid
 * either, or has mistakes in its groups. So if alike->text has any mistake,
 * parse `text` instead.
 */
bool alike_find(struct alike *alike, const char *text, const char *list,
                const char *key);

void alike_free(struct alike *alike);
