/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms by a program of the operator, which writes down what it is told. While
 * calls fail an alarm may be lost; what comes after that must arrive. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/alarm/alarm.h"
#include "daemon/log/log.h"
#include "platform/text.h"
#include "support/test.h"
#include "sweep.h"

#define TOLD_SIZE 65536

static const char program[] = "#!/bin/sh\n"
                              "cat >>\"$${0%/*}/told\"\n";

/* Whether the program was told of the partition. */
static bool is_told(const struct sweep *sweep, const char *partition)
{
    static char told[TOLD_SIZE];
    char path[64];
    size_t length = 0;
    FILE *file;

    (void)text_format(path, sizeof path, "%s/told", sweep->folder);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    length = fread(told, 1, sizeof told - 1, file);
    told[length] = '\0';
    (void)fclose(file);
    return strstr(told, partition) != NULL;
}

static void take(struct alarm_settings *settings, const char *name,
                 const char *value)
{
    if (!alarm_settings_take(settings, name, value))
        sweep_fail("a setting is not taken");
}

static void watch(struct sweep *sweep, const struct alarm_settings *settings,
                  const char *partition)
{
    struct alarms *alarms = NULL;
    struct seqb_error err = {.status = SEQB_OK};

    err.status = alarms_open(settings, NULL, &alarms, &err);
    if (!sweep_expect(sweep, err.status, &err, "alarms"))
        return;
    log_event(SEQB_LOG_WARN, "event=poisoned pool=main partition=%s",
              partition);
    alarms_close(alarms);
}

static void live(struct sweep *sweep)
{
    static const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    const char *partition = sweep->is_faulty ? "1" : "2";
    const bool was_suspended = faults_suspend(true);
    struct alarm_settings settings;
    const char *path = sweep_topology(sweep, "tell", program);

    faults_prepare_loop();
    log_open(&quiet);
    (void)chmod(path, 0700);
    alarm_settings_init(&settings);
    take(&settings, "name", "orders");
    take(&settings, "on_event", path);
    faults_suspend(was_suspended);
    watch(sweep, &settings, partition);
    alarm_settings_free(&settings);
    if (!sweep->is_faulty && !is_told(sweep, "\"2\""))
        sweep_fail("nobody was told");
}

static const struct sweep_scene alarms = {
    .before = live, .during = live, .after = live};

TEST(memory_of_alarms)
{
    sweep_run(&alarms, FAULTS_MEMORY);
}

TEST(calls_of_alarms)
{
    sweep_run(&alarms, FAULTS_CALLS);
}

TEST(memory_of_jansson_with_alarms)
{
    sweep_run(&alarms, FAULTS_LOOP_MEMORY);
}
