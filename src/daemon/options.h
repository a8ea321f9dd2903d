/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon runs with: its options, and what the topology says in its
 * section `daemon`, which an option of the same meaning goes before.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/status.h>

#include "daemon/alarm/alarm.h"
#include "daemon/log/log.h"
#include "daemon/server.h"

#define OPTIONS_PATH_SIZE 4096

/* One kind of place to listen at. */
struct options_places {
    char *at[SERVER_LISTENERS_MAX];
    size_t count;
    bool is_given; /* also if there are none */
};

struct options {
    const char *topology;       /* NULL: the embedded default */
    struct seqb_topology *read; /* what it says; NULL: not read, or given on */
    int64_t read_ms;            /* when, ms since 1970 */
    bool is_check;              /* look at the topology only, and end */
    struct log_options log;
    bool has_level; /* --log-level was given */
    struct options_places listen;
    struct options_places tls_listen;
    struct options_places sockets;
    char *http;  /* "ADDR:PORT" or "none"; NULL: not given */
    char *https; /* the same */
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
    char socket_path[OPTIONS_PATH_SIZE + 32]; /* where none is given */
};

/* Reads the command line. Returns -1 if the program shall go on, else its exit
 * code, having said why. `out` is for options_free in any case. */
int options_parse(int argc, char **argv, struct options *out);

/* Reads the topology; adds what it says, and the defaults. SEQB_INVALID, and
 * what the topology's errors are. */
enum seqb_status options_complete(struct options *options,
                                  struct seqb_error *err);

/* The server's part of it, which points into `options`. What was read of the
 * topology is given on. */
struct server_options options_of_server(struct options *options);

void options_free(struct options *options);
