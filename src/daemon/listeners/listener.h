/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets, of TCP or of a unix socket. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <event2/event.h>

#include <seqbroker/status.h>

#include "daemon/listeners/inherited.h"

#define ADDRESS_SIZE 160

/* Clients that may wait at a socket to be accepted. */
#define LISTENER_BACKLOG 511

struct addrinfo;

struct listener {
    int fd; /* -1: closed */
    struct event *event;
    char name[ADDRESS_SIZE]; /* "127.0.0.1:7379", or the socket's path */
    bool is_local;           /* a unix socket */
    bool is_tls;
    /* No other process holds the socket. If it is local, its file is removed at
     * the close, unless the path has another file by then. */
    bool is_own;
    dev_t device;
    ino_t inode;
};

/* Who may connect to a unix socket, besides its owner. */
struct listener_rights {
    mode_t mode; /* of its file; 0: 0660 */
    const char
        *group; /* of its file, a name or a number; NULL: the process's */
};

/*
 * Binds the address "ADDR:PORT". ADDR is an IPv4 address, an IPv6 address in
 * brackets, or a name; port 0 means any free port. Clients are refused until
 * listener_start, and no other program can bind the address. SEQB_INVALID with
 * what is wrong and what to do; then errno is why it cannot be bound, or 0.
 */
enum seqb_status listener_open_tcp(struct listener *listener,
                                   const char *address, struct seqb_error *err);

/* Listens on a unix socket, and replaces a socket that a dead daemon left
 * behind. Clients that connect wait until they are accepted; a second daemon
 * thus notices that this one is alive. SEQB_INVALID. */
enum seqb_status listener_open_local(struct listener *listener,
                                     const char *path,
                                     const struct listener_rights *rights,
                                     struct seqb_error *err);

/* Whether a unix socket can have this path and these rights, as far as that is
 * known without opening it. SEQB_INVALID. */
enum seqb_status listener_check_local(const char *path,
                                      const struct listener_rights *rights,
                                      struct seqb_error *err);

/* Whether a file that is at the path of a unix socket is a socket, which may be
 * that of a dead daemon. SEQB_INVALID. */
enum seqb_status listener_check_file(const char *path, bool *is_there,
                                     struct seqb_error *err);

/* Takes over an inherited socket, which listens already: clients may be
 * waiting. */
void listener_adopt(struct listener *listener, struct inherited_socket *from);

/* Gives a unix socket of our own these rights, which may have changed since it
 * was opened. SEQB_INVALID. */
enum seqb_status listener_set_rights(const struct listener *listener,
                                     const struct listener_rights *rights,
                                     struct seqb_error *err);

/* Starts to listen: clients can connect. SEQB_INVALID if another process took
 * the address at the same time. */
enum seqb_status listener_start(struct listener *listener,
                                struct seqb_error *err);

/* Whether "ADDR:PORT" has that form. */
bool listener_is_address(const char *address);

/* The addresses that "ADDR:PORT" stands for, to be freed by freeaddrinfo.
 * `flags`: more of getaddrinfo's, such as AI_NUMERICHOST. SEQB_INVALID. */
enum seqb_status address_find(const char *address, int flags,
                              struct addrinfo **out, struct seqb_error *err);

bool address_is_loopback(const struct sockaddr_storage *address);

/* SEQB_INVALID, with what to do: see listener_check_guard. */
enum seqb_status address_lacks_guard(const char *address,
                                     struct seqb_error *err);

/* The kind of the socket, one of those for Redis clients. */
enum inherited_kind listener_kind(const struct listener *listener);

/* The listening socket, for another process. It stays the listener's. */
struct inherited_socket listener_socket(const struct listener *listener);

/* SEQB_INVALID, with what to do, if other hosts can reach the socket. To be
 * called when the operator has not decided who may take numbers. */
enum seqb_status listener_check_guard(const struct listener *listener,
                                      struct seqb_error *err);

/* The port in use; 0 if this is not a TCP listener. */
int listener_port(const struct listener *listener);

/* Accepts one connection, nonblocking; -1 with errno if there is none. */
int listener_accept(const struct listener *listener);

/* Hands over the listening socket, which the caller closes. The listener is
 * closed without it. */
struct inherited_socket listener_release(struct listener *listener);

/* Closes the listener, and removes its socket file if is_own. A closed listener
 * is allowed. */
void listener_close(struct listener *listener);

/* The address of a socket, as people and Redis write it: "127.0.0.1:7379",
 * "[::1]:7379", or "/run/seqbrokerd.sock:0" for a unix socket, which is ":0"
 * without a name. */
void address_print(const struct sockaddr_storage *address, socklen_t length,
                   char out[ADDRESS_SIZE]);
