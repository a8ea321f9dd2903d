/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guarded clock at work. Callers read it and say what they are to issue;
 * a thread writes that down, first in the file, then in the store, and only
 * then it may be issued. What the clocks mean is for the guard to judge, and
 * wall_text.c has the words.
 */
#include "queue/wall/wall.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/wall/check.h"
#include "queue/wall/file.h"
#include "queue/wall/text.h"

#define KEEP_MS       2000 /* for the file's lock, and for the store's answer */
#define REST_LEAST_MS 100  /* after a failure; then doubling */
#define REST_MOST_MS  2000
#define LOOK_MS       2000 /* between two looks at the stores' clocks */

struct wall {
    const struct queue_clock_options *options;
    struct ha *ha;
    char note[WALL_BROKER_SIZE + 8]; /* its name in the store */
    pthread_t thread;
    bool is_started;

    /* The thread's own, once it runs. */
    struct wall_file file;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t asked; /* the thread waits */
    pthread_cond_t kept;  /* callers wait */
    struct guard guard;
    int64_t wanted_ms;         /* up to then is to be kept */
    struct seqb_error failure; /* why it is not; status OK: it may well be */
    struct wall_mood mood;     /* as it was told */
    bool is_stopping;
};

/* --- reading --- */

static struct guard_reading reading_take(void)
{
    return (struct guard_reading){clock_wall_ms(), clock_boot_ms()};
}

/* The clocks are read with the lock held, so that no reading comes after a
 * later one. */
static void wall_read(struct wall *wall, struct wall_view *out)
{
    struct wall_mood mood;
    bool is_news;

    pthread_mutex_lock(&wall->lock);
    out->now = reading_take();
    out->verdict = guard_read(&wall->guard, out->now, &out->time_ms);
    out->guard = wall->guard;
    mood = wall_mood_of(out);
    is_news = !wall_mood_is(&mood, &wall->mood);
    wall->mood = mood;
    pthread_mutex_unlock(&wall->lock);
    if (is_news)
        wall_mood_tell(out);
}

enum seqb_status wall_now(struct wall *wall, int64_t *out,
                          struct seqb_error *err)
{
    char why[SEQB_ERROR_TEXT_SIZE];
    struct wall_view view;

    wall_read(wall, &view);
    if (view.verdict == GUARD_GO || view.verdict == GUARD_HELD) {
        *out = view.time_ms;
        return SEQB_OK;
    }
    wall_explain(&view, why, sizeof why);
    return error_set(err, view.verdict == GUARD_WAITS ? SEQB_AGAIN : SEQB_CLOCK,
                     "%s", why);
}

/* --- the stores' clocks --- */

/* They go on by the boot clock between two looks: a leap of ours shows. */
static void wall_look(struct wall *wall)
{
    const struct guard_reading now = reading_take();
    int64_t store_ms;

    if (ha_clocks(wall->ha, &store_ms) == 0)
        return;
    pthread_mutex_lock(&wall->lock);
    guard_witness(&wall->guard, store_ms + now.boot_ms, now);
    pthread_mutex_unlock(&wall->lock);
}

/* --- keeping --- */

/* First the file: one that was kept for nothing costs the next start nothing,
 * and it is there if the store is not. `*kept` is what both have. */
static enum seqb_status keep_both(struct wall *wall, int64_t begin_ms,
                                  int64_t *kept, struct seqb_error *err)
{
    const int32_t store = wall->options->store;
    int64_t noted_ms;
    enum seqb_status status = wall_file_keep(
        &wall->file, begin_ms, clock_now_ms() + KEEP_MS, kept, err);

    if (status != SEQB_OK || store < 0)
        return status;
    status = ha_note(wall->ha, &(struct ha_entry){store, wall->note, begin_ms},
                     clock_now_ms() + KEEP_MS, &noted_ms, err);
    if (status != SEQB_OK)
        return status;
    if (noted_ms < begin_ms)
        return error_set(err, SEQB_PROTOCOL,
                         "the store of clock_store keeps less of %s than it "
                         "was told",
                         wall->note);
    if (noted_ms < *kept)
        *kept = noted_ms;
    return SEQB_OK;
}

