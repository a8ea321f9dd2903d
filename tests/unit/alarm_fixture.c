/* SPDX-License-Identifier: Apache-2.0 */
/* See alarm_fixture.h. There is one log, so what it says is kept in one place,
 * too. */
#include "alarm_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log/log.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/test.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t count;
    char lines[2][ALARM_LOGGED_SIZE]; /* the first ones */
} logged = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .changed = PTHREAD_COND_INITIALIZER};

static void logged_see(void *context, const struct log_entry *entry)
{
    (void)context;
    if (strncmp(entry->line, "event=alarm_", strlen("event=alarm_")) != 0)
        return;
    pthread_mutex_lock(&logged.lock);
    if (logged.count < sizeof logged.lines / sizeof logged.lines[0])
        (void)text_copy(logged.lines[logged.count], ALARM_LOGGED_SIZE,
                        entry->line);
    logged.count++;
    pthread_cond_broadcast(&logged.changed);
    pthread_mutex_unlock(&logged.lock);
}

static const struct log_watcher watcher = {logged_see, NULL};

int alarm_setup(void **out)
{
    const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    struct alarm_fixture *fixture = calloc(1, sizeof *fixture);

    if (fixture == NULL ||
        !folder_make(fixture->folder, sizeof fixture->folder))
        return -1;
    log_open(&quiet);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    alarm_settings_init(&fixture->settings);
    if (!alarm_settings_take(&fixture->settings, "name", "shop"))
        return -1;
    fixture->limits = (struct alarm_limits){.send_ms = 600000,
                                            .grace_ms = 600000,
                                            .retry_ms = 1,
                                            .rest_ms = 600000};
    logged.count = 0;
    *out = fixture;
    return log_watch(&watcher) ? 0 : -1;
}

int alarm_teardown(void **state)
{
    struct alarm_fixture *fixture = *state;

    alarm_end(fixture);
    log_unwatch(&watcher);
    alarm_settings_free(&fixture->settings);
    folder_remove(fixture->folder);
    free(fixture);
    return 0;
}

void alarm_begin(struct alarm_fixture *fixture)
{
    assert_ok(alarm_settings_check(&fixture->settings, NULL, NULL));
    assert_ok(alarms_open(&fixture->settings, &fixture->limits,
                          &fixture->alarms, NULL));
    assert_non_null(fixture->alarms);
}

void alarm_end(struct alarm_fixture *fixture)
{
    alarms_close(fixture->alarms);
    fixture->alarms = NULL;
}

const char *alarm_wait_logged(size_t number)
{
    pthread_mutex_lock(&logged.lock);
    while (logged.count < number)
        pthread_cond_wait(&logged.changed, &logged.lock);
    pthread_mutex_unlock(&logged.lock);
    return logged.lines[number - 1];
}

size_t alarm_logged(void)
{
    size_t count = 0;

    pthread_mutex_lock(&logged.lock);
    count = logged.count;
    pthread_mutex_unlock(&logged.lock);
    return count;
}
