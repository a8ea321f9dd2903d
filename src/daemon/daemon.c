/* SPDX-License-Identifier: Apache-2.0 */
/* The state that all sessions share; see daemon.h. */
#include "daemon/daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include <seqbroker/admin.h>

/* How long at most the close waits for a store to keep the unused numbers, and
 * the part of the time that it leaves for the rest. A store that is down makes
 * a stop take as long. */
#define KEEP_MOST_MS  4000
#define CLOSE_REST_MS 100

void daemon_init(struct daemon *daemon, const char *state_dir)
{
    *daemon = (struct daemon){
        .state_dir = state_dir, .wake_fd = -1, .started_ms = daemon_now_ms()};
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

struct stop_rest stop_rest(const struct stop_times *times, int64_t begun_ms,
                           int64_t now_ms)
{
    const int64_t close_ms =
        begun_ms + times->timeout_ms + STOP_CLOSE_MS - now_ms;
    const int64_t keep_ms = close_ms - CLOSE_REST_MS;

    return (struct stop_rest){close_ms,
                              keep_ms < KEEP_MOST_MS ? keep_ms : KEEP_MOST_MS,
                              close_ms + STOP_FINISH_MS};
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

/* The user's line of the log names the limit, so the general line is not
 * written. */
void daemon_refuse_place(struct daemon *daemon, struct quota *quota)
{
    quota_refuse_connection(quota, daemon_now_ms());
    limits_count_refused(&daemon->limits, LIMIT_OF_USER);
    daemon->limits.refused_logged++;
}

bool daemon_is_done(const struct daemon *daemon)
{
    return daemon->is_stopping && !daemon->is_accepting &&
           daemon->session_count == 0 && daemon->request_count == 0 &&
           daemon->handshake_count == 0;
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

void daemon_warn(const struct daemon *daemon, char out[DAEMON_WARNING_SIZE])
{
    struct seqb_clock_status clock;

    out[0] = '\0';
    if (seqb_clock(daemon->broker, &clock, sizeof clock, NULL) == SEQB_OK &&
        clock.reason[0] != '\0')
        snprintf(out, DAEMON_WARNING_SIZE, "%s: %s", clock.effect,
                 clock.reason);
}

void daemon_interleave(const struct daemon *daemon)
{
    if (daemon->delayed != NULL)
        event_active(daemon->delayed, EV_TIMEOUT, 0);
}

void daemon_wake(const struct daemon *daemon)
{
    const uint64_t one = 1;

    /* Fails only if the eventfd's counter is full: the loop is awake then. */
    if (write(daemon->wake_fd, &one, sizeof one) < 0)
        return;
}

/* Forgets those who have left, such as a seqctl whose time-out has passed. */
static void drains_forget(struct daemon *daemon)
{
    size_t kept = 0;

    for (size_t i = 0; i < daemon->drain_count; i++) {
        /* Not POLLRDHUP: one that has ended only its requests still waits. */
        struct pollfd client = {.fd = daemon->drain_fds[i]};

        if (poll(&client, 1, 0) > 0)
            close(client.fd);
        else
            daemon->drain_fds[kept++] = client.fd;
    }
    daemon->drain_count = kept;
}

bool daemon_drain(struct daemon *daemon, int fd)
{
    int kept;

    drains_forget(daemon);
    if (daemon->drain_count == DAEMON_DRAINS_MAX)
        return false;
    kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (kept < 0)
        return false;
    daemon->drain_fds[daemon->drain_count++] = kept;
    daemon->is_drain_asked = true;
    daemon_wake(daemon);
    return true;
}

void daemon_end_drains(struct daemon *daemon)
{
    for (size_t i = 0; i < daemon->drain_count; i++)
        close(daemon->drain_fds[i]);
    daemon->drain_count = 0;
}
