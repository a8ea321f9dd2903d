/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's part of a reload is prepared while the library may still refuse,
 * and applied after the library has accepted; see reloader.h. */
#include "daemon/reloader/reloader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/log/log.h"
#include "setting/setting.h"

struct reloader {
    const char *topology;
    bool has_level;
    _Atomic int64_t read_ms;

    /* Atomic, because the loop takes them and must not wait for a reload. */
    _Atomic(struct users *) users;
    _Atomic(struct limits_options *) limits;

    pthread_mutex_t lock; /* held by a reload; guards the rest */
    struct daemon *daemon;
    size_t user_count;           /* of the current table */
    struct alarm_settings alarm; /* of `alarms`, which point to its texts */
    struct alarms *alarms;
};

/* One reload in progress. */
struct reload_attempt {
    struct reloader *reloader;
    struct reload_report *report;
    struct alarm_settings alarm;
    struct alarms *alarms; /* the new ones */
    struct users *users;   /* the same */
    struct limits_options *limits;
    enum seqb_log_level level;
    int64_t stop_delay_ms, stop_timeout_ms;
    bool is_check; /* nothing will be applied */
    bool has_other_alarms;
    bool is_whole; /* memory was never short */
    struct reload_given given;
};

static enum seqb_status refuse(struct seqb_error *err, enum seqb_status status,
                               const char *why)
{
    err->status = status;
    snprintf(err->text, sizeof err->text, "%s", why);
    return status;
}

/* --- the report --- */

static void take_change(void *context, const struct seqb_reload_change *change)
{
    struct reload_attempt *attempt = context;

    if (!reload_report_add(attempt->report, change))
        attempt->is_whole = false;
}

static void take_mistake(void *context, const char *line)
{
    struct reload_attempt *attempt = context;

    if (!reload_report_reason(attempt->report, line))
        attempt->is_whole = false;
}

/* --- what the daemon applies --- */

static void take_setting(void *context, const char *setting, const char *value)
{
    struct reload_attempt *attempt = context;

    reload_given_add(&attempt->given, attempt->reloader->daemon, setting);
    if (strcmp(setting, "log_level") == 0)
        (void)log_level_find(value, &attempt->level);
    else if (strcmp(setting, "stop_delay") == 0)
        attempt->stop_delay_ms = strtoll(value, NULL, 10);
    else if (strcmp(setting, "stop_timeout") == 0)
        attempt->stop_timeout_ms = strtoll(value, NULL, 10);
    else if (!limits_take(attempt->limits, setting, value) &&
             (!alarm_settings_take(&attempt->alarm, setting, value) ||
              !users_take(attempt->users, setting, value)))
        attempt->is_whole = false;
}

static bool is_same_alarm(const struct alarm_settings *a,
                          const struct alarm_settings *b)
{
    return a->level == b->level && a->reminder_ms == b->reminder_ms &&
           setting_is_same(a->on_event, b->on_event) &&
           setting_is_same(a->webhook, b->webhook) &&
           setting_is_same(a->webhook_ca_file, b->webhook_ca_file);
}

/* Whether the addresses of the daemon forbid these users. Without a daemon
 * there are no addresses yet. */
static bool reloader_bars_users(const struct reloader *reloader,
                                const struct users *users)
{
    return reloader->daemon != NULL && reloader->daemon->access.is_public &&
           !access_would_have_guard(&reloader->daemon->access, users);
}

/* Without users, non-loopback addresses are refused at the start only: so a
 * reload must not remove the last user. */
static enum seqb_status users_guard(const struct reload_attempt *attempt,
                                    struct seqb_error *err)
{
    if (users_count(attempt->users) == 0 && attempt->reloader->user_count > 0)
        return refuse(err, SEQB_INVALID,
                      "without users everybody could take numbers: leave one, "
                      "or restart, which looks at the addresses");
    if (reloader_bars_users(attempt->reloader, attempt->users))
        return refuse(err, SEQB_INVALID,
                      "the user 'default' could take numbers without a login, "
                      "at an address that is not of loopback: give it another "
                      "role or a password, or restart with open_to_all");
    return SEQB_OK;
}

