/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places of one kind of socket, as the settings have them: each is an
 * inherited socket that is there already, or is opened.
 */
#pragma once

#include <stddef.h>

#include <seqbroker/status.h>

#include "daemon/listeners/inherited.h"
#include "daemon/listeners/listener.h"

#define PLACES_MAX 16

struct listener_places {
    enum inherited_kind kind;
    const char *const *at; /* "ADDR:PORT", or paths */
    size_t count;          /* at most PLACES_MAX */
    size_t room;           /* for how many listeners there is room */
};

/* Those for Redis clients and those for HTTP. */
#define PLACES_KNOWN (2 * PLACES_MAX)

/* Addresses that were checked without a socket. */
struct places_known {
    struct known_place {
        struct sockaddr_storage address;
        const char *name;
    } all[PLACES_KNOWN];
    size_t count;
    const char *public_place; /* the first that is not of loopback, or NULL */
};

/* Adds addresses, which must be valid as long as `known`. SEQB_INVALID: one is
 * none, or two cannot be listened on at the same time. */
enum seqb_status places_check(const char *const *at, size_t count,
                              struct places_known *known,
                              struct seqb_error *err);

/* The inherited sockets of ours that are at these places: `found[i]` is for the
 * i-th place, NULL if there is none. No socket is found twice. An address with
 * its port comes before a name, which can use another socket, and port 0
 * comes last. */
void places_match(const struct listener_places *places,
                  struct inherited *inherited,
                  struct inherited_socket *found[PLACES_MAX]);

/*
 * Fills `out`, with room for `places->room` listeners, and counts them in
 * `*count`. Inherited sockets that replace the settings of that kind are
 * adopted, and no other. Otherwise each place, which must be an address, is
 * adopted or opened. SEQB_INVALID; `*count` then still tells what is open.
 */
enum seqb_status places_take(const struct listener_places *places,
                             struct inherited *inherited, struct listener *out,
                             size_t *count, struct seqb_error *err);

/* Adopts the inherited sockets that replace the settings of that kind. */
enum seqb_status places_adopt(const struct listener_places *places,
                              struct inherited *inherited, struct listener *out,
                              size_t *count, struct seqb_error *err);
