/* SPDX-License-Identifier: Apache-2.0 */
/* The command line and the topology's section `daemon`; see options.h. */
#include "daemon/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "guess/guess.h"
#include "seqbrokerd_txt.h"
#include "setting/setting.h"

#define DEFAULT_LISTEN "127.0.0.1:7379"
#define SOCKET_NAME    "seqbrokerd.sock"
#define NONE           "none"

enum { EXIT_USAGE = 2 };

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "seqbrokerd: %s%s; see seqbrokerd --help\n", what, value);
    return EXIT_USAGE;
}

/* --- places --- */

static void places_clear(struct options_places *places)
{
    while (places->count > 0)
        free(places->at[--places->count]);
}

/* False if there are too many, or if memory is short. */
static bool places_add(struct options_places *places, const char *at)
{
    places->is_given = true;
    if (places->count == SERVER_LISTENERS_MAX)
        return false;
    places->at[places->count] = strdup(at);
    return places->at[places->count++] != NULL;
}

static size_t places_count(const struct options *options)
{
    return options->listen.count + options->tls_listen.count +
           options->sockets.count;
}

/* "none" removes what was given before. */
static int places_option(struct options_places *places, const char *name,
                         const char *at)
{
    places->is_option = true;
    if (strcmp(at, NONE) == 0) {
        places_clear(places);
        places->is_given = true;
        return -1;
    }
    if (*at == '\0')
        return usage_error(name, " is empty");
    if (places->count == SERVER_LISTENERS_MAX)
        return usage_error(name, " is given too often");
    return places_add(places, at) ? -1 : usage_error("out of memory", "");
}

/* --- the command line --- */

/* Exports the state directory: the library reads it from the environment, as an
 * absolute path. */
static int state_dir_export(const char *state_dir)
{
    char folder[OPTIONS_PATH_SIZE / 2] = "";
    char path[OPTIONS_PATH_SIZE];
    int length = 0;

    if (*state_dir == '\0')
        return usage_error("--state-dir is empty", "");
    if (state_dir[0] != '/' && getcwd(folder, sizeof folder) != NULL)
        length = snprintf(path, sizeof path, "%s/%s", folder, state_dir);
    else
        length = snprintf(path, sizeof path, "%s", state_dir);
    if ((size_t)length < sizeof path &&
        setenv("SEQBROKER_STATE_DIR", path, 1) == 0)
        return -1;
    return usage_error("the state directory's name is too long: ", state_dir);
}

static int address_option(struct options_places *places, const char *name,
                          const char *address)
{
    char wants[64];

    snprintf(wants, sizeof wants, "%s wants ADDR:PORT or none, not ", name);
    if (strcmp(address, NONE) != 0 && !listener_is_address(address))
        return usage_error(wants, address);
    return places_option(places, name, address);
}

static int option_take(struct options *options, int option)
{
    switch (option) {
    case 'c':
        options->topology = optarg;
        return -1;
    case 'd':
        return state_dir_export(optarg);
    case 'l':
        return address_option(&options->listen, "--listen", optarg);
    case 's':
        return places_option(&options->sockets, "--socket", optarg);
    case 'f':
        return log_format_find(optarg, &options->log.format)
                   ? -1
                   : usage_error("--log-format is logfmt or json, not ",
                                 optarg);
    case 'L':
        options->has_level = true;
        return log_level_find(optarg, &options->log.level)
                   ? -1
                   : usage_error("--log-level is error, warn, info or debug, "
                                 "not ",
                                 optarg);
    case 'w':
        return address_option(&options->http, "--http", optarg);
    case 'W':
        return address_option(&options->https, "--https", optarg);
    case 't':
        return address_option(&options->tls_listen, "--tls-listen", optarg);
    case 'k':
        options->is_check = true;
        return -1;
    case 'v':
        puts("seqbrokerd " SEQB_VERSION);
        return EXIT_SUCCESS;
    default:
        fputs(seqbrokerd_txt, stdout);
        return EXIT_SUCCESS;
    }
}

