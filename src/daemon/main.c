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

#define PATH_SIZE      4096
#define DEFAULT_LISTEN "127.0.0.1:7379"
#define SOCKET_NAME    "seqbrokerd.sock"

enum { EXIT_USAGE = 2 };

static const char help[] =
    "Examples:\n"
    "  seqbrokerd                           numbers from SQLite files, no "
    "setup\n"
    "  seqbrokerd -c /etc/seqbroker.conf    numbers from your backends\n"
    "  redis-cli -p 7379 INCR order         takes one\n"
    "\n"
    "Usage: seqbrokerd [OPTION ...]\n"
    "Serves unique numbers to Redis clients, in the foreground.\n"
    "\n"
    "  -c, --config FILE       topology; without one four SQLite partitions\n"
    "                          under the state directory\n"
    "      --state-dir DIR     instead of the topology's, and of\n"
    "                          ~/.local/state/seqbroker\n"
    "      --listen ADDR:PORT  TCP address (" DEFAULT_LISTEN "); port 0 is "
    "any\n"
    "                          free one, \"none\" switches TCP off\n"
    "      --socket PATH       unix socket (STATE-DIR/" SOCKET_NAME ");\n"
    "                          \"none\" switches it off\n"
    "      --version           prints the version\n"
    "      --help              prints this text\n"
    "\n"
    "SIGTERM, SIGINT and seqctl drain --broker stop it cleanly; a second\n"
    "SIGTERM or SIGINT ends it at once. SIGHUP changes nothing but a line in\n"
    "the log: the topology is read at the start only, a restart applies\n"
    "changes. SIGUSR1, SIGUSR2, SIGALRM and SIGPIPE are ignored.\n"
    "Exit codes: 0 stopped cleanly, 1 error or ended by a second signal,\n"
    "2 wrong usage.\n";

/* What the command line says; the strings are argv's or the literals above. */
struct arguments {
    const char *topology;
    const char *state_dir;
    const char *listen;
    const char *socket_path; /* NULL: the default */
};

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
static int arguments_parse(int argc, char **argv, struct arguments *out)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"state-dir", required_argument, NULL, 'd'},
        {"listen", required_argument, NULL, 'l'},
        {"socket", required_argument, NULL, 's'},
        {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option = 0;

    *out = (struct arguments){.listen = DEFAULT_LISTEN};
    opterr = 0; /* usage_error says it */
    while ((option = getopt_long(argc, argv, "c:", options, NULL)) != -1) {
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
            fputs(help, stdout);
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
static int arguments_check(struct arguments *arguments)
{
    bool has_tcp = !is_none(arguments->listen);
    bool has_socket =
        arguments->socket_path == NULL || !is_none(arguments->socket_path);

    if (has_tcp && !listener_is_address(arguments->listen))
        return usage_error("--listen wants ADDR:PORT or none, not ",
                           arguments->listen);
    if (!has_tcp && !has_socket)
        return usage_error("--listen none and --socket none leave nothing to "
                           "listen on",
                           "");
    if (arguments->state_dir != NULL && arguments->state_dir[0] == '\0')
        return usage_error("--state-dir is empty", "");
    if (arguments->socket_path != NULL && arguments->socket_path[0] == '\0')
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
    struct arguments arguments;
    struct seqb_error err;
    char state_dir[PATH_SIZE];
    char socket_path[PATH_SIZE + sizeof SOCKET_NAME + 1];
    int code = 0;

    signals_shield();
    code = arguments_parse(argc, argv, &arguments);
    if (code < 0)
        code = arguments_check(&arguments);
    if (code >= 0)
        return code;
    if (!signals_answer(&answers))
        return fail(&(struct seqb_error){.text = "cannot start a thread"});
    raise_open_files();
    seqb_set_logger(log_to_stderr, NULL);
    if (arguments.state_dir != NULL &&
        !state_dir_export(arguments.state_dir, &err))
        return fail(&err);
    if (seqb_state_dir(arguments.topology, state_dir, sizeof state_dir, &err) !=
        SEQB_OK)
        return fail(&err);
    snprintf(socket_path, sizeof socket_path, "%s/" SOCKET_NAME, state_dir);
    if (arguments.socket_path == NULL)
        arguments.socket_path = socket_path;
    return serve(&(struct server_options){
        .topology = arguments.topology,
        .state_dir = state_dir,
        .listen = is_none(arguments.listen) ? NULL : arguments.listen,
        .socket_path =
            is_none(arguments.socket_path) ? NULL : arguments.socket_path});
}
