/* SPDX-License-Identifier: Apache-2.0 */
/* The delivery thread: it takes one message after another from the state, which
 * makes all decisions (decide.h); see channel.h. */
#include "daemon/alarm/channel.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/log/log.h"
#include "daemon/signals.h"

#define REASON_SIZE 1024

struct alarm_channel {
    struct alarm_channel_options options;
    pthread_mutex_t lock; /* guards state, heir and stopped_ms; taken before
                             the heir's */
    struct alarm_state state;
    struct alarm_channel *heir; /* has the states since a reload; or NULL */
    int64_t stopped_ms;
    int wake_fd;      /* an eventfd: there may be something to send */
    int stop_fd;      /* an eventfd: readable from the stop on */
    bool is_failing;  /* the thread's: the failure has been logged */
    bool is_stopping; /* the thread's */
    bool is_started;
    pthread_t thread;
};

static void fd_mark(int fd)
{
    const uint64_t one = 1;

    /* Fails only if the eventfd's counter is full: it is readable then. */
    if (write(fd, &one, sizeof one) < 0)
        return;
}

void alarm_channel_see(struct alarm_channel *channel,
                       const struct alarm_event *event)
{
    enum alarm_verdict verdict = ALARM_IGNORED;

    pthread_mutex_lock(&channel->lock);
    verdict = alarm_decide(&channel->state, event, daemon_now_ms());
    pthread_mutex_unlock(&channel->lock);
    if (verdict == ALARM_WAITS || verdict == ALARM_LACKS)
        fd_mark(channel->wake_fd);
}

void alarm_channel_take_over(struct alarm_channel *channel,
                             struct alarm_channel *previous, bool is_moved)
{
    pthread_mutex_lock(&previous->lock);
    pthread_mutex_lock(&channel->lock);
    channel->state = previous->state;
    channel->state.rules = channel->options.rules;
    if (is_moved)
        alarm_send_again(&channel->state, daemon_now_ms());
    alarm_state_init(&previous->state, &previous->options.rules);
    previous->heir = channel;
    pthread_mutex_unlock(&channel->lock);
    pthread_mutex_unlock(&previous->lock);
    fd_mark(channel->wake_fd);
}

void alarm_channel_adopt(struct alarm_channel *channel,
                         const struct alarm_state *known)
{
    pthread_mutex_lock(&channel->lock);
    alarm_adopt(&channel->state, known, daemon_now_ms());
    pthread_mutex_unlock(&channel->lock);
    fd_mark(channel->wake_fd);
}

/* --- delivery --- */

static struct alarm_wait channel_wait(const struct alarm_channel *channel,
                                      int64_t span_ms, int64_t grace_ms)
{
    struct alarm_wait wait = {.stop_fd = channel->stop_fd,
                              .grace_ms = grace_ms};

    alarm_wait_begin(&wait, span_ms);
    return wait;
}

/* Tries up to ALARM_ATTEMPTS times, with a growing delay. */
static enum alarm_outcome channel_try(struct alarm_channel *channel,
                                      const char *body, struct seqb_error *why)
{
    const struct alarm_limits *limits = &channel->options.limits;
    struct alarm_target *target = channel->options.target;
    enum alarm_outcome outcome = ALARM_FAILED;

    for (int attempt = 0; attempt < ALARM_ATTEMPTS; attempt++) {
        struct alarm_wait wait =
            channel_wait(channel, limits->send_ms, limits->grace_ms / 2);
        struct alarm_wait pause;

        outcome = target->send(target, body, &wait, why);
        channel->is_stopping = wait.is_stopping;
        if (outcome != ALARM_FAILED || attempt == ALARM_ATTEMPTS - 1)
            return outcome;
        pause = channel_wait(channel, limits->retry_ms << attempt, 0);
        if (!channel->is_stopping)
            (void)alarm_wait_for(&pause, -1);
        channel->is_stopping = channel->is_stopping || pause.is_stopping;
        if (channel->is_stopping)
            return outcome;
    }
    return outcome;
}

/* Logs the first failure, and the first success after failures. */
static void channel_log(struct alarm_channel *channel, bool is_delivered,
                        const struct seqb_error *why)
{
    const char *name = channel->options.target->name;
    char reason[REASON_SIZE];

    if (is_delivered && channel->is_failing)
        log_event(SEQB_LOG_INFO, "event=alarm_delivered target=%s", name);
    if (!is_delivered && !channel->is_failing)
        log_event(SEQB_LOG_WARN, "event=alarm_failed target=%s reason=%s", name,
                  log_quote(reason, sizeof reason, why->text));
    channel->is_failing = !is_delivered;
}

/* Logs the first state that no alarm will be sent of. */
static void channel_log_lacking(const struct alarm_channel *channel,
                                const char *subject)
{
    char quoted[2 * ALARM_SUBJECT_SIZE];

    log_event(SEQB_LOG_WARN, "event=alarm_left_out target=%s subject=%s",
              channel->options.target->name,
              log_quote(quoted, sizeof quoted, subject));
}

/* With the lock of the state held. */
static void state_note(struct alarm_state *state,
                       const struct alarm_message *message, bool is_delivered)
{
    if (is_delivered)
        alarm_delivered(state, message, daemon_now_ms());
    else
        alarm_lost(state, message, daemon_now_ms());
}