/* All of it is looked at, so that the report names all reasons. The alarm also
 * if its settings are as before: its program may have gone, with which neither
 * a restart nor an alarm succeeds. */
static enum seqb_status attempt_check(struct reload_attempt *attempt,
                                      struct seqb_error *err)
{
    const struct reasons reasons = {take_mistake, attempt};
    enum seqb_status status = users_check(attempt->users, &reasons, err);
    struct seqb_error why;

    if (users_guard(attempt, &why) != SEQB_OK)
        status = reasons_add(&reasons, status, &why, err);
    attempt->has_other_alarms =
        !is_same_alarm(&attempt->alarm, &attempt->reloader->alarm);
    if (status != SEQB_OK)
        err = &why;
    return alarm_settings_check(&attempt->alarm, &reasons, err) == SEQB_OK ||
                   status != SEQB_OK
               ? status
               : err->status;
}

static enum seqb_status prepare(void *context, struct seqb_error *err)
{
    struct reload_attempt *attempt = context;
    const bool is_refused = attempt->report->reason_count > 0;

    attempt->given.has_settings = true;
    if (!attempt->is_whole ||
        !reload_report_explain(attempt->report, attempt->reloader->daemon,
                               &attempt->given))
        return refuse(err, SEQB_NO_MEMORY, "reload: out of memory");
    if (attempt_check(attempt, err) != SEQB_OK)
        return err->status;
    return attempt->is_check || is_refused || !attempt->has_other_alarms
               ? SEQB_OK
               : alarms_open_next(&attempt->alarm, NULL, &attempt->alarms, err);
}

/* Hands both over to the loop, and replaces those that it has not taken yet. */
static void clients_apply(struct reload_attempt *attempt)
{
    struct reloader *reloader = attempt->reloader;
    const size_t count = users_count(attempt->users);

    attempt->users = atomic_exchange(&reloader->users, attempt->users);
    reloader->user_count = count;
    attempt->limits = atomic_exchange(&reloader->limits, attempt->limits);
    daemon_wake(reloader->daemon);
}

static void attempt_apply(struct reload_attempt *attempt)
{
    struct reloader *reloader = attempt->reloader;
    const struct alarm_settings before = reloader->alarm;
    struct alarms *alarms = reloader->alarms;

    if (!reloader->has_level)
        log_set_level(attempt->level);
    atomic_store(&reloader->daemon->stop.delay_ms, attempt->stop_delay_ms);
    atomic_store(&reloader->daemon->stop.timeout_ms, attempt->stop_timeout_ms);
    atomic_store(&reloader->read_ms, daemon_wall_ms());
    clients_apply(attempt);
    if (!attempt->has_other_alarms)
        return;
    alarms_take_over(attempt->alarms, alarms);
    reloader->alarm = attempt->alarm;
    reloader->alarms = attempt->alarms;
    attempt->alarm = before;
    attempt->alarms = alarms;
}

/* --- a reload --- */

/* With the lock held. */
static enum seqb_status attempt_run(struct reload_attempt *attempt,
                                    struct seqb_error *err)
{
    const struct seqb_reload_options options = {
        .size = sizeof options,
        .dry_run = attempt->is_check,
        .diagnostic = take_mistake,
        .change = take_change,
        .setting = take_setting,
        .prepare = prepare,
        .context = attempt,
    };
    const struct reloader *reloader = attempt->reloader;

    if (reloader->daemon == NULL)
        return refuse(err, SEQB_CLOSED,
                      "the broker is not open: it starts, or stops");
    if (attempt->users == NULL || attempt->limits == NULL)
        return refuse(err, SEQB_NO_MEMORY, "reload: out of memory");
    return seqb_reload(reloader->daemon->broker, reloader->topology, &options,
                       err);
}

static void log_refused(const char *by, const struct seqb_error *err)
{
    char reason[2 * SEQB_ERROR_TEXT_SIZE];

    log_event(SEQB_LOG_WARN, "event=reload_refused by=%s reason=%s", by,
              log_quote(reason, sizeof reason, err->text));
}

