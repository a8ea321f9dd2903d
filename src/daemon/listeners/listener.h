/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets: where clients come from, TCP or a unix socket. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <event2/event.h>

#include <seqbroker/status.h>

#include "daemon/listeners/inherited.h"

#define ADDRESS_SIZE 160

struct listener {
    int fd; /* -1: closed */
    struct event *event;
    char name[ADDRESS_SIZE]; /* "127.0.0.1:7379", or the socket's path */
    bool is_local;           /* a unix socket */
    bool is_tls;
    /* No other process has it. If it is local its file is removed at the end,
     * unless another one stands there by then. */
    bool is_own;
    dev_t device;
    ino_t inode;
};

/* Who may connect to a unix socket, beside its owner. */
struct listener_rights {
    mode_t mode; /* of its file; 0: 0660 */
    const char
        *group; /* of its file, a name or a number; NULL: the process's */
};

/*
 * Takes the address "ADDR:PORT" for this process; ADDR is an IPv4 address, an
 * IPv6 address in brackets, or a name; port 0 is any free one. Clients are
 * refused until listener_start. SEQB_INVALID with what is wrong and what to
 * do.
 */
enum seqb_status listener_open_tcp(struct listener *listener,
                                   const char *address, struct seqb_error *err);

/* Listens on a unix socket; one that a dead daemon left behind is replaced.
 * Clients wait until they are accepted: a second daemon finds that this one is
 * alive. SEQB_INVALID. */
enum seqb_status listener_open_local(struct listener *listener,
                                     const char *path,
                                     const struct listener_rights *rights,
                                     struct seqb_error *err);

/* Takes a socket that listens already, whose clients wait since then. */
void listener_adopt(struct listener *listener,
                    const struct inherited_socket *from);

/* From now on clients can connect. SEQB_INVALID: another process took the
 * address at the same time. */
enum seqb_status listener_start(struct listener *listener,
                                struct seqb_error *err);

/* Whether "ADDR:PORT" has that form. */
bool listener_is_address(const char *address);

/* Which kind of socket it is, of those for Redis clients. */
enum inherited_kind listener_kind(const struct listener *listener);

/* SEQB_INVALID, with what to do, if others than this machine may reach it:
 * nobody says who may take numbers. */
enum seqb_status listener_check_guard(const struct listener *listener,
                                      struct seqb_error *err);

/* Port in use; 0 if it is no TCP listener. */
int listener_port(const struct listener *listener);

/* Accepts one connection, nonblocking; -1 with errno if there is none. */
int listener_accept(const struct listener *listener);

/* Gives the socket away as it is: it is closed by whoever takes it over. */
struct inherited_socket listener_release(struct listener *listener);

/* Closes it and removes its socket file, if it is its own. Takes a closed
 * one. */
void listener_close(struct listener *listener);

/* The address of a socket, as people and Redis write it: "127.0.0.1:7379",
 * "[::1]:7379", or "/run/seqbrokerd.sock:0" of a unix socket, of which one
 * without a name is
 * ":0". */
void address_print(const struct sockaddr_storage *address, socklen_t length,
                   char out[ADDRESS_SIZE]);