/* Notes the outcome where the row of the message is by now. The channel stays
 * locked: if the row moved to an heir meanwhile, it would wait there for the
 * outcome for ever. */
static void channel_note(struct alarm_channel *channel,
                         const struct alarm_message *message, bool is_delivered)
{
    struct alarm_channel *heir;

    pthread_mutex_lock(&channel->lock);
    heir = channel->heir;
    if (heir == NULL) {
        state_note(&channel->state, message, is_delivered);
    } else {
        pthread_mutex_lock(&heir->lock);
        state_note(&heir->state, message, is_delivered);
        pthread_mutex_unlock(&heir->lock);
        fd_mark(heir->wake_fd);
    }
    pthread_mutex_unlock(&channel->lock);
}

/* `last`: one try within that wait. NULL: all attempts. */
static void channel_deliver(struct alarm_channel *channel,
                            const struct alarm_message *message,
                            struct alarm_wait *last)
{
    struct alarm_target *target = channel->options.target;
    char *body = alarm_message_json(message, &channel->options.sender);
    struct seqb_error why = {.text = "no memory for the message"};
    enum alarm_outcome outcome = ALARM_FAILED;

    if (body != NULL)
        outcome = last != NULL ? target->send(target, body, last, &why)
                               : channel_try(channel, body, &why);
    free(body);
    if (last == NULL)
        channel_note(channel, message, outcome == ALARM_DELIVERED);
    channel_log(channel, outcome == ALARM_DELIVERED, &why);
}

/* Waits until a message may be due, or the stop. */
static void channel_rest(struct alarm_channel *channel, int64_t next_ms)
{
    const int64_t now_ms = daemon_now_ms();
    const int64_t span_ms = next_ms > now_ms ? next_ms - now_ms : 0;
    struct alarm_wait wait = channel_wait(channel, span_ms, 0);
    uint64_t marks = 0;

    if (alarm_wait_for(&wait, channel->wake_fd) &&
        read(channel->wake_fd, &marks, sizeof marks) < 0)
        return;
    channel->is_stopping = channel->is_stopping || wait.is_stopping;
}

static bool is_stop_marked(struct alarm_channel *channel)
{
    bool is_marked = false;

    pthread_mutex_lock(&channel->lock);
    is_marked = channel->stopped_ms > 0;
    pthread_mutex_unlock(&channel->lock);
    return is_marked;
}

/* At the stop. What waits may say why the daemon stops. */
static void channel_finish(struct alarm_channel *channel)
{
    for (;;) {
        struct alarm_wait wait = {.stop_fd = channel->stop_fd,
                                  .is_stopping = true};
        struct alarm_message message;
        bool is_due = false;

        pthread_mutex_lock(&channel->lock);
        wait.end_ms = channel->stopped_ms + channel->options.limits.grace_ms;
        is_due =
            alarm_wait_left(&wait) > 0 && alarm_last(&channel->state, &message);
        pthread_mutex_unlock(&channel->lock);
        if (!is_due)
            return;
        channel_deliver(channel, &message, &wait);
    }
}

static void *channel_run(void *argument)
{
    struct alarm_channel *channel = argument;

    while (!channel->is_stopping && !is_stop_marked(channel)) {
        struct alarm_message message;
        char subject[ALARM_SUBJECT_SIZE];
        bool is_lacking = false;
        bool is_due = false;
        int64_t next_ms = 0;

        pthread_mutex_lock(&channel->lock);
        is_lacking = alarm_lacking(&channel->state, subject);
        is_due = alarm_due(&channel->state, daemon_now_ms(), &message);
        next_ms = alarm_next_ms(&channel->state);
        pthread_mutex_unlock(&channel->lock);
        if (is_lacking)
            channel_log_lacking(channel, subject);
        if (is_due)
            channel_deliver(channel, &message, NULL);
        else
            channel_rest(channel, next_ms);
    }
    channel_finish(channel);
    return NULL;
}

/* --- opening and closing --- */

struct alarm_channel *
alarm_channel_open(const struct alarm_channel_options *options)
{
    struct alarm_channel *channel = calloc(1, sizeof *channel);

    if (channel == NULL) {
        if (options->target != NULL)
            options->target->close(options->target);
        return NULL;
    }
    channel->options = *options;
    pthread_mutex_init(&channel->lock, NULL);
    alarm_state_init(&channel->state, &options->rules);
    channel->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    channel->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    channel->is_started =
        options->target != NULL && channel->wake_fd >= 0 &&
        channel->stop_fd >= 0 &&
        signals_thread(&channel->thread, channel_run, channel);
    if (channel->is_started)
        return channel;
    alarm_channel_close(channel);
    return NULL;
}

void alarm_channel_stop(struct alarm_channel *channel)
{
    pthread_mutex_lock(&channel->lock);
    channel->stopped_ms = daemon_now_ms();
    pthread_mutex_unlock(&channel->lock);
    fd_mark(channel->stop_fd);
}

void alarm_channel_close(struct alarm_channel *channel)
{
    if (channel == NULL)
        return;
    if (channel->is_started)
        pthread_join(channel->thread, NULL);
    if (channel->options.target != NULL)
        channel->options.target->close(channel->options.target);
    if (channel->wake_fd >= 0)
        close(channel->wake_fd);
    if (channel->stop_fd >= 0)
        close(channel->stop_fd);
    pthread_mutex_destroy(&channel->lock);
    free(channel);
}
