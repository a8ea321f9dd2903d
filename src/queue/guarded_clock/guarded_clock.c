/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guarded clock. Callers read it, and announce the times that they are
 * about to issue. A thread writes these first to the file, then to the store;
 * only then may they be issued. The guard decides what the clocks mean, and
 * text.c describes it.
 */
#include "queue/guarded_clock/guarded_clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/guarded_clock/check.h"
#include "queue/guarded_clock/file.h"
#include "queue/guarded_clock/text.h"

#define KEEP_MS       2000 /* for the file's lock, and for the store's answer */
#define REST_LEAST_MS 100  /* after a failure, then doubled */
#define REST_MOST_MS  2000
#define LOOK_MS       2000 /* between two polls of the stores' clocks */

struct guarded_clock {
    const struct queue_clock_options *options;
    struct ha *ha;
    char note[CLOCK_BROKER_SIZE + 8]; /* the name of the entry in the store */
    pthread_t thread;
    bool is_started;

    /* Only the thread uses it, once it runs. */
    struct clock_file file;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t asked; /* the thread waits */
    pthread_cond_t kept;  /* callers wait */
    struct guard guard;
    int64_t wanted_ms;         /* the time that is to be kept */
    struct seqb_error failure; /* why it could not be kept; SEQB_OK: no
                                  failure */
    struct clock_state state;  /* the last one that was logged */
    bool is_stopping;
};

/* --- reading --- */

static struct guard_reading reading_take(void)
{
    return (struct guard_reading){clock_wall_ms(), clock_boot_ms()};
}

/* The clocks are read with the lock held, so that readings stay in order. */
static void guarded_clock_read(struct guarded_clock *clock,
                               struct clock_view *out)
{
    struct clock_state state;
    bool is_news;

    pthread_mutex_lock(&clock->lock);
    out->now = reading_take();
    out->verdict = guard_read(&clock->guard, out->now, &out->time_ms);
    out->guard = clock->guard;
    state = clock_state_of(out);
    is_news = !clock_state_is(&state, &clock->state);
    clock->state = state;
    pthread_mutex_unlock(&clock->lock);
    if (is_news)
        clock_state_log(out);
}

static bool gives_time(const struct clock_view *view)
{
    return view->verdict == GUARD_GO || view->verdict == GUARD_HELD;
}

enum seqb_status guarded_clock_now(struct guarded_clock *clock, int64_t *out,
                                   struct seqb_error *err)
{
    char why[SEQB_ERROR_TEXT_SIZE];
    struct clock_view view;

    guarded_clock_read(clock, &view);
    if (gives_time(&view)) {
        *out = view.time_ms;
        return SEQB_OK;
    }
    clock_explain(&view, why, sizeof why);
    return error_set(err, view.verdict == GUARD_WAITS ? SEQB_AGAIN : SEQB_CLOCK,
                     "%s", why);
}

/* --- the stores' clocks --- */

/* Between two polls the stores' clocks advance by the boot clock, so that a
 * jump of the machine's wall clock is noticed. */
static void guarded_clock_poll(struct guarded_clock *clock)
{
    const struct guard_reading now = reading_take();
    int64_t store_ms;

    if (ha_clocks(clock->ha, &store_ms) == 0)
        return;
    pthread_mutex_lock(&clock->lock);
    guard_witness(&clock->guard, store_ms + now.boot_ms, now);
    pthread_mutex_unlock(&clock->lock);
}

/* --- keeping --- */

/* Keeps the time in the file first: it costs the next start nothing if the
 * store then fails, and it helps when the store is not there. `*kept` is the
 * time that both keep. */
static enum seqb_status keep_both(struct guarded_clock *clock, int64_t begin_ms,
                                  int64_t *kept, struct seqb_error *err)
{
    const int32_t store = clock->options->store;
    int64_t noted_ms;
    enum seqb_status status = clock_file_keep(
        &clock->file, begin_ms, clock_now_ms() + KEEP_MS, kept, err);

    if (status != SEQB_OK || store < 0)
        return status;
    status =
        ha_note(clock->ha, &(struct ha_entry){store, clock->note, begin_ms},
                clock_now_ms() + KEEP_MS, &noted_ms, err);
    if (status != SEQB_OK)
        return status;
    if (noted_ms < begin_ms)
        return error_set(err, SEQB_PROTOCOL,
                         "the store of clock_store keeps less of %s than it "
                         "was told",
                         clock->note);
    if (noted_ms < *kept)
        *kept = noted_ms;
    return SEQB_OK;
}

static void keep_log(const struct guarded_clock *clock,
                     const struct seqb_error *was, const struct seqb_error *is)
{
    char file[LOG_VALUE_SIZE];

    if (is->status == was->status && strcmp(is->text, was->text) == 0)
        return;
    log_value(file, sizeof file, clock->file.path);
    if (is->status != SEQB_OK)
        log_reason(SEQB_LOG_ERROR, is->text, "event=clock_not_kept file=%s",
                   file);
    else
        log_line(SEQB_LOG_INFO, "event=clock_kept file=%s", file);
}

