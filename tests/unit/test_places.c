/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which inherited socket is for which place. The sockets are this program's,
 * and so is the name server: "two" has the addresses 127.0.0.2 and 127.0.0.1.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/listeners/places.h"
#include "support/test.h"
#include "support/wrap.h"
#include "unit/resolver_fixture.h"

#define ONE RESOLVER_ONE
#define TWO RESOLVER_TWO

/* --- the name server --- */

WRAPPED(int, getaddrinfo, const char *name, const char *service,
        const struct addrinfo *hints, struct addrinfo **out)
{
    const int port = atoi(service);

    if (resolver_numeric(name, port, out) == 0)
        return 0;
    if ((hints->ai_flags & AI_NUMERICHOST) != 0)
        return EAI_NONAME;
    return resolver_named(name, port, out);
}

WRAPPED(void, freeaddrinfo, struct addrinfo *list)
{
    resolver_free(list);
}

/* --- the sockets --- */

struct at {
    uint32_t host; /* 0: the end */
    int port;
};

/* The socket with the descriptor i is at the i-th. */
static const struct at *sockets;

WRAPPED(int, getsockname, int fd, struct sockaddr *out, socklen_t *length)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)sockets[fd].port),
        .sin_addr.s_addr = htonl(sockets[fd].host),
    };

    assert_true(*length >= sizeof address);
    memcpy(out, &address, sizeof address);
    *length = sizeof address;
    return 0;
}

static void sockets_inherit(const struct at *all, struct inherited *out)
{
    sockets = all;
    *out = (struct inherited){.count = 0};
    for (int fd = 0; all[fd].host != 0; fd++)
        assert_true(inherited_add(
            out, &(struct inherited_socket){
                     .fd = fd, .kind = INHERITED_TCP, .is_ours = true}));
}

/* --- the cases --- */

#define NONE (-1)

struct match {
    const char *const at[4];
    struct at sockets[4];
    int expected[4]; /* the socket of each place */
};

static void must_match(const struct match *match)
{
    struct listener_places places = {.kind = INHERITED_TCP, .at = match->at};
    struct inherited_socket *found[PLACES_MAX] = {NULL};
    struct inherited inherited;

    while (places.count < COUNT_OF(match->at) &&
           match->at[places.count] != NULL)
        places.count++;
    sockets_inherit(match->sockets, &inherited);
    places_match(&places, &inherited, found);
    for (size_t i = 0; i < places.count; i++) {
        const int fd = found[i] != NULL ? found[i]->fd : NONE;

        if (fd != match->expected[i])
            fail_msg("%s, place %zu, has socket %d, not %d", match->at[i], i,
                     fd, match->expected[i]);
    }
}

/* A name without a socket can be bound to its other address. */
TEST(name_leaves_a_socket_to_the_address_that_needs_it)
{
    static const struct match all[] = {
        {{"two:7379", "127.0.0.1:7379"}, {{ONE, 7379}}, {NONE, 0}},
        {{"two:7379", "127.0.0.2:7379"}, {{TWO, 7379}}, {NONE, 0}},
        {{"two:7379", "127.0.0.2:7379"}, {{TWO, 7379}, {ONE, 7379}}, {1, 0}},
        {{"two:0", "127.0.0.1:0"}, {{ONE, 40000}}, {NONE, 0}},
    };

    for (size_t i = 0; i < COUNT_OF(all); i++)
        must_match(&all[i]);
}

TEST(name_has_the_socket_that_a_start_would_bind)
{
    static const struct match all[] = {
        {{"two:7379"}, {{ONE, 7379}, {TWO, 7379}}, {1}},
        {{"two:7379"}, {{TWO, 7379}, {ONE, 7379}}, {0}},
        {{"two:7379"}, {{TWO, 7380}, {ONE, 7379}}, {1}},
        {{"two:7379", "two:7379"}, {{ONE, 7379}, {TWO, 7379}}, {1, 0}},
    };

    for (size_t i = 0; i < COUNT_OF(all); i++)
        must_match(&all[i]);
}

TEST(any_port_is_what_the_other_places_left)
{
    static const struct match all[] = {
        {{"127.0.0.2:0", "two:7379"}, {{TWO, 7379}}, {NONE, 0}},
        {{"two:0", "127.0.0.2:7379"}, {{TWO, 7379}, {TWO, 40000}}, {1, 0}},
        {{"127.0.0.1:00", "127.0.0.1:7379"}, {{ONE, 7379}}, {NONE, 0}},
    };

    for (size_t i = 0; i < COUNT_OF(all); i++)
        must_match(&all[i]);
}

TEST(socket_at_no_place_is_left)
{
    static const struct match all[] = {
        {{"127.0.0.1:7379"}, {{ONE, 7380}, {TWO, 7379}}, {NONE}},
        {{"nowhere:7379"}, {{ONE, 7379}}, {NONE}},
    };

    for (size_t i = 0; i < COUNT_OF(all); i++)
        must_match(&all[i]);
}
