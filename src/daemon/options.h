/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's configuration: its command line options, and the topology's
 * section `daemon`. An option overrides the setting of the same meaning.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/status.h>

#include "daemon/alarm/alarm.h"
#include "daemon/log/log.h"
#include "daemon/reasons.h"
#include "daemon/server.h"

#define OPTIONS_PATH_SIZE 4096

/* The addresses or paths of one kind of socket. */
struct options_places {
    char *at[SERVER_LISTENERS_MAX];
    size_t count;
    bool is_given;  /* set also if the list is empty ("none") */
    bool is_option; /* given on the command line */
};

struct options {
    const char *topology;       /* NULL: the embedded default */
    struct seqb_topology *read; /* NULL: not read, or handed over */
    int64_t read_ms;            /* when it was read, ms since 1970 */
    bool is_check;              /* only check the topology, and exit */
    struct log_options log;
    bool has_level; /* --log-level was given */
    struct options_places listen;
    struct options_places tls_listen;
    struct options_places sockets;
    struct options_places http;
    struct options_places https;
    struct tls_settings tls;
    char *socket_mode;  /* octal; NULL: not given */
    char *socket_group; /* NULL: not given */
    int64_t stop_delay_ms, stop_timeout_ms;
    struct limits_options limits;
    struct alarm_settings alarm;
    struct users *users;
    bool is_open_to_all, has_open_metrics;
    char *audit_file; /* NULL: none */
    char state_dir[OPTIONS_PATH_SIZE];
    char socket_path[OPTIONS_PATH_SIZE + 32]; /* the default path */
};

/* Parses the command line. Returns -1 if the program should continue, else its
 * exit code, after printing why. `out` must be passed to options_free in any
 * case. */
int options_parse(int argc, char **argv, struct options *out);

/* Reads the topology, and adds its settings and the defaults. SEQB_INVALID, and
 * the errors of reading a topology. Users, the audit file and settings of
 * alarms that cannot be used are all reported to `reasons` (NULL is allowed).
 */
enum seqb_status options_complete(struct options *options,
                                  const struct reasons *reasons,
                                  struct seqb_error *err);

/* The server's part of the options, which points into `options`. The parsed
 * topology is handed over. */
struct server_options options_of_server(struct options *options);

void options_free(struct options *options);
