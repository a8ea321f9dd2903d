/* SPDX-License-Identifier: Apache-2.0 */
/* seqbrokerd: main and the settings of the process. options.c has the
 * configuration, server.c the server. */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "daemon/addresses.h"
#include "daemon/log/log.h"
#include "daemon/options.h"
#include "daemon/reloader/reloader.h"
#include "daemon/restart.h"
#include "daemon/server.h"
#include "daemon/signals.h"
#include "daemon/stop/stop.h"
#include "streams/streams.h"

/* How long the end waits for who reads the log. */
#define LOG_FINISH_MS 500

/* malloc maps larger blocks separately, so that their pages take no memory
 * before they are used. Every SQL backend has such a block, with room for 1,024
 * requests. */
#define OWN_PAGES (512 << 10)

static void reload(void *context)
{
    struct reload_report report;

    reloader_run(context, false, "SIGHUP", &report);
    reload_report_free(&report);
}

static int fail(const struct seqb_error *err)
{
    fprintf(stderr, "seqbrokerd: %s\n", err->text);
    return EXIT_FAILURE;
}

/* Once the log is open, what fails is an event: it has a time and a priority,
 * and is an alarm. A person at a terminal reads the sentence more easily. */
static int start_failed(const struct seqb_error *err)
{
    char reason[2 * sizeof err->text];

    log_event(SEQB_LOG_ERROR, "event=start_failed reason=%s",
              log_quote(reason, sizeof reason, err->text));
    return isatty(STDERR_FILENO) ? fail(err) : EXIT_FAILURE;
}

/* Allows as many open files as the system permits this process. */
static void raise_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* A core dump would contain the stores' passwords, wherever it is sent to. This
 * also prevents all but root from attaching a debugger. */
static void forbid_cores(void)
{
    (void)prctl(PR_SET_DUMPABLE, 0);
}

/* By default malloc() raises its mmap threshold whenever a mapped block is
 * freed. After a large topology it would then take large blocks from its heap,
 * where calloc() writes zeros to all of their pages. */
static void keep_memory_small(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, OWN_PAGES);
    (void)mallopt(M_TRIM_THRESHOLD, 2 * OWN_PAGES);
}

static void check_print(void *context, const char *line)
{
    (void)context;
    puts(line);
}

/* Whether a start could have these addresses. A daemon that starts this check
 * before its restart hands over its sockets, so that they can be tried. */
static bool addresses_are_usable(struct options *options,
                                 struct seqb_error *err)
{
    const struct server_options of_server = options_of_server(options);
    enum seqb_status status;

    if (restart_is_checker())
        return server_try(&of_server, err) == SEQB_OK;
    status = addresses_check(&of_server, err);
    seqb_topology_free(of_server.read);
    return status == SEQB_OK;
}

static void check_complain(void *context, const char *reason)
{
    bool *is_said = context;

    *is_said = true;
    fprintf(stderr, "seqbrokerd: %s\n", reason);
}

/* Checks the configuration as a start would read it, and changes nothing. */
static int check(struct options *options)
{
    bool is_said = false;
    const struct reasons reasons = {check_complain, &is_said};
    struct seqb_error err;

    if (seqb_check_topology(options->topology, check_print, NULL, &err) !=
        SEQB_OK)
        return EXIT_FAILURE;
    if (options_complete(options, &reasons, &err) != SEQB_OK)
        return is_said ? EXIT_FAILURE : fail(&err);
    if (tls_files_check(&options->tls, check_print, NULL, &err) != SEQB_OK)
        return fail(&err);
    if (!addresses_are_usable(options, &err))
        return fail(&err);
    printf("%s: ok\n", options->topology != NULL ? options->topology
                                                 : "the embedded default");
    return EXIT_SUCCESS;
}

static void log_ready(const struct server *server)
{
    char listen[2 * SERVER_PLACES_SIZE];
    char socket[2 * SERVER_PLACES_SIZE];
    char tls[2 * SERVER_PLACES_SIZE];
    char http[2 * SERVER_PLACES_SIZE];
    char https[2 * SERVER_PLACES_SIZE];

    log_event(SEQB_LOG_INFO,
              "event=ready name=%s listen=%s socket=%s pid=%ld http=%s "
              "tls=%s https=%s",
              seqb_broker_name(server->daemon.broker),
              log_quote(listen, sizeof listen, server->listeners.addresses),
              log_quote(socket, sizeof socket, server->listeners.sockets),
              (long)getpid(),
              log_quote(http, sizeof http, http_name(server->http)),
              log_quote(tls, sizeof tls, server->listeners.tls_addresses),
              log_quote(https, sizeof https, http_tls_name(server->http)));
}

