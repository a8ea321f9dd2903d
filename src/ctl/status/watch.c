/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl status --watch: one round after the other until a signal, on the
 * alternate screen if the output is a terminal. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/complain.h"
#include "ctl/status/status.h"
#include "ctl/terminal/terminal.h"

static const int watched[] = {SIGINT,  SIGTERM, SIGHUP,
                              SIGQUIT, SIGTSTP, SIGWINCH};

/* The signals are blocked and waited for. So none of them cuts a table in two,
 * or leaves the terminal on the alternate screen. Those that end the program
 * are allowed while a broker is asked, since that may hang. */
static void signals_block(sigset_t *out)
{
    interrupts_hold();
    sigemptyset(out);
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        sigaddset(out, watched[i]);
    sigprocmask(SIG_BLOCK, out, NULL);
}

/* Waits until the interval is over (0) or a signal comes. */
static int signal_await(const sigset_t *signals, int64_t seconds)
{
    const struct timespec interval = {.tv_sec = (time_t)seconds};
    const int signal = sigtimedwait(signals, NULL, &interval);

    return signal > 0 ? signal : 0;
}

static bool signal_ends(int signal)
{
    return signal != 0 && signal != SIGTSTP && signal != SIGWINCH;
}

/* --- if the output is not a terminal --- */

static enum ctl_exit append_once(const struct ctl_options *options,
                                 const struct query *query,
                                 const struct view *view)
{
    struct round_answers answers = {0};
    size_t shown;
    const enum ctl_exit result =
        status_show(options, query, view, &answers, &shown);

    round_answers_fini(&answers);
    return result;
}

static enum ctl_exit watch_append(const struct ctl_options *options,
                                  const struct query *query,
                                  const struct view *view,
                                  const sigset_t *signals)
{
    enum ctl_exit result = append_once(options, query, view);

    if (result != CTL_OK && options->server_count < 2)
        return result;
    while (fflush(stdout) == 0) {
        if (signal_ends(signal_await(signals, options->interval_s)))
            return CTL_OK;
        putchar('\n');
        (void)append_once(options, query, view);
    }
    return CTL_FAILED;
}

/* --- on a terminal --- */

struct frame {
    char *text; /* free with free() */
    size_t length;
    size_t shown; /* sequences */
};

/* Prints a round into memory, with the complaints about brokers that did not
 * answer. */
static enum ctl_exit frame_make(struct frame *frame,
                                const struct ctl_options *options,
                                const struct query *query, struct view *view,
                                struct round_answers *answers)
{
    enum ctl_exit result;

    *frame = (struct frame){NULL, 0, 0};
    view->to = open_memstream(&frame->text, &frame->length);
    if (view->to == NULL) {
        ctl_complain("out of memory");
        return CTL_FAILED;
    }
    view->width = terminal_size().columns;
    view->is_bounded = true;
    result = status_show(options, query, view, answers, &frame->shown);
    if (complaint_text()[0] != '\0')
        text_wrap(view->to, complaint_text(), view->width);
    (void)fclose(view->to);
    view->to = stdout;
    return result;
}

/* How many sequences of each broker to show so that this many lines less are
 * needed. Less than `top`, so that the rounds of frame_fit end. */
static size_t top_lower(size_t top, size_t shown, size_t excess, size_t brokers)
{
    const size_t fitting = shown > excess ? (shown - excess) / brokers : 0;

    if (fitting == 0)
        return 1;
    return fitting < top ? fitting : top - 1;
}

/* Shows fewer sequences if the terminal has too few rows. One of each broker
 * is always shown. */
static enum ctl_exit frame_lower(struct frame *frame,
                                 const struct ctl_options *options,
                                 const struct query *query, struct view *view,
                                 struct round_answers *answers)
{
    const size_t brokers =
        options->server_count > 1 ? options->server_count : 1;
    const size_t rows = terminal_size().rows;
    struct query less = *query;
    enum ctl_exit result = frame_make(frame, options, query, view, answers);
    size_t lines = screen_lines(frame->text);

    while ((result == CTL_OK || brokers > 1) && lines >= rows &&
           frame->shown > 1 && less.top > 1) {
        less.top = top_lower(less.top, frame->shown, lines - rows + 1, brokers);
        free(frame->text);
        result = frame_make(frame, options, &less, view, answers);
        lines = screen_lines(frame->text);
    }
    return result;
}

/* Leaves out partitions that are up if that is not enough, so that those that
 * are not are seen. screen_draw cuts what does not fit then. */
static enum ctl_exit frame_fit(struct frame *frame,
                               const struct ctl_options *options,
                               const struct query *query, struct view *view,
                               struct round_answers *answers)
{
    struct query less = *query;
    enum ctl_exit result = frame_lower(frame, options, query, view, answers);

    if (status_is_summary(options) ||
        screen_lines(frame->text) < terminal_size().rows)
        return result;
    less.skips_up = true;
    free(frame->text);
    return frame_lower(frame, options, &less, view, answers);
}

/* The next picture: each broker is asked once, however often its answer is
 * printed until it fits. */
static enum ctl_exit frame_next(struct frame *frame,
                                const struct ctl_options *options,
                                const struct query *query, struct view *view)
{
    struct round_answers answers = {0};
    enum ctl_exit result;

    complaint_clear();
    result = frame_fit(frame, options, query, view, &answers);
    round_answers_fini(&answers);
    return result;
}

/* Ctrl-Z: the shell gets its screen back, and the alternate screen returns when
 * we continue. */
static void watch_suspend(void)
{
    screen_leave();
    raise(SIGSTOP);
    screen_enter();
}

static enum ctl_exit watch_draw(const struct ctl_options *options,
                                const struct query *query, struct view *view,
                                const sigset_t *signals)
{
    struct frame frame;
    enum ctl_exit result;
    int signal = 0;

    complaints_gather();
    result = frame_next(&frame, options, query, view);
    if (result != CTL_OK && options->server_count < 2) {
        free(frame.text);
        return result;
    }
    screen_enter();
    while (!signal_ends(signal)) {
        screen_draw(frame.text != NULL ? frame.text : "", terminal_size().rows);
        free(frame.text);
        signal = signal_await(signals, options->interval_s);
        if (signal == SIGTSTP)
            watch_suspend();
        if (!signal_ends(signal))
            (void)frame_next(&frame, options, query, view);
    }
    screen_leave();
    complaint_clear();
    return CTL_OK;
}

/* Only the first round has to succeed: later the daemon may be down for a
 * while. */
enum ctl_exit status_watch(const struct ctl_options *options,
                           const struct query *query)
{
    struct view view;
    sigset_t signals;

    if (!view_init(&view, options))
        return CTL_USAGE;
    signals_block(&signals);
    if (terminal_size().rows == 0)
        return watch_append(options, query, &view, &signals);
    return watch_draw(options, query, &view, &signals);
}
