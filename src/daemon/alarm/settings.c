/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of alarms in the topology, and their checks. */
#include "daemon/alarm/alarm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/alarm/target.h"
#include "daemon/log/log.h"
#include "setting/setting.h"

#define REMINDER_MS (INT64_C(3600) * 1000)

void alarm_settings_init(struct alarm_settings *out)
{
    *out = (struct alarm_settings){.level = SEQB_LOG_WARN,
                                   .reminder_ms = REMINDER_MS};
}

bool alarm_settings_take(struct alarm_settings *settings, const char *name,
                         const char *value)
{
    if (strcmp(name, "name") == 0)
        return setting_keep(&settings->broker, value);
    if (strcmp(name, "on_event") == 0)
        return setting_keep(&settings->on_event, value);
    if (strcmp(name, "webhook") == 0)
        return setting_keep(&settings->webhook, value);
    if (strcmp(name, "webhook_ca_file") == 0)
        return setting_keep(&settings->webhook_ca_file, value);
    if (strcmp(name, "alarm_level") == 0)
        return log_level_find(value, &settings->level);
    if (strcmp(name, "alarm_reminder") == 0)
        settings->reminder_ms = strtoll(value, NULL, 10);
    return true;
}

static enum seqb_status refuse(struct seqb_error *err, const char *setting,
                               const char *why)
{
    err->status = SEQB_INVALID;
    snprintf(err->text, sizeof err->text, "daemon.%s %s", setting, why);
    return err->status;
}

static bool is_program(const char *path)
{
    struct stat about;

    return path[0] == '/' && stat(path, &about) == 0 &&
           S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

static enum seqb_status program_check(const struct alarm_settings *settings,
                                      struct seqb_error *err)
{
    return settings->on_event == NULL || is_program(settings->on_event)
               ? SEQB_OK
               : refuse(err, "on_event",
                        "wants the absolute path of a program that the daemon "
                        "may execute");
}

static enum seqb_status webhook_check(const struct alarm_settings *settings,
                                      struct seqb_error *err)
{
    if (settings->webhook != NULL && !alarm_webhook_is_built())
        return refuse(err, "webhook",
                      "cannot be used: this seqbrokerd was built without "
                      "libcurl");
    if (settings->webhook != NULL && !alarm_webhook_is_url(settings->webhook))
        return refuse(err, "webhook",
                      "wants a URL with a host, https://... or http://...");
    return SEQB_OK;
}

static enum seqb_status ca_file_check(const struct alarm_settings *settings,
                                      struct seqb_error *err)
{
    return settings->webhook_ca_file == NULL ||
                   access(settings->webhook_ca_file, R_OK) == 0
               ? SEQB_OK
               : refuse(err, "webhook_ca_file", "cannot be read");
}

enum seqb_status alarm_settings_check(const struct alarm_settings *settings,
                                      const struct reasons *reasons,
                                      struct seqb_error *err)
{
    static enum seqb_status (*const checks[])(const struct alarm_settings *,
                                              struct seqb_error *) = {
        program_check, webhook_check, ca_file_check};
    enum seqb_status status = SEQB_OK;
    struct seqb_error why;

    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i](settings, &why) != SEQB_OK)
            status = reasons_add(reasons, status, &why, err);
    return status;
}

void alarm_settings_free(struct alarm_settings *settings)
{
    free(settings->on_event);
    free(settings->webhook);
    free(settings->webhook_ca_file);
    free(settings->broker);
}
