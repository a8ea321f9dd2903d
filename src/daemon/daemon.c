/* SPDX-License-Identifier: Apache-2.0 */
/* The state that all sessions share; see daemon.h. */
#include "daemon/daemon.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void daemon_init(struct daemon *daemon, const char *state_dir)
{
    *daemon = (struct daemon){.state_dir = state_dir,
                              .wake_fd = -1,
                              .drain_fd = -1,
                              .started_ms = daemon_now_ms()};
    TAILQ_INIT(&daemon->sessions);
}

struct stop stop_begin(const struct stop_times *times, int64_t asked_ms,
                       int64_t now_ms)
{
    const bool is_early = asked_ms > 0 && times->delay_ms == 0;
    const int64_t begun_ms = is_early ? asked_ms : now_ms;
    const int64_t left_ms = begun_ms + times->timeout_ms - now_ms;

    return (struct stop){begun_ms, left_ms > 0 ? left_ms : 1};
}

int64_t daemon_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t daemon_now_ms(void)
{
    return daemon_now_us() / 1000;
}

int64_t daemon_wall_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct quota_time daemon_quota_time(void)
{
    return (struct quota_time){daemon_now_ms(), daemon_wall_ms()};
}

bool daemon_is_done(const struct daemon *daemon)
{
    return daemon->is_stopping && daemon->session_count == 0 &&
           daemon->request_count == 0 && daemon->handshake_count == 0;
}

const struct daemon_place *daemon_find_place(const struct daemon *daemon,
                                             const char *path)
{
    for (size_t i = 0; i < DAEMON_PLACES; i++)
        if (daemon->places[i].path != NULL &&
            strcmp(daemon->places[i].path, path) == 0)
            return &daemon->places[i];
    return NULL;
}

const char *place_in_use(const struct daemon_place *place)
{
    return strcmp(place->in_use, "none") == 0 ? "" : place->in_use;
}

const char *daemon_leaves(const struct daemon *daemon)
{
    if (daemon->is_stopping)
        return "the broker is stopping";
    return daemon->is_leaving ? "the broker is going to stop" : NULL;
}

void daemon_wake(const struct daemon *daemon)
{
    const uint64_t one = 1;

    /* Fails only if the eventfd's counter is full: the loop is awake then. */
    if (write(daemon->wake_fd, &one, sizeof one) < 0)
        return;
}

void daemon_drain(struct daemon *daemon, int fd)
{
    if (daemon->is_stopping || daemon->is_drain_asked)
        return;
    daemon->is_drain_asked = true;
    daemon->drain_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    daemon_wake(daemon);
}
