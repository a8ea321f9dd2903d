/* SPDX-License-Identifier: Apache-2.0 */
/* seqbrokerd within this process, from its command line to its end by SIGTERM:
 * addresses taken, the broker opened, a reload, the close. */
#include <signal.h>

#include <seqbroker/admin.h>

#include "daemon/log/log.h"
#include "daemon/reloader/reloader.h"
#include "daemon/server.h"
#include "served.h"
#include "support/test.h"

#define TURNS 5 /* of the loop, for what a reload leaves it */

#define BEGIN                                                                  \
    "broker = { name = \"orders\"; open_timeout = $; };"                       \
    "backends = ("                                                             \
    "  { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; } );"             \
    "pools = ( { name = \"main\"; partitions = [ \"a\" ]; } );"                \
    "users = ( { name = \"some\"; role = \"take\"; uids = [ 1 ]; } );"         \
    "key_limits = ( { name = \"all\"; keys = [ \"*\" ]; rate = 9; } );"

/* No slow life is to end itself. */
#define STOP "stop_timeout = \"1m\";"

static const char first[] = BEGIN "daemon = { " STOP " };"
                                  "sequences = ( { key = \"order\"; } );";
static const char second[] = BEGIN
    "daemon = { " STOP " max_connections = 20; alarm_level = \"error\"; };"
    "sequences = ( { key = \"order\"; }, { key = \"bill\"; } );";

/* Kept until the process ends, as by the program. */
static struct reloader *reloader;

static void reload(struct sweep *sweep, struct server *server)
{
    struct reload_report report;

    (void)sweep_topology(sweep, "daemon.conf", second);
    reloader_run(reloader, false, "test", &report);
    (void)served_expect(sweep, &report.err, "reload");
    if (report.err.status == SEQB_OK) {
        faults_suspend(true); /* a call that wakes the loop may have failed */
        daemon_wake(&server->daemon);
        faults_suspend(false);
        for (int i = 0; i < TURNS; i++)
            (void)event_base_loop(server->base, EVLOOP_NONBLOCK | EVLOOP_ONCE);
        if (server->daemon.limits.options.max_connections != 20)
            sweep_fail("the reload's limits do not hold");
    }
    reload_report_free(&report);
}

static void serve(struct sweep *sweep, struct options *options)
{
    struct server_options of_server;
    struct server *server = NULL;
    struct seqb_error err = {.status = SEQB_OK};

    err.status = options_complete(options, NULL, &err);
    if (!served_expect(sweep, &err, "options"))
        return;
    if (reloader == NULL)
        reloader = reloader_new(options->topology, true);
    if (reloader == NULL && !sweep->is_faulty)
        sweep_fail("no reloader");
    if (reloader == NULL)
        return;
    err.status = reloader_watch(reloader, &options->alarm, &err);
    if (served_expect(sweep, &err, "alarms")) {
        of_server = options_of_server(options);
        of_server.reloader = reloader;
        err.status = server_open(&of_server, &server, &err);
    }
    if (served_expect(sweep, &err, "start") && server != NULL) {
        reload(sweep, server);
        (void)raise(SIGTERM);
        server_run(server);
        server_close(server);
    }
    reloader_end(reloader);
}

static void live(struct sweep *sweep)
{
    static const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    struct options options;

    log_open(&quiet);
    if (served_options(sweep, sweep_topology(sweep, "daemon.conf", first),
                       &options))
        serve(sweep, &options);
    options_free(&options);
}

static const struct sweep_scene daemons = {
    .before = live, .during = live, .after = live, .places = 24};

TEST(memory_of_a_daemon)
{
    sweep_run(&daemons, FAULTS_MEMORY);
}

TEST(calls_of_a_daemon)
{
    sweep_run(&daemons, FAULTS_CALLS);
}
