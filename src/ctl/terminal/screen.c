/* SPDX-License-Identifier: Apache-2.0 */
/* The alternate screen of a terminal, by the sequences of xterm, which all
 * current terminals know. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "ctl/terminal/terminal.h"

#define ALTERNATE_ON  "\033[?1049h"
#define ALTERNATE_OFF "\033[?1049l"
#define WRAP_ON       "\033[?7h" /* of long lines */
#define WRAP_OFF      "\033[?7l"
#define CURSOR_ON     "\033[?25h"
#define CURSOR_OFF    "\033[?25l"
#define CLEAR         "\033[H\033[2J" /* ECMA-48: cursor home, erase */

#define LEAVE CURSOR_ON WRAP_ON ALTERNATE_OFF

static volatile sig_atomic_t is_entered; /* also read in a signal's handler */

void screen_enter(void)
{
    is_entered = true;
    fputs(ALTERNATE_ON WRAP_OFF CURSOR_OFF, stdout);
    fflush(stdout);
}

void screen_leave(void)
{
    fputs(LEAVE, stdout);
    fflush(stdout);
    is_entered = false;
}

void screen_abandon(void)
{
    ssize_t written = 0;

    if (is_entered)
        written = write(STDOUT_FILENO, LEAVE, sizeof LEAVE - 1);
    (void)written; /* nothing can be done if a part was not written */
}

size_t screen_lines(const char *text)
{
    size_t lines = 0;

    for (; text != NULL && *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* The last row stays empty, because its newline would scroll the screen. */
void screen_draw(const char *text, size_t rows)
{
    const size_t lines = screen_lines(text);
    const size_t room = rows > 2 ? rows - 1 : 1;
    size_t shown = lines > room ? room - 1 : lines;

    fputs(CLEAR, stdout);
    for (; shown > 0; shown--) {
        const size_t length = strcspn(text, "\n") + 1;

        fwrite(text, 1, length, stdout);
        text += length;
    }
    if (lines > room)
        printf("(%zu lines more: the terminal is too low)\n", lines - room + 1);
    fflush(stdout);
}
