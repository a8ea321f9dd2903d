/* SPDX-License-Identifier: Apache-2.0 */
/* What the program knows of the terminal that it prints on: its size and
 * colours, and the second screen that --watch draws on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct terminal_size {
    size_t columns;
    size_t rows; /* 0: the output is no terminal */
};

/* Of stdout; 80 columns where it is no terminal. */
struct terminal_size terminal_size(void);

/* "auto", "always" or "never"; NULL: auto. False: it is none of these. */
bool color_choose(const char *when, bool *is_colored);

/* The sequence that begins the colour of a state of anything; NULL: none. */
const char *color_of_state(const char *state);

/* A word in the colour of a state, or the word alone. */
void color_print(FILE *to, const char *state, const char *word,
                 bool is_colored);

/* Prints a text and a line end. Lines of more than `width` characters are
 * broken at spaces, and go on indented; 0: none is. */
void text_wrap(FILE *to, const char *text, size_t width);

/* The alternate screen. What stood on the terminal is there again after it was
 * left. Lines that are too long are cut. */
void screen_enter(void);
void screen_leave(void);

/* Replaces what is on the screen by the first lines of the text. */
void screen_draw(const char *text, size_t rows);
