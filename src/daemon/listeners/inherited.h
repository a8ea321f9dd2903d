/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listening sockets that this process was started with, in systemd's protocol
 * (sd_listen_fds(3)): LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES. A restart passes
 * them to the next program by the same variables, and lends them to the process
 * that checks before whether that program could start.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/status.h>

#define INHERITED_MAX        32 /* of Redis clients, and as many of HTTP */
#define INHERITED_FIRST_FD   3  /* SD_LISTEN_FDS_START */
#define INHERITED_NAMES_SIZE ((size_t)INHERITED_MAX * 16)

/* The variable by which a daemon lends its sockets to its child: the daemon's
 * pid, instead of LISTEN_PID, since the child's is not known before. */
#define INHERITED_LENDER "SEQBROKERD_LENT_BY"

enum inherited_kind {
    INHERITED_TCP,
    INHERITED_LOCAL,
    INHERITED_TLS,
    INHERITED_HTTP,
    INHERITED_HTTPS,
    INHERITED_KINDS /* their number */
};

struct inherited_socket {
    int fd;
    enum inherited_kind kind;
    /* A seqbrokerd opened the socket for an address of its settings. It stays
     * in use if it is still at such an address. Any other socket replaces the
     * settings of its kind. */
    bool is_ours;
    /* No other process holds the socket: it ends with the daemon, which also
     * removes its file. */
    bool is_own;
    bool is_taken; /* a listener has it */
};

struct inherited {
    struct inherited_socket sockets[INHERITED_MAX];
    size_t count;
};

/* Reads the sockets that the environment names, and removes the variables from
 * the environment. SEQB_INVALID if one of them is not a listening stream
 * socket, or if there are too many. */
enum seqb_status inherited_read(struct inherited *out, struct seqb_error *err);

/* Whether sockets of that kind replace the settings. */
bool inherited_replaces(const struct inherited *inherited,
                        enum inherited_kind kind);

/* Adds a socket. False if there are too many. */
bool inherited_add(struct inherited *inherited,
                   const struct inherited_socket *socket);

/* $LISTEN_FDNAMES of these sockets. `is_lent`: for a process that checks, while
 * this one still holds the sockets. */
void inherited_name(const struct inherited *inherited, bool is_lent,
                    char out[INHERITED_NAMES_SIZE]);

/* Makes these the inherited sockets of the program that this process executes
 * next. Other descriptors from 3 on may be overwritten: to be called when
 * nothing else is open any more. False with errno. */
bool inherited_pass(const struct inherited *inherited);
