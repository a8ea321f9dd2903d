/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listening sockets that this process was started with, as systemd passes them
 * (sd_listen_fds(3)): LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES. A restart passes
 * them to the next program by the same variables.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/status.h>

#define INHERITED_MAX 18 /* as many as the server listens on, HTTP included */

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
    /* No other process has it: the socket ends, and its file is removed, with
     * the daemon. */
    bool is_own;
};

struct inherited {
    struct inherited_socket sockets[INHERITED_MAX];
    size_t count;
};

/* Takes the sockets that the environment names, and takes the variables out of
 * it. SEQB_INVALID: one of them is no listening stream socket. */
enum seqb_status inherited_read(struct inherited *out, struct seqb_error *err);

/* Whether there are sockets of that kind. */
bool inherited_has(const struct inherited *inherited, enum inherited_kind kind);

/* Adds a socket. False: there are too many. */
bool inherited_add(struct inherited *inherited,
                   const struct inherited_socket *socket);

/* Makes these the sockets of the program that this process executes next, as
 * inherited_read reads them. All other descriptors from 3 on are lost: to be
 * called when nothing else is open any more. False with errno. */
bool inherited_pass(const struct inherited *inherited);
