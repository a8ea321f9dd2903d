/* SPDX-License-Identifier: Apache-2.0 */
/* The check before a restart in place. While calls fail it may refuse any
 * program, but not permit one that refuses to start. And the restart itself,
 * but for the exec: then this process goes on as the next program. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/listeners/inherited.h"
#include "daemon/log/log.h"
#include "daemon/restart.h"
#include "daemon/server.h"
#include "daemon/stop/stop.h"
#include "platform/text.h"
#include "served.h"
#include "support/test.h"

/* What a check with that program says. */
static bool is_possible(char *program, const struct inherited *lent)
{
    char *argv[] = {program, NULL};
    struct restart_checker *checker = restart_check(argv, lent);
    enum restart_verdict verdict = RESTART_REFUSED;

    if (checker != NULL)
        while ((verdict = restart_evaluate(checker)) == RESTART_UNDECIDED)
            (void)usleep(1000);
    return verdict == RESTART_POSSIBLE;
}

static void live(struct sweep *sweep)
{
    static const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    static char starts[] = "/bin/true";
    static char refuses[] = "/bin/false";
    const bool was_suspended = faults_suspend(true);
    struct inherited lent = {.count = 1};

    log_open(&quiet);
    lent.sockets[0].fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    faults_suspend(was_suspended);
    if (!is_possible(starts, &lent) && !sweep->is_faulty)
        sweep_fail("a restart is refused");
    if (is_possible(refuses, &lent))
        sweep_fail("a restart of a program that refuses it is permitted");
    faults_suspend(true);
    (void)close(lent.sockets[0].fd);
    faults_suspend(was_suspended);
}

static const struct sweep_scene checks = {
    .before = live, .during = live, .after = live};

TEST(memory_of_a_restart)
{
    sweep_run(&checks, FAULTS_MEMORY);
}

TEST(calls_of_a_restart)
{
    sweep_run(&checks, FAULTS_CALLS);
}

/* --- from one program to the next --- */

#define FEW 3

/* NULL if it does not start, which it says. */
static struct server *server_begin(struct sweep *sweep, struct options *options)
{
    struct seqb_error err = {.status = SEQB_OK};
    struct server *server = NULL;
    struct server_options of_server;

    if (!served_options(sweep, served_topology(sweep, ""), options))
        return NULL;
    err.status = options_complete(options, NULL, &err);
    if (!served_expect(sweep, &err, "options"))
        return NULL;
    of_server = options_of_server(options);
    err.status = server_open(&of_server, &server, &err);
    if (!served_expect(sweep, &err, "start"))
        return NULL;
    sweep_take(sweep, server->daemon.broker, "order", FEW);
    return server;
}

/* What the exec closes: `from` and up, which nothing else has. */
static void descriptors_end(int from)
{
    if (close_range((unsigned)from, ~0U, 0) != 0)
        sweep_fail("descriptors are left");
}

static void on_verdict(evutil_socket_t fd, short events, void *server)
{
    (void)fd;
    (void)events;
    stop_for_restart(server);
}

/* The program is not there. So what it would inherit is left in the
 * environment, and from the first descriptor on. */
static void restart(struct server *server)
{
    static char program[] = "/seqbrokerd";
    char *argv[] = {program, NULL};
    struct inherited kept = {.count = 0};
    struct seqb_error err = {.text = ""};

    (void)event_base_once(server->base, -1, EV_TIMEOUT, on_verdict, server,
                          NULL);
    server_run(server);
    if (!server_release(server, &kept))
        sweep_fail("the restart has become a stop");
    server_close(server);
    restart_run(argv, &kept, &err);
    if (err.text[0] == '\0')
        sweep_fail("it is not said why the program is not executed");
    descriptors_end(INHERITED_FIRST_FD + (int)kept.count);
}

static void next_live(struct sweep *sweep, const char *address)
{
    struct options options;
    struct server *server = server_begin(sweep, &options);

    if (server != NULL) {
        if (!sweep->is_faulty &&
            strcmp(server->listeners.addresses, address) != 0)
            sweep_fail("the next program listens at %s instead of %s",
                       server->listeners.addresses, address);
        (void)raise(SIGTERM);
        server_run(server);
        server_close(server);
    }
    options_free(&options);
}

static void live_on(struct sweep *sweep)
{
    static const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    struct options options;
    char address[64];
    struct server *server;

    log_open(&quiet);
    descriptors_end(INHERITED_FIRST_FD);
    server = server_begin(sweep, &options);
    if (server != NULL) {
        (void)text_copy(address, sizeof address, server->listeners.addresses);
        restart(server);
        next_live(sweep, address);
    }
    options_free(&options);
    descriptors_end(INHERITED_FIRST_FD);
    (void)unsetenv("LISTEN_FDS"); /* who did not start did not read it */
}

static const struct sweep_scene restarts = {
    .before = live_on, .during = live_on, .after = live_on, .places = 12};

TEST(memory_of_the_next_program)
{
    sweep_run(&restarts, FAULTS_MEMORY);
}

TEST(calls_of_the_next_program)
{
    sweep_run(&restarts, FAULTS_CALLS);
}