static bool guarded_clock_is_wanted(const struct guarded_clock *clock)
{
    return clock->wanted_ms > clock->guard.kept_ms;
}

/* Keeps the latest time that is wanted. False if that failed. */
static bool guarded_clock_keep(struct guarded_clock *clock)
{
    struct seqb_error was;
    struct seqb_error failure = {SEQB_OK, ""};
    int64_t wanted_ms;
    int64_t kept_ms;
    bool is_wanted;

    pthread_mutex_lock(&clock->lock);
    is_wanted = guarded_clock_is_wanted(clock);
    wanted_ms = clock->wanted_ms;
    was = clock->failure;
    pthread_mutex_unlock(&clock->lock);
    if (!is_wanted)
        return true;
    (void)keep_both(clock, wanted_ms, &kept_ms, &failure);
    pthread_mutex_lock(&clock->lock);
    clock->failure = failure;
    if (failure.status == SEQB_OK) {
        ha_begun(clock->ha, kept_ms);
        guard_keep(&clock->guard, kept_ms);
    }
    pthread_cond_broadcast(&clock->kept);
    pthread_mutex_unlock(&clock->lock);
    keep_log(clock, &was, &failure);
    return failure.status == SEQB_OK;
}

/* Waits until there is a time to keep, which is not kept before `rest_ms`, but
 * not longer than `poll_ms`. False when the thread is to stop. */
static bool guarded_clock_wait(struct guarded_clock *clock, int64_t rest_ms,
                               int64_t poll_ms)
{
    bool in_time = true;
    bool goes_on;

    pthread_mutex_lock(&clock->lock);
    while (!clock->is_stopping && in_time) {
        const int64_t until_ms =
            guarded_clock_is_wanted(clock) && rest_ms < poll_ms ? rest_ms
                                                                : poll_ms;

        in_time = clock_now_ms() < until_ms &&
                  condition_wait(&clock->asked, &clock->lock, until_ms);
    }
    goes_on = !clock->is_stopping;
    pthread_mutex_unlock(&clock->lock);
    return goes_on;
}

static int64_t rest_after(int64_t rest_ms)
{
    if (rest_ms == 0)
        return REST_LEAST_MS;
    return 2 * rest_ms < REST_MOST_MS ? 2 * rest_ms : REST_MOST_MS;
}

static void *guarded_clock_run(void *argument)
{
    struct guarded_clock *clock = argument;
    int64_t poll_ms = clock_now_ms() + LOOK_MS;
    int64_t rest_until_ms = 0;
    int64_t rest_ms = 0;
    struct clock_view view;

    while (guarded_clock_wait(clock, rest_until_ms, poll_ms)) {
        if (clock_now_ms() >= poll_ms) {
            guarded_clock_poll(clock);
            guarded_clock_read(clock, &view); /* to log changes even if no
                                                 caller reads the clock */
            poll_ms = clock_now_ms() + LOOK_MS;
        }
        if (clock_now_ms() < rest_until_ms)
            continue;
        rest_ms = guarded_clock_keep(clock) ? 0 : rest_after(rest_ms);
        rest_until_ms = rest_ms == 0 ? 0 : clock_now_ms() + rest_ms;
    }
    return NULL;
}

/* --- asking --- */

/* With the lock held. */
static void guarded_clock_want(struct guarded_clock *clock, int64_t begin_ms)
{
    if (begin_ms <= clock->wanted_ms)
        return;
    clock->wanted_ms = begin_ms;
    pthread_cond_signal(&clock->asked);
}

bool guarded_clock_expect(struct guarded_clock *clock, int64_t begin_ms)
{
    struct clock_view view;
    bool is_kept;

    guarded_clock_read(clock, &view);
    pthread_mutex_lock(&clock->lock);
    is_kept = begin_ms <= clock->guard.kept_ms;
    if (!is_kept &&
        begin_ms - view.time_ms <= clock->options->rules.max_rollback_ms)
        guarded_clock_want(clock, begin_ms);
    pthread_mutex_unlock(&clock->lock);
    return is_kept;
}

/* With the lock held: waits until the stamp may be issued, and issues it. */
static bool guarded_clock_await(struct guarded_clock *clock, int64_t begin_ms,
                                int64_t until_ms)
{
    bool in_time = true;

    while (!guard_issue(&clock->guard, begin_ms)) {
        if (clock->is_stopping || !in_time)
            return false;
        guarded_clock_want(clock, begin_ms);
        in_time = clock_now_ms() < until_ms &&
                  condition_wait(&clock->kept, &clock->lock, until_ms);
    }
    return true;
}

enum seqb_status guarded_clock_issue(struct guarded_clock *clock,
                                     int64_t begin_ms, int64_t until_ms,
                                     struct seqb_error *err)
{
    struct seqb_error failure;
    bool is_issued;
    bool is_stopping;

