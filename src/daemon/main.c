/* SPDX-License-Identifier: Apache-2.0 */
/* seqbrokerd: options, logging and the process's own settings. The rest is
 * the server's. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "daemon/server.h"
#include "daemon/signals.h"
#include "seqbrokerd_txt.h"

#define PATH_SIZE      4096
#define DEFAULT_LISTEN "127.0.0.1:7379"
#define SOCKET_NAME    "seqbrokerd.sock"

enum { EXIT_USAGE = 2 };

static void log_to_stderr(void *context, enum seqb_log_level level,
                          const char *line)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    struct timespec now;
    struct tm utc;
    char date[32];

    (void)context;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(stderr, "%s.%03ldZ %s %s\n", date, now.tv_nsec / 1000000,
            names[level], line);
}

static void refuse_reload(void)
{
    log_to_stderr(NULL, SEQB_LOG_WARN,
                  "event=reload_refused signal=HUP reason=\"the topology is "
                  "read at the start only: restart seqbrokerd to apply "
                  "changes\"");
}

static const struct signals_answers answers = {.hangup = refuse_reload};

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "seqbrokerd: %s%s; see seqbrokerd --help\n", what, value);
    return EXIT_USAGE;
}

static int fail(const struct seqb_error *err)
{
    fprintf(stderr, "seqbrokerd: %s\n", err->text);
    return EXIT_FAILURE;
}

/* Returns -1 if the program shall go on, else its exit code. */
static int options_parse(int argc, char **argv, struct server_options *out)
{
    static const struct option known[] = {
        {"config", required_argument, NULL, 'c'},
        {"state-dir", required_argument, NULL, 'd'},
        {"listen", required_argument, NULL, 'l'},
        {"socket", required_argument, NULL, 's'},
        {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option = 0;

    *out = (struct server_options){.listen = DEFAULT_LISTEN};
    opterr = 0; /* usage_error says it */
    while ((option = getopt_long(argc, argv, "c:", known, NULL)) != -1) {
        switch (option) {
        case 'c':
            out->topology = optarg;
            break;
        case 'd':
            out->state_dir = optarg;
            break;
        case 'l':
            out->listen = optarg;
            break;
        case 's':
            out->socket_path = optarg;
            break;
        case 'v':
            puts("seqbrokerd " SEQB_VERSION);
            return EXIT_SUCCESS;
        case 'h':
            fputs(seqbrokerd_txt, stdout);
            return EXIT_SUCCESS;
        default:
            return usage_error("unknown or incomplete option ",
                               argv[optind - 1]);
        }
    }
    if (optind < argc)
        return usage_error("unexpected argument ", argv[optind]);
    return -1;
}

static bool is_none(const char *text)
{
    return strcmp(text, "none") == 0;
}

/* Returns -1 if all is well, else the exit code. */
static int options_check(const struct server_options *options)
{
    bool has_tcp = !is_none(options->listen);
    bool has_socket =
        options->socket_path == NULL || !is_none(options->socket_path);

    if (has_tcp && !listener_is_address(options->listen))
        return usage_error("--listen wants ADDR:PORT or none, not ",
                           options->listen);
    if (!has_tcp && !has_socket)
        return usage_error("--listen none and --socket none leave nothing to "
                           "listen on",
                           "");
    if (options->state_dir != NULL && options->state_dir[0] == '\0')
        return usage_error("--state-dir is empty", "");
    if (options->socket_path != NULL && options->socket_path[0] == '\0')
        return usage_error("--socket is empty", "");
    return -1;
}

/* The library reads it from the environment, as an absolute path. */
static bool state_dir_export(const char *state_dir, struct seqb_error *err)
{
    char folder[PATH_SIZE / 2] = "";
    char path[PATH_SIZE];
    int length = 0;

    if (state_dir[0] != '/' && getcwd(folder, sizeof folder) != NULL)
        length = snprintf(path, sizeof path, "%s/%s", folder, state_dir);
    else
        length = snprintf(path, sizeof path, "%s", state_dir);
    if ((size_t)length < sizeof path &&
        setenv("SEQBROKER_STATE_DIR", path, 1) == 0)
        return true;
    err->status = SEQB_STATE_DIR;
    snprintf(err->text, sizeof err->text, "state directory %s: too long",
             state_dir);
    return false;
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

static int serve(const struct server_options *options)
{
    struct server *server = NULL;
    struct seqb_error err;

    if (server_open(options, &server, &err) != SEQB_OK)
        return fail(&err);
    fprintf(stderr, "ready name=%s listen=%s socket=%s pid=%ld\n",
            seqb_broker_name(server->daemon.broker),
            options->listen == NULL ? "none" : server->tcp.name,
            options->socket_path == NULL ? "none" : options->socket_path,
            (long)getpid());
    server_run(server);
    log_to_stderr(NULL, SEQB_LOG_INFO, "stopping");
    server_close(server);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct server_options options;
    struct seqb_error err;
    char state_dir[PATH_SIZE];
    char socket_path[PATH_SIZE + sizeof SOCKET_NAME + 1];
    int code = 0;

    signals_shield();
    code = options_parse(argc, argv, &options);
    if (code < 0)
        code = options_check(&options);
    if (code >= 0)
        return code;
    if (!signals_answer(&answers))
        return fail(&(struct seqb_error){.text = "cannot start a thread"});
    raise_open_files();
    seqb_set_logger(log_to_stderr, NULL);
    if (options.state_dir != NULL && !state_dir_export(options.state_dir, &err))
        return fail(&err);
    if (seqb_state_dir(options.topology, state_dir, sizeof state_dir, &err) !=
        SEQB_OK)
        return fail(&err);
    options.state_dir = state_dir;
    snprintf(socket_path, sizeof socket_path, "%s/" SOCKET_NAME, state_dir);
    if (options.socket_path == NULL)
        options.socket_path = socket_path;
    if (is_none(options.socket_path))
        options.socket_path = NULL;
    if (is_none(options.listen))
        options.listen = NULL;
    return serve(&options);
}