void reloader_run(struct reloader *reloader, bool is_check, const char *by,
                  struct reload_report *out)
{
    struct reload_attempt attempt = {
        .reloader = reloader,
        .report = out,
        .users = users_new(),
        .limits = malloc(sizeof *attempt.limits),
        .level = SEQB_LOG_INFO,
        .stop_timeout_ms = STOP_TIMEOUT_MS,
        .is_check = is_check,
        .is_whole = true,
        .given = {.has_level = reloader->has_level}};
    enum seqb_status status = SEQB_OK;

    *out = (struct reload_report){.count = 0};
    alarm_settings_init(&attempt.alarm);
    if (attempt.limits != NULL)
        *attempt.limits = limits_defaults;
    pthread_mutex_lock(&reloader->lock);
    status = attempt_run(&attempt, &out->err);
    if (status != SEQB_OK)
        reload_report_refuse(out, reloader->daemon, &attempt.given);
    if (status == SEQB_OK && !is_check)
        attempt_apply(&attempt);
    alarms_close(attempt.alarms);
    alarm_settings_free(&attempt.alarm);
    users_free(attempt.users);
    free(attempt.limits);
    pthread_mutex_unlock(&reloader->lock);
    out->err.status = status;
    if (status != SEQB_OK && !is_check)
        log_refused(by, &out->err);
}

int64_t reloader_read_ms(const struct reloader *reloader)
{
    return reloader == NULL ? 0 : atomic_load(&reloader->read_ms);
}

/* --- from open to end --- */

struct reloader *reloader_new(const char *topology, bool has_level)
{
    struct reloader *reloader = calloc(1, sizeof *reloader);

    if (reloader == NULL)
        return NULL;
    reloader->topology = topology;
    reloader->has_level = has_level;
    alarm_settings_init(&reloader->alarm);
    pthread_mutex_init(&reloader->lock, NULL);
    return reloader;
}

enum seqb_status reloader_watch(struct reloader *reloader,
                                struct alarm_settings *alarm,
                                struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    pthread_mutex_lock(&reloader->lock);
    reloader->alarm = *alarm;
    alarm_settings_init(alarm);
    status = alarms_open(&reloader->alarm, NULL, &reloader->alarms, err);
    pthread_mutex_unlock(&reloader->lock);
    return status;
}

void reloader_serve(struct reloader *reloader, struct daemon *daemon)
{
    if (reloader == NULL)
        return;
    pthread_mutex_lock(&reloader->lock);
    reloader->daemon = daemon;
    if (daemon != NULL)
        reloader->user_count = users_count(daemon->access.users);
    pthread_mutex_unlock(&reloader->lock);
}

struct users *reloader_take_users(struct reloader *reloader)
{
    return reloader == NULL ? NULL : atomic_exchange(&reloader->users, NULL);
}

struct limits_options *reloader_take_limits(struct reloader *reloader)
{
    return reloader == NULL ? NULL : atomic_exchange(&reloader->limits, NULL);
}

void reloader_unwatch(struct reloader *reloader)
{
    pthread_mutex_lock(&reloader->lock);
    alarms_close(reloader->alarms);
    reloader->alarms = NULL;
    pthread_mutex_unlock(&reloader->lock);
}

void reloader_watch_again(struct reloader *reloader)
{
    struct seqb_error err;

    pthread_mutex_lock(&reloader->lock);
    (void)alarms_open(&reloader->alarm, NULL, &reloader->alarms, &err);
    pthread_mutex_unlock(&reloader->lock);
}

void reloader_end(struct reloader *reloader)
{
    if (reloader == NULL)
        return;
    reloader_unwatch(reloader);
    pthread_mutex_lock(&reloader->lock);
    alarm_settings_free(&reloader->alarm);
    alarm_settings_init(&reloader->alarm);
    pthread_mutex_unlock(&reloader->lock);
    users_free(reloader_take_users(reloader));
    free(reloader_take_limits(reloader));
}
