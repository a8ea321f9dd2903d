/* SPDX-License-Identifier: Apache-2.0 */
/* What the program knows of the terminal that it prints on: its size and
 * colours, the second screen that --watch draws on, and a bar of progress. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* As screen_leave, for a handler of signals: by one write. Nothing if the
 * screen was not entered. */
void screen_abandon(void);

/* Replaces what is on the screen by the first lines of the text. */
void screen_draw(const char *text, size_t rows);

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked, for sigtimedwait
 * to take. */
void interrupts_hold(void);

/*
 * While what is waited for may hang: one of them, also one that has come
 * before, ends the program at once with exit code 0, and the terminal is as it
 * was. Nothing must be half printed. Neither does anything unless they are
 * held.
 */
void interrupts_allow(void);
void interrupts_forbid(void);

/* How far something is that may take long. */
struct progress {
    bool is_wanted; /* stderr is a terminal */
    bool is_shown;
    int64_t next_ms; /* it is not drawn before */
};

/* Who prints while it is shown, and does not erase it before, wants none where
 * stdout is a terminal, too. */
void progress_begin(struct progress *progress, bool is_erased);
void progress_show(struct progress *progress, int64_t done, int64_t total);

/* Erases it; it may be shown again. */
void progress_erase(struct progress *progress);