static void keep_tell(const struct wall *wall, const struct seqb_error *was,
                      const struct seqb_error *is)
{
    char file[LOG_VALUE_SIZE];

    if (is->status == was->status && strcmp(is->text, was->text) == 0)
        return;
    log_value(file, sizeof file, wall->file.path);
    if (is->status != SEQB_OK)
        log_reason(SEQB_LOG_ERROR, is->text, "event=clock_not_kept file=%s",
                   file);
    else
        log_line(SEQB_LOG_INFO, "event=clock_kept file=%s", file);
}

static bool wall_has_wish(const struct wall *wall)
{
    return wall->wanted_ms > wall->guard.kept_ms;
}

/* Keeps what is wanted by now, all at once. False if that failed. */
static bool wall_keep(struct wall *wall)
{
    struct seqb_error was;
    struct seqb_error failure = {SEQB_OK, ""};
    int64_t wanted_ms;
    int64_t kept_ms;
    bool has_wish;

    pthread_mutex_lock(&wall->lock);
    has_wish = wall_has_wish(wall);
    wanted_ms = wall->wanted_ms;
    was = wall->failure;
    pthread_mutex_unlock(&wall->lock);
    if (!has_wish)
        return true;
    (void)keep_both(wall, wanted_ms, &kept_ms, &failure);
    pthread_mutex_lock(&wall->lock);
    wall->failure = failure;
    if (failure.status == SEQB_OK)
        guard_keep(&wall->guard, kept_ms);
    pthread_cond_broadcast(&wall->kept);
    pthread_mutex_unlock(&wall->lock);
    keep_tell(wall, &was, &failure);
    return failure.status == SEQB_OK;
}

/* Waits for something to keep, but no longer than the look, and not to keep it
 * before `rest_ms`. False when it is to stop. */
static bool wall_wait(struct wall *wall, int64_t rest_ms, int64_t look_ms)
{
    bool in_time = true;
    bool goes_on;

    pthread_mutex_lock(&wall->lock);
    while (!wall->is_stopping && in_time) {
        const int64_t until_ms =
            wall_has_wish(wall) && rest_ms < look_ms ? rest_ms : look_ms;

        in_time = clock_now_ms() < until_ms &&
                  condition_wait(&wall->asked, &wall->lock, until_ms);
    }
    goes_on = !wall->is_stopping;
    pthread_mutex_unlock(&wall->lock);
    return goes_on;
}

static int64_t rest_after(int64_t rest_ms)
{
    if (rest_ms == 0)
        return REST_LEAST_MS;
    return 2 * rest_ms < REST_MOST_MS ? 2 * rest_ms : REST_MOST_MS;
}

static void *wall_run(void *argument)
{
    struct wall *wall = argument;
    int64_t look_ms = clock_now_ms() + LOOK_MS;
    int64_t rest_until_ms = 0;
    int64_t rest_ms = 0;
    struct wall_view view;

    while (wall_wait(wall, rest_until_ms, look_ms)) {
        if (clock_now_ms() >= look_ms) {
            wall_look(wall);
            wall_read(wall, &view); /* to tell of it if nobody asks */
            look_ms = clock_now_ms() + LOOK_MS;
        }
        if (clock_now_ms() < rest_until_ms)
            continue;
        rest_ms = wall_keep(wall) ? 0 : rest_after(rest_ms);
        rest_until_ms = rest_ms == 0 ? 0 : clock_now_ms() + rest_ms;
    }
    return NULL;
}

/* --- asking --- */

/* With the lock held. */
static void wall_want(struct wall *wall, int64_t begin_ms)
{
    if (begin_ms <= wall->wanted_ms)
        return;
    wall->wanted_ms = begin_ms;
    pthread_cond_signal(&wall->asked);
}

bool wall_expect(struct wall *wall, int64_t begin_ms)
{
    struct wall_view view;
    bool is_kept;

    wall_read(wall, &view);
    pthread_mutex_lock(&wall->lock);
    is_kept = begin_ms <= wall->guard.kept_ms;
    if (!is_kept &&
        begin_ms - view.time_ms <= wall->options->rules.max_rollback_ms)
        wall_want(wall, begin_ms);
    pthread_mutex_unlock(&wall->lock);
    return is_kept;
}

/* With the lock held: waits until the stamp may be issued, and issues it. */
static bool wall_await(struct wall *wall, int64_t begin_ms, int64_t until_ms)
{
    bool in_time = true;

    while (!guard_issue(&wall->guard, begin_ms)) {
        if (wall->is_stopping || !in_time)
            return false;
        wall_want(wall, begin_ms);
        in_time = clock_now_ms() < until_ms &&
                  condition_wait(&wall->kept, &wall->lock, until_ms);
    }
    return true;
}

