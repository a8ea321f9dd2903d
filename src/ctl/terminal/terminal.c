/* SPDX-License-Identifier: Apache-2.0 */
/* Size and colours of the terminal, and lines that fit it. */
#include "ctl/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_USUAL 80
#define ROWS_USUAL    24
#define COLUMNS_LEAST 40 /* what every table can be fitted to */
#define INDENT        4

struct terminal_size terminal_size(void)
{
    struct terminal_size size = {.columns = COLUMNS_USUAL};
    struct winsize window;

    if (isatty(STDOUT_FILENO) != 1)
        return size;
    size.rows = ROWS_USUAL;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0)
        return size;
    if (window.ws_col > 0) /* 0: it does not know */
        size.columns =
            window.ws_col > COLUMNS_LEAST ? window.ws_col : COLUMNS_LEAST;
    if (window.ws_row > 0)
        size.rows = window.ws_row;
    return size;
}

/* --- colours --- */

/* https://no-color.org: set, and not empty. */
static bool color_is_wanted(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return (no_color == NULL || no_color[0] == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0) &&
           isatty(STDOUT_FILENO) == 1;
}

bool color_choose(const char *when, bool *is_colored)
{
    *is_colored = false;
    if (when == NULL || strcmp(when, "auto") == 0)
        *is_colored = color_is_wanted();
    else if (strcmp(when, "always") == 0)
        *is_colored = true;
    else
        return strcmp(when, "never") == 0;
    return true;
}

static const struct {
    const char *state;
    const char *code; /* ECMA-48, select graphic rendition */
} colors[] = {
    {"up", "\033[32m"},          {"level", "\033[32m"},
    {"serving", "\033[32m"},     {"suspect", "\033[33m"},
    {"ramping", "\033[33m"},     {"probing", "\033[33m"},
    {"syncing", "\033[33m"},     {"waiting", "\033[33m"},
    {"starting", "\033[33m"},    {"drained", "\033[33m"},
    {"degraded", "\033[33m"},    {"quarantined", "\033[31m"},
    {"refused", "\033[31m"},     {"poisoned", "\033[31m"},
    {"not serving", "\033[31m"}, {"unknown", "\033[31m"},
    {"warn", "\033[33m"},        {"error", "\033[31m"},
};

#define COLORS (sizeof colors / sizeof colors[0])

static size_t color_find(const char *state)
{
    size_t i = 0;

    while (i < COLORS && strcmp(colors[i].state, state) != 0)
        i++;
    return i;
}

const char *color_of_state(const char *state)
{
    const size_t i = color_find(state);

    return i < COLORS ? colors[i].code : NULL;
}

void color_print(FILE *to, const char *state, const char *word, bool is_colored)
{
    const size_t i = is_colored ? color_find(state) : COLORS;

    if (i < COLORS)
        fprintf(to, "%s%s\033[0m", colors[i].code, word);
    else
        fputs(word, to);
}

/* --- lines --- */

/* How many bytes of a text fit in a line of this width. A word that is longer
 * than the line is broken. */
static size_t line_length(const char *text, size_t width)
{
    size_t at = width;

    if (strlen(text) <= width)
        return strlen(text);
    while (at > 0 && text[at] != ' ')
        at--;
    if (at > 0)
        return at;
    for (at = width; at > 1 && (text[at] & 0xc0) == 0x80;)
        at--; /* not within a UTF-8 character */
    return at;
}

void text_wrap(FILE *to, const char *text, size_t width)
{
    size_t left = width;

    while (width > INDENT && strlen(text) > left) {
        const size_t length = line_length(text, left);

        fprintf(to, "%.*s\n%*s", (int)length, text, INDENT, "");
        text += length;
        text += strspn(text, " ");
        left = width - INDENT;
    }
    fprintf(to, "%s\n", text);
}
