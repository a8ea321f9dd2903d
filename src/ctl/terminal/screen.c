/* SPDX-License-Identifier: Apache-2.0 */
/* The alternate screen of a terminal, by the sequences of xterm, which all
 * terminals of today know. */
#include <string.h>

#include "ctl/terminal/terminal.h"

#define ALTERNATE_ON  "\033[?1049h"
#define ALTERNATE_OFF "\033[?1049l"
#define WRAP_ON       "\033[?7h" /* of long lines */
#define WRAP_OFF      "\033[?7l"
#define CURSOR_ON     "\033[?25h"
#define CURSOR_OFF    "\033[?25l"
#define CLEAR         "\033[H\033[2J" /* ECMA-48: cursor home, erase */

void screen_enter(void)
{
    fputs(ALTERNATE_ON WRAP_OFF CURSOR_OFF, stdout);
    fflush(stdout);
}

void screen_leave(void)
{
    fputs(CURSOR_ON WRAP_ON ALTERNATE_OFF, stdout);
    fflush(stdout);
}

static size_t lines_count(const char *text)
{
    size_t lines = 0;

    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* The last row stays empty, for else its line end would scroll. */
void screen_draw(const char *text, size_t rows)
{
    const size_t lines = lines_count(text);
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
