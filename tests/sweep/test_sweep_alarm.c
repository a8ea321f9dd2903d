/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms by a program of the operator, and by a webhook, which write down what
 * they are told. While calls fail an alarm may be lost; what comes after that
 * must arrive. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/alarm/alarm.h"
#include "daemon/alarm/target.h"
#include "daemon/log/log.h"
#include "platform/text.h"
#include "support/alarm_sink.h"
#include "support/test.h"
#include "sweep.h"

#define TOLD_SIZE 65536
#define TOLD_MS   10000 /* until it is written down */

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

static void live_with(struct sweep *sweep, const char *setting,
                      const char *value)
{
    static const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    const char *partition = sweep->is_faulty ? "1" : "2";
    const bool was_suspended = faults_suspend(true);
    struct alarm_settings settings;

    faults_prepare_loop();
    log_open(&quiet);
    alarm_settings_init(&settings);
    take(&settings, "name", "orders");
    take(&settings, setting, value);
    faults_suspend(was_suspended);
    watch(sweep, &settings, partition);
    alarm_settings_free(&settings);
    for (int i = 0; !sweep->is_faulty && !is_told(sweep, "\"2\""); i++) {
        if (i == TOLD_MS)
            sweep_fail("nobody was told");
        (void)usleep(1000);
    }
}

static void live(struct sweep *sweep)
{
    const bool was_suspended = faults_suspend(true);
    const char *path = sweep_topology(sweep, "tell", program);

    (void)chmod(path, 0700);
    faults_suspend(was_suspended);
    live_with(sweep, "on_event", path);
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

/* --- a webhook --- */

/* A process of the life's own, whose calls do not fail. */
static struct {
    pid_t pid;
    char url[64];
} hook;

static _Noreturn void sink_run(const struct sweep *sweep, int to)
{
    struct sink *sink = sink_open(&(struct sink_options){.answer = "well"});
    const int port = sink != NULL ? sink_port(sink) : 0;
    char path[64];

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)text_format(path, sizeof path, "%s/told", sweep->folder);
    if (port == 0 || write(to, &port, sizeof port) != sizeof port)
        _exit(1);
    for (size_t count = 1;; count++) {
        const char *body = sink_wait(sink, count);
        FILE *file = fopen(path, "a");

        if (file == NULL || fputs(body, file) < 0 || fclose(file) != 0)
            _exit(1);
    }
}

static void live_by_webhook(struct sweep *sweep)
{
    live_with(sweep, "webhook", hook.url);
}

static void begin_by_webhook(struct sweep *sweep)
{
    int ends[2];
    int port = 0;

    if (pipe(ends) != 0 || (hook.pid = fork()) < 0)
        sweep_fail("no process for the webhook");
    if (hook.pid == 0)
        sink_run(sweep, ends[1]);
    if (read(ends[0], &port, sizeof port) != sizeof port)
        sweep_fail("the webhook does not start");
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)text_format(hook.url, sizeof hook.url, "http://127.0.0.1:%d/", port);
    live_by_webhook(sweep);
}

static void end_by_webhook(struct sweep *sweep)
{
    live_by_webhook(sweep);
    (void)kill(hook.pid, SIGKILL);
    (void)waitpid(hook.pid, NULL, 0);
}

static const struct sweep_scene webhooks = {.before = begin_by_webhook,
                                            .during = live_by_webhook,
                                            .after = end_by_webhook};

TEST(memory_of_a_webhook)
{
    if (!alarm_webhook_is_built())
        skip();
    sweep_run(&webhooks, FAULTS_MEMORY);
}

TEST(calls_of_a_webhook)
{
    if (!alarm_webhook_is_built())
        skip();
    sweep_run(&webhooks, FAULTS_CALLS);
}