/* The process ends in time, whatever its stores do, and whoever receives alarms
 * or reads the log after that. What clients left of it is for the unused
 * numbers. */
static void close_in_time(struct server *server)
{
    const struct stop_rest rest =
        stop_rest(&server->daemon.stop, server->stopped_ms, daemon_now_ms());
    const int64_t end_ms = daemon_now_ms() + rest.finish_ms;

    signals_end_within(rest.close_ms);
    server->keep_ms = rest.keep_ms;
    server_close(server);
    signals_finish_within(end_ms - daemon_now_ms());
}

/* Serves until the stop. If `*is_restart`, `*kept` has the sockets for the next
 * program. */
static int serve(const struct server_options *of_server, struct inherited *kept,
                 bool *is_restart)
{
    struct server *server = NULL;
    struct seqb_error err;

    if (server_open(of_server, &server, &err) != SEQB_OK)
        return start_failed(&err);
    log_ready(server);
    server_run(server);
    log_event(SEQB_LOG_INFO, "event=stopping");
    *is_restart = server_release(server, kept);
    /* A restart in place must not be ended by a slow store, nor delayed. */
    if (!*is_restart) {
        close_in_time(server);
        return EXIT_SUCCESS;
    }
    server_close(server);
    *is_restart = !stop_is_asked();
    if (!*is_restart)
        signals_finish_within(STOP_FINISH_MS);
    return EXIT_SUCCESS;
}

/* Returns only if the next program cannot be executed, or a signal has come
 * that would stop it. The alarms end before it, and are opened again to say
 * that it cannot. */
static int restart(char **argv, const struct inherited *kept,
                   struct reloader *reloader)
{
    struct seqb_error err;
    char reason[2 * sizeof err.text];

    reloader_unwatch(reloader);
    log_finish(LOG_FINISH_MS);
    if (restart_is_overtaken())
        return EXIT_SUCCESS;
    restart_run(argv, kept, &err);
    reloader_watch_again(reloader);
    log_event(SEQB_LOG_ERROR, "event=restart_failed reason=%s",
              log_quote(reason, sizeof reason, err.text));
    return EXIT_FAILURE;
}

/* The alarms are opened first and closed last, because opening and closing
 * stores may cause alarms. */
static int serve_watched(struct options *options, char **argv,
                         struct reloader *reloader)
{
    struct server_options of_server = options_of_server(options);
    struct inherited kept = {.count = 0};
    struct seqb_error err;
    bool is_restart = false;
    int code = 0;

    if (reloader_watch(reloader, &options->alarm, &err) != SEQB_OK)
        return start_failed(&err);
    of_server.argv = argv;
    of_server.reloader = reloader;
    code = serve(&of_server, &kept, &is_restart);
    if (is_restart)
        code = restart(argv, &kept, reloader);
    reloader_end(reloader);
    return code;
}

static int run(struct options *options, char **argv,
               struct signals_answers *answers)
{
    struct reloader *reloader =
        reloader_new(options->topology, options->has_level);
    struct seqb_error err;

    log_open(&options->log);
    seqb_set_logger(log_write, NULL);
    answers->context = reloader;
    if (reloader == NULL || !signals_answer(answers))
        return start_failed(
            &(struct seqb_error){.text = "cannot start a thread"});
    raise_open_files();
    forbid_cores();
    if (options_complete(options, NULL, &err) != SEQB_OK)
        return start_failed(&err);
    log_set_level(options->log.level);
    return serve_watched(options, argv, reloader);
}

int main(int argc, char **argv)
{
    /* The thread that answers uses it until the process ends. */
    static struct signals_answers answers = {.hangup = reload};
    struct options options;
    int code = 0;

    if (!streams_fill())
        return EXIT_FAILURE;
    keep_memory_small();
    signals_shield();
    code = options_parse(argc, argv, &options);
    if (code < 0 && options.is_check)
        code = check(&options);
    if (code < 0)
        code = run(&options, argv, &answers);
    log_finish(LOG_FINISH_MS);
    options_free(&options);
    return code;
}