enum seqb_status wall_issue(struct wall *wall, int64_t begin_ms,
                            int64_t until_ms, struct seqb_error *err)
{
    struct seqb_error failure;
    bool is_issued;
    bool is_stopping;

    pthread_mutex_lock(&wall->lock);
    is_issued = wall_await(wall, begin_ms, until_ms);
    is_stopping = wall->is_stopping;
    failure.status = SEQB_OK;
    if (!is_issued)
        failure = wall->failure;
    pthread_mutex_unlock(&wall->lock);
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

void wall_status(struct wall *wall, struct seqb_clock_status *out)
{
    char why[SEQB_ERROR_TEXT_SIZE] = "";
    struct wall_view view;

    wall_read(wall, &view);
    pthread_mutex_lock(&wall->lock);
    if (wall->failure.status != SEQB_OK)
        (void)text_copy(why, sizeof why, wall->failure.text);
    pthread_mutex_unlock(&wall->lock);
    if (view.verdict == GUARD_WAITS || view.verdict == GUARD_REFUSES)
        wall_explain(&view, why, sizeof why);
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
}

/* --- opening and closing --- */

/* Reads what was kept, and judges the clock by that and by the stores. */
static enum seqb_status wall_begin(struct wall *wall, int64_t until_ms,
                                   struct seqb_error *err)
{
    const struct queue_clock_options *options = wall->options;
    struct guard_reading now = reading_take();
    int64_t kept_ms = 0;
    int64_t noted_ms = 0;
    enum seqb_status status = wall_check_set(now, err);

    if (status == SEQB_OK)
        status =
            wall_file_init(&wall->file, options->path, options->broker, err);
    if (status == SEQB_OK)
        status = wall_file_keep(&wall->file, 0, until_ms, &kept_ms, err);
    if (status == SEQB_OK && options->store >= 0)
        status =
            ha_note(wall->ha, &(struct ha_entry){options->store, wall->note, 0},
                    until_ms, &noted_ms, err);
    if (status != SEQB_OK)
        return status;
    now = reading_take();
    guard_init(&wall->guard, &options->rules,
               noted_ms > kept_ms ? noted_ms : kept_ms, now);
    wall_look(wall);
    status = wall_check_ahead(&wall->guard, now, err);
    if (status == SEQB_OK)
        status = wall_check_behind(&wall->guard, options, noted_ms > kept_ms,
                                   now, err);
    return status;
}

enum seqb_status wall_open(const struct queue_clock_options *options,
                           struct ha *ha, int64_t until_ms, struct wall **out,
                           struct seqb_error *err)
{
    struct wall *wall = calloc(1, sizeof *wall);
    enum seqb_status status;

    if (wall == NULL)
        return error_set(err, SEQB_NO_MEMORY, "clock: out of memory");
    wall->options = options;
    wall->ha = ha;
    (void)text_format(wall->note, sizeof wall->note, "clock/%s",
                      options->broker);
    pthread_mutex_init(&wall->lock, NULL);
    condition_init(&wall->asked);
    condition_init(&wall->kept);
    wall->mood = (struct wall_mood){.is_set = true, .verdict = GUARD_GO};
    status = wall_begin(wall, until_ms, err);
    if (status == SEQB_OK)
        status = thread_start(&wall->thread, "seqb:clock", wall_run, wall, err);
    wall->is_started = status == SEQB_OK;
    if (status != SEQB_OK) {
        wall_close(wall);
        return status;
    }
    *out = wall;
    return SEQB_OK;
}

void wall_stop(struct wall *wall)
{
    if (wall == NULL || !wall->is_started)
        return;
    pthread_mutex_lock(&wall->lock);
    wall->is_stopping = true;
    pthread_cond_signal(&wall->asked);
    pthread_cond_broadcast(&wall->kept);
    pthread_mutex_unlock(&wall->lock);
    pthread_join(wall->thread, NULL);
    wall->is_started = false;
}

void wall_close(struct wall *wall)
{
    if (wall == NULL)
        return;
    wall_stop(wall);
    pthread_cond_destroy(&wall->kept);
    pthread_cond_destroy(&wall->asked);
    pthread_mutex_destroy(&wall->lock);
    free(wall);
}
