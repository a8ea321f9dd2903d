/* SPDX-License-Identifier: Apache-2.0 */
/* A progress bar on stderr, if it is a terminal. What takes less than a second
 * has none. */
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "ctl/terminal/terminal.h"

#define BAR_WIDTH  40
#define FIRST_MS   1000 /* after the begin */
#define REDRAW_MS  100
#define ERASE_LINE "\r\033[K" /* ECMA-48 */
#define FULL_LINE  "########################################"

static int64_t now_ms(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Other output on the same terminal would break the bar. */
void progress_begin(struct progress *progress, bool is_erased)
{
    *progress = (struct progress){.is_wanted =
                                      isatty(STDERR_FILENO) == 1 &&
                                      (is_erased || isatty(STDOUT_FILENO) != 1),
                                  .next_ms = now_ms() + FIRST_MS};
}

void progress_show(struct progress *progress, int64_t done, int64_t total)
{
    const int filled = total > 0 ? (int)(done * BAR_WIDTH / total) : 0;

    if (!progress->is_wanted || now_ms() < progress->next_ms)
        return;
    progress->is_shown = true;
    progress->next_ms = now_ms() + REDRAW_MS;
    fprintf(stderr, ERASE_LINE "[%-*.*s] %d%% %" PRId64 " of %" PRId64,
            BAR_WIDTH, filled, FULL_LINE,
            (int)(total > 0 ? done * 100 / total : 0), done, total);
    fflush(stderr);
}

void progress_erase(struct progress *progress)
{
    if (progress->is_shown)
        fputs(ERASE_LINE, stderr);
    progress->is_shown = false;
}
