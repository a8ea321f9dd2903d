/* SPDX-License-Identifier: Apache-2.0 */
/* Inherited sockets are found by their addresses, since the settings may write
 * one address in several ways; see places.h. */
#include "daemon/listeners/places.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The port of an address of IPv4 or IPv6. */
static in_port_t *port_of(struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET
               ? &((struct sockaddr_in *)address)->sin_port
               : &((struct sockaddr_in6 *)address)->sin6_port;
}

static bool is_same_host(const struct sockaddr_storage *a,
                         const struct sockaddr_storage *b)
{
    const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;
    const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)b;

    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof a6->sin6_addr) == 0 &&
           a6->sin6_scope_id == b6->sin6_scope_id;
}

/* Whether the socket is at that address. With port 0 any port is right. */
static bool is_at(struct sockaddr_storage *socket, const struct addrinfo *info)
{
    struct sockaddr_storage address = {0};

    memcpy(&address, info->ai_addr, info->ai_addrlen);
    return is_same_host(socket, &address) &&
           (*port_of(&address) == 0 || *port_of(&address) == *port_of(socket));
}

static bool socket_is_at_address(int fd, const char *place)
{
    struct sockaddr_storage socket = {0};
    socklen_t length = sizeof socket;
    struct addrinfo *found = NULL;
    struct seqb_error err; /* the opening of the place reports it */
    bool is_there = false;

    if (getsockname(fd, (struct sockaddr *)&socket, &length) != 0 ||
        address_find(place, &found, &err) != SEQB_OK)
        return false;
    for (const struct addrinfo *at = found; at != NULL && !is_there;
         at = at->ai_next)
        is_there = is_at(&socket, at);
    freeaddrinfo(found);
    return is_there;
}

static bool socket_is_at(const struct inherited_socket *socket,
                         const char *place)
{
    struct sockaddr_un local = {0};
    socklen_t length = sizeof local;

    if (socket->kind != INHERITED_LOCAL)
        return socket_is_at_address(socket->fd, place);
    /* Without its file nobody can connect: it is opened again. */
    return getsockname(socket->fd, (struct sockaddr *)&local, &length) == 0 &&
           strncmp(local.sun_path, place, sizeof local.sun_path) == 0 &&
           access(place, F_OK) == 0;
}

static struct inherited_socket *socket_find(struct inherited *inherited,
                                            enum inherited_kind kind,
                                            const char *place)
{
    for (size_t i = 0; i < inherited->count; i++) {
        struct inherited_socket *socket = &inherited->sockets[i];

        if (socket->kind == kind && socket->is_ours && !socket->is_taken &&
            socket_is_at(socket, place))
            return socket;
    }
    return NULL;
}

static bool wants_any_port(const char *place)
{
    const char *colon = strrchr(place, ':');

    return colon != NULL && strcmp(colon, ":0") == 0;
}

/* Places that want any port come last: they must not take the port of
 * another. */
void places_match(const struct listener_places *places,
                  struct inherited *inherited,
                  struct inherited_socket *found[PLACES_MAX])
{
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < places->count; i++) {
            if (wants_any_port(places->at[i]) != (turn == 1))
                continue;
            found[i] = socket_find(inherited, places->kind, places->at[i]);
            if (found[i] != NULL)
                found[i]->is_taken = true;
        }
    }
}

/* The next free listener; NULL, with the reason, if there is no room. */
static struct listener *listener_add(const struct listener_places *places,
                                     struct listener *out, size_t *count,
                                     struct seqb_error *err)
{
    struct listener *listener = &out[*count];

    if (*count == places->room) {
        snprintf(err->text, sizeof err->text,
                 "there are too many sockets to listen on, those of "
                 "$LISTEN_FDS included");
        err->status = SEQB_INVALID;
        return NULL;
    }
    (*count)++;
    *listener =
        (struct listener){.fd = -1, .is_tls = places->kind == INHERITED_TLS};
    return listener;
}

enum seqb_status places_adopt(const struct listener_places *places,
                              struct inherited *inherited, struct listener *out,
                              size_t *count, struct seqb_error *err)
{
    for (size_t i = 0; i < inherited->count; i++) {
        struct inherited_socket *socket = &inherited->sockets[i];
        struct listener *listener;

        if (socket->kind != places->kind || socket->is_ours)
            continue;
        listener = listener_add(places, out, count, err);
        if (listener == NULL)
            return err->status;
        listener_adopt(listener, socket);
    }
    return SEQB_OK;
}

/* Whether one of our inherited sockets has the port of that address. */
static bool port_is_ours(const struct inherited *inherited, const char *place)
{
    const char *port = strrchr(place, ':');

    for (size_t i = 0; port != NULL && i < inherited->count; i++) {
        const struct listener listener = {.fd = inherited->sockets[i].fd};

        if (inherited->sockets[i].is_ours &&
            inherited->sockets[i].kind != INHERITED_LOCAL &&
            listener_port(&listener) == strtol(port + 1, NULL, 10))
            return true;
    }
    return false;
}

static enum seqb_status place_open(struct listener *listener, const char *place,
                                   const struct inherited *inherited,
                                   struct seqb_error *err)
{
    if (listener_open_tcp(listener, place, err) == SEQB_OK)
        return SEQB_OK;
    if (errno == EADDRINUSE && port_is_ours(inherited, place))
        snprintf(err->text, sizeof err->text,
                 "cannot listen on %s while this daemon has that port at "
                 "another address or for another protocol: stop it, then start "
                 "it",
                 place);
    return err->status;
}

enum seqb_status places_take(const struct listener_places *places,
                             struct inherited *inherited, struct listener *out,
                             size_t *count, struct seqb_error *err)
{
    struct inherited_socket *found[PLACES_MAX] = {NULL};

    *count = 0;
    if (inherited_replaces(inherited, places->kind))
        return places_adopt(places, inherited, out, count, err);
    places_match(places, inherited, found);
    for (size_t i = 0; i < places->count; i++) {
        struct listener *listener = listener_add(places, out, count, err);

        if (listener == NULL)
            return err->status;
        if (found[i] != NULL)
            listener_adopt(listener, found[i]);
        else if (place_open(listener, places->at[i], inherited, err) != SEQB_OK)
            return err->status;
    }
    return SEQB_OK;
}
