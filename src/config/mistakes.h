/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mistakes found in a topology: collected by all who look at it, sorted
 * by line, told at the end all at once.
 */
#pragma once

#include <stddef.h>

#include "config/arena.h"

struct mistake {
    struct mistake *next;
    int line; /* of the source, see config/scan.h */
    char *text;
};

struct mistakes {
    struct arena *arena; /* holds them, and what is needed to find them */
    struct mistake *first;
    size_t count;             /* may be more than are kept */
    struct mistake *warnings; /* what is sound, but to be looked at */
    size_t warning_count;     /* likewise */
    struct mistake *notes;    /* what is worth knowing */
    size_t note_count;
};

/* Adds one; control characters become '?' and a long text is cut, so that it
 * is one line whatever the topology holds. */
void mistakes_add(struct mistakes *mistakes, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a warning, and for a note. */
void mistakes_warn(struct mistakes *mistakes, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void mistakes_note(struct mistakes *mistakes, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
