/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal: its size and colours, the alternate screen that --watch draws
 * on, and a progress bar. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct terminal_size {
    size_t columns;
    size_t rows; /* 0: the output is not a terminal */
};

/* The size of stdout; 80 columns if it is not a terminal, and never less than
 * 40. */
struct terminal_size terminal_size(void);

/* `when` is "auto", "always" or "never"; NULL: auto. False for anything
 * else. */
bool color_choose(const char *when, bool *is_colored);

/* The escape sequence of a state's colour; NULL: it has none. */
const char *color_of_state(const char *state);

/* Prints a word in the colour of a state, or the word alone. */
void color_print(FILE *to, const char *state, const char *word,
                 bool is_colored);

/* Prints a text and a newline. Lines of more than `width` characters are broken
 * at spaces and continued with an indent; 0: lines are not broken. */
void text_wrap(FILE *to, const char *text, size_t width);

/* The alternate screen. After it is left, the terminal shows what it showed
 * before. Lines that are too long are cut. */
void screen_enter(void);
void screen_leave(void);

/* screen_leave for a signal handler: it makes one call of write. It does
 * nothing if the screen was not entered. */
void screen_abandon(void);

/* How many lines a text has; NULL has none. */
size_t screen_lines(const char *text);

/* Replaces the content of the screen by the first lines of the text. */
void screen_draw(const char *text, size_t rows);

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked; sigtimedwait
 * receives them. */
void interrupts_hold(void);

/*
 * Around a call that may hang: one of these signals, also one that is pending,
 * ends the program at once with exit code 0, and restores the terminal. The
 * caller must not have printed a part of something. Both functions do nothing
 * unless the signals are held.
 */
void interrupts_allow(void);
void interrupts_forbid(void);

/* The progress bar of something that may take long. */
struct progress {
    bool is_wanted; /* stderr is a terminal */
    bool is_shown;
    int64_t next_ms; /* not drawn before this */
};

/* `is_erased`: the caller erases the bar before it prints. Otherwise there is
 * no bar if stdout is a terminal, too. */
void progress_begin(struct progress *progress, bool is_erased);
void progress_show(struct progress *progress, int64_t done, int64_t total);

/* Erases the bar; it may be shown again. */
void progress_erase(struct progress *progress);
