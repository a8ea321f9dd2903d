/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done to a topology's text before libconfig sees it: included files
 * are put in their place, comments are blanked, and integers that libconfig
 * 1.5 would cut to 32 bits without a word get the suffix that makes it read
 * 64. Pure: files are read through a callback.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/status.h>

#include "config/mistakes.h"

#define SCAN_SIZE_MAX (16 << 20) /* bytes of a topology, includes and all */

/* Where a line of the source came from. */
struct source_line {
    const char *file;
    int line;
};

/* One text made of a topology and what it includes. Lines count from 1. */
struct source {
    struct arena *arena;
    struct mistakes *mistakes;
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
