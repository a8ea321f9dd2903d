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

static bool is_any_host(const struct sockaddr_storage *address)
{
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

    if (address->ss_family == AF_INET)
        return ((const struct sockaddr_in *)address)->sin_addr.s_addr ==
               htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr);
}

/* Whether sockets at both cannot be bound at the same time. */
static bool is_same_place(struct sockaddr_storage *a,
                          struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family || *port_of(a) != *port_of(b) ||
        *port_of(a) == 0)
        return false;
    return is_any_host(a) || is_any_host(b) || is_same_host(a, b);
}

static bool place_is_taken(struct places_known *known,
                           struct known_place *place, struct seqb_error *err)
{
    for (size_t i = 0; i < known->count; i++) {
        if (!is_same_place(&known->all[i].address, &place->address))
            continue;
        snprintf(err->text, sizeof err->text,
                 "cannot listen on %s: the topology or an option has %s "
                 "already; choose another port",
                 place->name, known->all[i].name);
        err->status = SEQB_INVALID;
        return true;
    }
    return false;
}

enum seqb_status places_check(const char *const *at, size_t count,
                              struct places_known *known,
                              struct seqb_error *err)
{
    for (size_t i = 0;
         i < count && known->count < sizeof known->all / sizeof known->all[0];
         i++) {
        struct known_place *place = &known->all[known->count];
        struct addrinfo *found = NULL;
        bool is_only;

        if (address_find(at[i], 0, &found, err) != SEQB_OK)
            return err->status;
        *place = (struct known_place){.name = at[i]};
        memcpy(&place->address, found->ai_addr, found->ai_addrlen);
        is_only = found->ai_next == NULL;
        freeaddrinfo(found);
        if (known->public_place == NULL &&
            !address_is_loopback(&place->address))
            known->public_place = at[i];
        if (!is_only)
            continue; /* the socket gets one of them that is free */
        if (place_is_taken(known, place, err))
            return err->status;
        known->count++;
    }
    return SEQB_OK;
}

/* Whether the socket is at that address. With port 0 any port is right. */
static bool is_at(const struct inherited_socket *socket,
                  const struct addrinfo *info)
{
    struct sockaddr_storage address = {0};
    struct sockaddr_storage there = {0};
    socklen_t length = sizeof there;

    if (getsockname(socket->fd, (struct sockaddr *)&there, &length) != 0)
        return false;
    memcpy(&address, info->ai_addr, info->ai_addrlen);
    return is_same_host(&there, &address) &&
           (*port_of(&address) == 0 || *port_of(&address) == *port_of(&there));
}

static bool is_at_path(const struct inherited_socket *socket, const char *path)
{
    struct sockaddr_un local = {0};
    socklen_t length = sizeof local;

    /* Without its file nobody can connect: it is opened again. */
    return getsockname(socket->fd, (struct sockaddr *)&local, &length) == 0 &&
           strncmp(local.sun_path, path, sizeof local.sun_path) == 0 &&
           access(path, F_OK) == 0;
}

/* One of the sockets that no place has yet: at the address `info`, or, if that
 * is NULL, at the path. */
static struct inherited_socket *socket_find(struct inherited *inherited,
                                            enum inherited_kind kind,
                                            const struct addrinfo *info,
                                            const char *path)
{
    for (size_t i = 0; i < inherited->count; i++) {
        struct inherited_socket *socket = &inherited->sockets[i];

        if (socket->kind == kind && socket->is_ours && !socket->is_taken &&
            (info != NULL ? is_at(socket, info) : is_at_path(socket, path)))
            return socket;
    }
    return NULL;
}

/* If there are sockets at several addresses of a name: the one that a start
 * would bind. */
static struct inherited_socket *socket_find_address(struct inherited *inherited,
                                                    enum inherited_kind kind,
                                                    const char *place)
{
    struct inherited_socket *socket = NULL;
    struct addrinfo *found = NULL;
    struct seqb_error err; /* the opening of the place reports it */

    if (address_find(place, 0, &found, &err) != SEQB_OK)
        return NULL;
    for (const struct addrinfo *at = found; at != NULL && socket == NULL;
         at = at->ai_next)
        socket = socket_find(inherited, kind, at, NULL);
    freeaddrinfo(found);
    return socket;
}

static bool wants_any_port(const char *place)
{
    const char *colon = strrchr(place, ':');

    return colon != NULL && strtol(colon + 1, NULL, 10) == 0;
}

static bool is_literal(const char *place)
{
    struct addrinfo *found = NULL;
    struct seqb_error err;

    if (address_find(place, AI_NUMERICHOST, &found, &err) != SEQB_OK)
        return false;
    freeaddrinfo(found);
    return true;
}

enum { TURNS = 4 };

/* When a place may choose: places that fit more sockets come later, so that
 * they do not take the only one that fits another. */
static int turn_of(const char *place)
{
    return 2 * wants_any_port(place) + !is_literal(place);
}

static void paths_match(const struct listener_places *places,
                        struct inherited *inherited,
                        struct inherited_socket *found[PLACES_MAX])
{
    for (size_t i = 0; i < places->count; i++) {
        found[i] = socket_find(inherited, places->kind, NULL, places->at[i]);
        if (found[i] != NULL)
            found[i]->is_taken = true;
    }
}

void places_match(const struct listener_places *places,
                  struct inherited *inherited,
                  struct inherited_socket *found[PLACES_MAX])
{
    if (places->kind == INHERITED_LOCAL) {
        paths_match(places, inherited, found);
        return;
    }
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < places->count; i++) {
            if (turn_of(places->at[i]) != turn)
                continue;
            found[i] =
                socket_find_address(inherited, places->kind, places->at[i]);
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
