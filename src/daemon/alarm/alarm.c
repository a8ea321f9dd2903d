/* SPDX-License-Identifier: Apache-2.0 */
/* The open channels, and the watcher of the log that feeds them. */
#include "daemon/alarm/alarm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/alarm/channel.h"
#include "daemon/daemon.h"
#include "daemon/log/log.h"

enum { OF_PROGRAM, OF_WEBHOOK, CHANNELS_MAX };

#define HOST_SIZE 256

static const struct alarm_limits usual_limits = {
    .send_ms = 10000, .grace_ms = 1000, .retry_ms = 1000, .rest_ms = 10000};

struct alarms {
    struct alarm_channel *channels[CHANNELS_MAX]; /* NULL: not configured */
    const char *targets[CHANNELS_MAX]; /* paths or URLs; the settings' */
    /* Guarded by the log's lock: the states that last, of any level, for
     * targets that a reload adds. */
    struct alarm_state known;
    struct log_watcher watcher;
    bool is_watching;
    bool is_awake; /* guarded by the log's lock: events become alarms */
    char host[HOST_SIZE];
};

/* Called with the log's lock held. */
static void alarms_see(void *context, const struct log_entry *entry)
{
    struct alarms *alarms = context;
    const struct alarm_event event = {entry->level, entry->time_ms,
                                      entry->line};

    if (!alarms->is_awake)
        return;
    (void)alarm_decide(&alarms->known, &event, daemon_now_ms());
    for (size_t i = 0; i < CHANNELS_MAX; i++)
        if (alarms->channels[i] != NULL)
            alarm_channel_see(alarms->channels[i], &event);
}

static bool alarms_add(struct alarms *alarms, size_t of,
                       const struct alarm_settings *settings,
                       const struct alarm_limits *limits,
                       struct alarm_target *target)
{
    const struct alarm_limits chosen = limits != NULL ? *limits : usual_limits;
    const struct alarm_channel_options options = {
        .target = target,
        .rules = {.level = settings->level,
                  .reminder_ms = settings->reminder_ms,
                  .rest_ms = chosen.rest_ms},
        .limits = chosen,
        .sender = {settings->broker, alarms->host}};

    alarms->channels[of] = alarm_channel_open(&options);
    return alarms->channels[of] != NULL;
}

static bool alarms_start(struct alarms *alarms,
                         const struct alarm_settings *settings,
                         const struct alarm_limits *limits)
{
    const struct alarm_rules all = {.level = SEQB_LOG_WARN,
                                    .only_states = true};

    alarm_state_init(&alarms->known, &all);
    alarms->targets[OF_PROGRAM] = settings->on_event;
    alarms->targets[OF_WEBHOOK] = settings->webhook;
    if (settings->on_event != NULL &&
        !alarms_add(alarms, OF_PROGRAM, settings, limits,
                    alarm_program_open(settings->on_event)))
        return false;
    if (settings->webhook != NULL &&
        !alarms_add(
            alarms, OF_WEBHOOK, settings, limits,
            alarm_webhook_open(settings->webhook, settings->webhook_ca_file)))
        return false;
    alarms->watcher = (struct log_watcher){alarms_see, alarms};
    alarms->is_watching = log_watch(&alarms->watcher);
    return alarms->is_watching;
}

enum seqb_status alarms_open_next(const struct alarm_settings *settings,
                                  const struct alarm_limits *limits,
                                  struct alarms **out, struct seqb_error *err)
{
    struct alarms *alarms;

    *out = NULL;
    alarms = calloc(1, sizeof *alarms);
    if (alarms != NULL &&
        gethostname(alarms->host, sizeof alarms->host - 1) == 0 &&
        alarms_start(alarms, settings, limits)) {
        *out = alarms;
        return SEQB_OK;
    }
    alarms_close(alarms);
    err->status = SEQB_NO_MEMORY;
    snprintf(err->text, sizeof err->text, "cannot start: no thread for alarms");
    return err->status;
}

struct handover {
    struct alarms *next, *previous;
};

static void channel_hand_over(struct alarms *next, struct alarms *previous,
                              size_t of)
{
    if (next->channels[of] == NULL)
        return;
    if (previous->channels[of] != NULL)
        alarm_channel_take_over(
            next->channels[of], previous->channels[of],
            strcmp(next->targets[of], previous->targets[of]) != 0);
    alarm_channel_adopt(next->channels[of], &next->known);
}

/* Called with the log's lock held. */
static void hand_over(void *context)
{
    const struct handover *handover = context;
    struct alarms *next = handover->next;
    struct alarms *previous = handover->previous;

    next->is_awake = true;
    if (previous == NULL)
        return;
    previous->is_awake = false;
    next->known = previous->known;
    for (size_t i = 0; i < CHANNELS_MAX; i++)
        channel_hand_over(next, previous, i);
}

void alarms_take_over(struct alarms *next, struct alarms *previous)
{
    struct handover handover = {next, previous};

    log_pause(hand_over, &handover);
}

enum seqb_status alarms_open(const struct alarm_settings *settings,
                             const struct alarm_limits *limits,
                             struct alarms **out, struct seqb_error *err)
{
    const enum seqb_status status =
        alarms_open_next(settings, limits, out, err);

    if (status == SEQB_OK)
        alarms_take_over(*out, NULL);
    return status;
}

void alarms_close(struct alarms *alarms)
{
    if (alarms == NULL)
        return;
    if (alarms->is_watching)
        log_unwatch(&alarms->watcher);
    for (size_t i = 0; i < CHANNELS_MAX; i++)
        if (alarms->channels[i] != NULL)
            alarm_channel_stop(alarms->channels[i]);
    for (size_t i = 0; i < CHANNELS_MAX; i++)
        alarm_channel_close(alarms->channels[i]);
    free(alarms);
}
