/* SPDX-License-Identifier: Apache-2.0 */
/* seqbrokerd: the process's own settings. What it is to do is in options.c, how
 * in server.c. */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "daemon/log/log.h"
#include "daemon/options.h"
#include "daemon/reloader.h"
#include "daemon/restart.h"
#include "daemon/server.h"
#include "daemon/signals.h"

/* Beyond stop_timeout, which is for clients: how long the broker may take to
 * close, whatever its stores do. */
#define CLOSE_MS 1000

/* Larger pieces of memory are pages of their own, and take none before they
 * are used. Every SQL backend has one, with room for 1,024 requests. */
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

/* As many connections as the system allows this process. */
static void raise_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* A core would have the stores' passwords in it, wherever it is sent to. So
 * nobody but root can attach a debugger, either. */
static void forbid_cores(void)
{
    (void)prctl(PR_SET_DUMPABLE, 0);
}

/* By itself malloc() takes larger and larger pieces from its heap, and fills
 * them with 0, once one of that size was freed: so after a large topology. */
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

/* Looks at what a start would begin with, and touches nothing. */
static int check(struct options *options)
{
    struct seqb_error err;

    if (seqb_check_topology(options->topology, check_print, NULL, &err) !=
        SEQB_OK)
        return EXIT_FAILURE;
    if (options_complete(options, &err) != SEQB_OK ||
        tls_files_check(&options->tls, check_print, NULL, &err) != SEQB_OK)
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

    log_event(SEQB_LOG_INFO,
              "event=ready name=%s listen=%s socket=%s pid=%ld http=%s "
              "tls=%s https=%s",
              seqb_broker_name(server->daemon.broker),
              log_quote(listen, sizeof listen, server->listeners.addresses),
              log_quote(socket, sizeof socket, server->listeners.sockets),
              (long)getpid(), http_name(server->http),
              log_quote(tls, sizeof tls, server->listeners.tls_addresses),
              http_tls_name(server->http));
}

/* `*kept` are the sockets of a restart, if `*is_restart`. */
static int serve(const struct server_options *of_server, struct inherited *kept,
                 bool *is_restart)
{
    struct server *server = NULL;
    struct seqb_error err;

    if (server_open(of_server, &server, &err) != SEQB_OK)
        return fail(&err);
    log_ready(server);
    server_run(server);
    log_event(SEQB_LOG_INFO, "event=stopping");
    *is_restart = server_release(server, kept);
    /* What goes on in place must not end for a slow store. */
    if (!*is_restart)
        signals_end_within(server->stopped_ms + server->daemon.stop.timeout_ms +
                           CLOSE_MS - daemon_now_ms());
    server_close(server);
    signals_end_later();
    return EXIT_SUCCESS;
}

/* The alarms first, and to the end: what happens as stores are opened and
 * closed may be one. */
static int serve_watched(struct options *options, char **argv,
                         struct reloader *reloader)
{
    struct server_options of_server = options_of_server(options);
    struct inherited kept = {.count = 0};
    struct seqb_error err;
    bool is_restart = false;
    int code = 0;

    if (reloader_watch(reloader, &options->alarm, &err) != SEQB_OK)
        return fail(&err);
    of_server.argv = argv;
    of_server.reloader = reloader;
    code = serve(&of_server, &kept, &is_restart);
    reloader_end(reloader);
    return is_restart ? restart_run(argv, &kept) : code;
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
        return fail(&(struct seqb_error){.text = "cannot start a thread"});
    raise_open_files();
    forbid_cores();
    if (options_complete(options, &err) != SEQB_OK)
        return fail(&err);
    log_set_level(options->log.level);
    return serve_watched(options, argv, reloader);
}

int main(int argc, char **argv)
{
    /* The thread that answers has it until the process ends. */
    static struct signals_answers answers = {.hangup = reload};
    struct options options;
    int code = 0;

    keep_memory_small();
    signals_shield();
    code = options_parse(argc, argv, &options);
    if (code < 0 && options.is_check)
        code = check(&options);
    if (code < 0)
        code = run(&options, argv, &answers);
    options_free(&options);
    return code;
}