static const struct option known[] = {
    {"config", required_argument, NULL, 'c'},
    {"state-dir", required_argument, NULL, 'd'},
    {"listen", required_argument, NULL, 'l'},
    {"socket", required_argument, NULL, 's'},
    {"http", required_argument, NULL, 'w'},
    {"https", required_argument, NULL, 'W'},
    {"tls-listen", required_argument, NULL, 't'},
    {"log-format", required_argument, NULL, 'f'},
    {"log-level", required_argument, NULL, 'L'},
    {"check", no_argument, NULL, 'k'},
    {"version", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Reports an unknown option. `word` is as given, with its dashes, and perhaps
 * with '=' and a value. */
static int option_unknown(const char *word)
{
    struct guess guess = {.word = ""};
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    guess.word = name + strspn(name, "-");
    for (size_t i = 0; known[i].name != NULL; i++)
        guess_weigh(&guess, known[i].name);
    if (guess.best == NULL)
        return usage_error("unknown option ", name);
    fprintf(stderr,
            "seqbrokerd: unknown option %s, did you mean --%s? see seqbrokerd "
            "--help\n",
            name, guess.best);
    return EXIT_USAGE;
}

int options_parse(int argc, char **argv, struct options *out)
{
    int option = 0;

    *out = (struct options){.log = {LOG_LOGFMT, SEQB_LOG_INFO},
                            .stop_timeout_ms = STOP_TIMEOUT_MS,
                            .limits = limits_defaults};
    alarm_settings_init(&out->alarm);
    out->users = users_new();
    if (out->users == NULL)
        return usage_error("out of memory", "");
    opterr = 0; /* usage_error prints the error */
    while ((option = getopt_long(argc, argv, ":c:", known, NULL)) != -1) {
        const char *word = argv[optind - 1];
        const int code = option == '?' ? option_unknown(word)
                         : option == ':'
                             ? usage_error("a value is missing: ", word)
                             : option_take(out, option);

        if (code >= 0)
            return code;
    }
    if (optind < argc)
        return usage_error("unexpected argument ", argv[optind]);
    if (out->listen.is_given && out->sockets.is_given &&
        places_count(out) == 0 &&
        (out->tls_listen.is_given || out->topology == NULL))
        return usage_error("--listen none and --socket none leave nothing to "
                           "listen on",
                           "");
    return -1;
}

/* --- the topology --- */

/* The state of reading the topology's settings. */
struct reading {
    struct options *options;
    /* True if no option of the command line overrides the setting. */
    bool takes_listen, takes_tls_listen, takes_sockets, takes_http, takes_https;
    bool is_complete; /* memory was never short, and nothing was dropped */
};

static bool places_set(struct options_places *places, bool takes,
                       const char *value)
{
    if (!takes)
        return true;
    places->is_given = true;
    return *value == '\0' || places_add(places, value);
}

/* False if the setting is not one of the numbers. */
static bool number_set(struct options *options, const char *setting,
                       const char *value)
{
    if (strcmp(setting, "stop_delay") == 0)
        options->stop_delay_ms = strtoll(value, NULL, 10);
    else if (strcmp(setting, "stop_timeout") == 0)
        options->stop_timeout_ms = strtoll(value, NULL, 10);
    else
        return limits_take(&options->limits, setting, value);
    return true;
}

static void setting_take(void *context, const char *setting, const char *value)
{
    struct reading *reading = context;
    struct options *options = reading->options;
    bool is_well = true;

    if (strcmp(setting, "state_dir") == 0)
        is_well =
            (size_t)snprintf(options->state_dir, sizeof options->state_dir,
                             "%s", value) < sizeof options->state_dir;
    else if (strcmp(setting, "listen") == 0)
        is_well = places_set(&options->listen, reading->takes_listen, value);
    else if (strcmp(setting, "tls_listen") == 0)
        is_well =
            places_set(&options->tls_listen, reading->takes_tls_listen, value);
    else if (strcmp(setting, "socket") == 0)
        is_well = places_set(&options->sockets, reading->takes_sockets, value);
    else if (strcmp(setting, "http") == 0)
        is_well = places_set(&options->http, reading->takes_http, value);
    else if (strcmp(setting, "https") == 0)
        is_well = places_set(&options->https, reading->takes_https, value);
    else if (strcmp(setting, "socket_mode") == 0)
        is_well = setting_keep(&options->socket_mode, value);
    else if (strcmp(setting, "socket_group") == 0)
        is_well = setting_keep(&options->socket_group, value);
    else if (strcmp(setting, "log_level") == 0)
        is_well =
            options->has_level || log_level_find(value, &options->log.level);
    else if (strcmp(setting, "open_to_all") == 0)
        options->is_open_to_all = strcmp(value, "true") == 0;
    else if (strcmp(setting, "open_metrics") == 0)
        options->has_open_metrics = strcmp(value, "true") == 0;
    else if (strcmp(setting, "audit_file") == 0)
        is_well = setting_keep(&options->audit_file, value);
    else if (strchr(setting, '.') != NULL) /* "users.*" and "key_limits.*" */
        is_well = users_take(options->users, setting, value);
    else if (!number_set(options, setting, value))
        is_well = alarm_settings_take(&options->alarm, setting, value) &&
                  tls_settings_take(&options->tls, setting, value);
    reading->is_complete = reading->is_complete && is_well;
}

static enum seqb_status refuse(struct seqb_error *err, const char *why)
{
    snprintf(err->text, sizeof err->text, "%s", why);
    err->status = SEQB_INVALID;
    return err->status;
}

/* All of them, so that the report names each. */
static enum seqb_status settings_check(const struct options *options,
                                       const struct reasons *reasons,
                                       struct seqb_error *err)
{
    enum seqb_status status = users_check(options->users, reasons, err);
    struct seqb_error why;

    if (audit_check(options->audit_file, &why) != SEQB_OK)
        status = reasons_add(reasons, status, &why, err);
    if (alarm_settings_check(&options->alarm, reasons, &why) == SEQB_OK ||
        status != SEQB_OK)
        return status;
    *err = why;
    return err->status;
}

enum seqb_status options_complete(struct options *options,
                                  const struct reasons *reasons,
                                  struct seqb_error *err)
{
    struct reading reading = {options,
                              !options->listen.is_given,
                              !options->tls_listen.is_given,
                              !options->sockets.is_given,
                              !options->http.is_given,
                              !options->https.is_given,
                              true};

    options->read_ms = daemon_wall_ms();
    if (seqb_read_topology(options->topology, &options->read, err) != SEQB_OK)
        return err->status;
    seqb_topology_daemon(options->read, setting_take, &reading);
    if (!reading.is_complete || (!options->listen.is_given &&
                                 !places_add(&options->listen, DEFAULT_LISTEN)))
        return refuse(err, "section daemon: at most 16 addresses of a kind, "
                           "and a state directory of at most 4095 bytes");
    snprintf(options->socket_path, sizeof options->socket_path,
             "%s/" SOCKET_NAME, options->state_dir);
    if (!options->sockets.is_given &&
        !places_add(&options->sockets, options->socket_path))
        return refuse(err, "out of memory");
    if (places_count(options) == 0)
        return refuse(err, "the topology's section daemon leaves nothing to "
                           "listen on; see seqbrokerd --help");
    if (places_count(options) > SERVER_LISTENERS_MAX)
        return refuse(err, "there are more than 16 addresses and sockets to "
                           "listen on");
    if (options->http.count + options->https.count > HTTP_PORTS_MAX)
        return refuse(err, "there are more than 16 addresses for HTTP");
    return settings_check(options, reasons, err);
}

static struct daemon_place place_make(const struct options_places *places,
                                      const char *path, const char *option,
                                      const char *fallback)
{
    return (struct daemon_place){
        .path = path,
        .fallback = fallback,
        .decider = places->is_option ? option : NULL,
    };
}

static void places_make(const struct options *options,
                        struct daemon_place out[INHERITED_KINDS])
{
    out[INHERITED_TCP] = place_make(&options->listen, "daemon.listen",
                                    "--listen", DEFAULT_LISTEN);
    out[INHERITED_LOCAL] = place_make(&options->sockets, "daemon.socket",
                                      "--socket", options->socket_path);
    out[INHERITED_TLS] = place_make(&options->tls_listen, "daemon.tls_listen",
                                    "--tls-listen", NULL);
    out[INHERITED_HTTP] =
        place_make(&options->http, "daemon.http", "--http", NULL);
    out[INHERITED_HTTPS] =
        place_make(&options->https, "daemon.https", "--https", NULL);
}

struct server_options options_of_server(struct options *options)
{
    struct server_options server = {
        .topology = options->topology,
        .read = options->read,
        .read_ms = options->read_ms,
        .places = {.listen_count = options->listen.count,
                   .tls_listen_count = options->tls_listen.count,
                   .socket_count = options->sockets.count,
                   .rights = {.group = options->socket_group},
                   .state_dir = options->state_dir},
        .users = options->users,
        .is_open_to_all = options->is_open_to_all,
        .has_open_metrics = options->has_open_metrics,
        .audit_file = options->audit_file,
        .stop_delay_ms = options->stop_delay_ms,
        .stop_timeout_ms = options->stop_timeout_ms,
        .limits = options->limits,
        .tls = options->tls,
        .http = (const char *const *)options->http.at,
        .http_count = options->http.count,
        .https = (const char *const *)options->https.at,
        .https_count = options->https.count,
    };

    places_make(options, server.place_settings);
    if (options->socket_mode != NULL)
        server.places.rights.mode =
            (mode_t)strtoul(options->socket_mode, NULL, 8);
    memcpy(server.places.listen, options->listen.at,
           sizeof server.places.listen);
    memcpy(server.places.tls_listen, options->tls_listen.at,
           sizeof server.places.tls_listen);
    memcpy(server.places.sockets, options->sockets.at,
           sizeof server.places.sockets);
    options->read = NULL;
    return server;
}

void options_free(struct options *options)
{
    places_clear(&options->listen);
    places_clear(&options->tls_listen);
    places_clear(&options->sockets);
    places_clear(&options->http);
    places_clear(&options->https);
    tls_settings_free(&options->tls);
    free(options->socket_mode);
    free(options->socket_group);
    alarm_settings_free(&options->alarm);
    users_free(options->users);
    free(options->audit_file);
    seqb_topology_free(options->read);
}