    pthread_mutex_lock(&clock->lock);
    is_issued = guarded_clock_await(clock, begin_ms, until_ms);
    is_stopping = clock->is_stopping;
    failure.status = SEQB_OK;
    if (!is_issued)
        failure = clock->failure;
    pthread_mutex_unlock(&clock->lock);
    if (is_issued)
        return SEQB_OK;
    if (is_stopping)
        return error_set(err, SEQB_CLOSED, "the broker is closing");
    if (failure.status != SEQB_OK)
        return error_set(err, SEQB_CLOCK,
                         "up to when stamps are issued cannot be kept: %s",
                         failure.text);
    return error_set(err, SEQB_AGAIN, "the stamp is not kept yet");
}

bool guarded_clock_status(struct guarded_clock *clock,
                          struct seqb_clock_status *out)
{
    char why[SEQB_ERROR_TEXT_SIZE] = "";
    struct clock_view view;

    guarded_clock_read(clock, &view);
    pthread_mutex_lock(&clock->lock);
    if (clock->failure.status != SEQB_OK)
        (void)text_copy(why, sizeof why, clock->failure.text);
    pthread_mutex_unlock(&clock->lock);
    if (!gives_time(&view))
        clock_explain(&view, why, sizeof why);
    *out = (struct seqb_clock_status){
        .is_used = true,
        .wall_ms = view.now.wall_ms,
        .guarded_ms = view.time_ms,
        .behind_ms = view.guard.behind_ms,
        .ahead_ms = view.guard.ahead_ms,
        .issued_ms = view.guard.kept_ms,
        .steps_back = view.guard.steps_back,
    };
    (void)text_copy(out->reason, sizeof out->reason, why);
    return gives_time(&view);
}

/* --- opening and closing --- */

/* Reads the time that was kept, and checks the clock against it and the stores'
 * clocks. */
static enum seqb_status guarded_clock_begin(struct guarded_clock *clock,
                                            int64_t until_ms,
                                            struct seqb_error *err)
{
    const struct queue_clock_options *options = clock->options;
    struct guard_reading now = reading_take();
    int64_t kept_ms = 0;
    int64_t noted_ms = 0;
    enum seqb_status status = clock_check_set(now, err);

    if (status == SEQB_OK)
        status =
            clock_file_init(&clock->file, options->path, options->broker, err);
    if (status == SEQB_OK)
        status = clock_file_keep(&clock->file, 0, until_ms, &kept_ms, err);
    if (status == SEQB_OK && options->store >= 0)
        status = ha_note(clock->ha,
                         &(struct ha_entry){options->store, clock->note, 0},
                         until_ms, &noted_ms, err);
    if (status != SEQB_OK)
        return status;
    now = reading_take();
    guard_init(&clock->guard, &options->rules,
               noted_ms > kept_ms ? noted_ms : kept_ms, now);
    ha_begun(clock->ha, clock->guard.issued_ms);
    guarded_clock_poll(clock);
    status = clock_check_ahead(&clock->guard, now, err);
    if (status == SEQB_OK)
        status = clock_check_behind(&clock->guard, options, noted_ms > kept_ms,
                                    now, err);
    return status;
}

enum seqb_status guarded_clock_open(const struct queue_clock_options *options,
                                    struct ha *ha, int64_t until_ms,
                                    struct guarded_clock **out,
                                    struct seqb_error *err)
{
    struct guarded_clock *clock = calloc(1, sizeof *clock);
    enum seqb_status status;

    if (clock == NULL)
        return error_set(err, SEQB_NO_MEMORY, "clock: out of memory");
    clock->options = options;
    clock->ha = ha;
    (void)text_format(clock->note, sizeof clock->note, "clock/%s",
                      options->broker);
    pthread_mutex_init(&clock->lock, NULL);
    condition_init(&clock->asked);
    condition_init(&clock->kept);
    clock->state = (struct clock_state){.is_set = true, .verdict = GUARD_GO};
    status = guarded_clock_begin(clock, until_ms, err);
    if (status == SEQB_OK)
        status = thread_start(&clock->thread, "seqb:clock", guarded_clock_run,
                              clock, err);
    clock->is_started = status == SEQB_OK;
    if (status != SEQB_OK) {
        guarded_clock_close(clock);
        return status;
    }
    *out = clock;
    return SEQB_OK;
}

void guarded_clock_stop(struct guarded_clock *clock)
{
    if (clock == NULL || !clock->is_started)
        return;
    pthread_mutex_lock(&clock->lock);
    clock->is_stopping = true;
    pthread_cond_signal(&clock->asked);
    pthread_cond_broadcast(&clock->kept);
    pthread_mutex_unlock(&clock->lock);
    pthread_join(clock->thread, NULL);
    clock->is_started = false;
}

void guarded_clock_close(struct guarded_clock *clock)
{
    if (clock == NULL)
        return;
    guarded_clock_stop(clock);
    pthread_cond_destroy(&clock->kept);
    pthread_cond_destroy(&clock->asked);
    pthread_mutex_destroy(&clock->lock);
    free(clock);
}
