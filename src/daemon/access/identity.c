/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out who is at the other end of a socket, and with which rights; see
 * access.h. */
#include "daemon/access/access.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GROUPS_MAX 256 /* of a process; further groups are ignored */

static int socket_family(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;

    (void)getsockname(fd, (struct sockaddr *)&address, &length);
    return address.ss_family;
}

/* The groups that the kernel recorded at connect. Before Linux 4.13 only the
 * primary group is available. */
static size_t peer_groups(int fd, gid_t first, gid_t out[GROUPS_MAX])
{
    socklen_t size = GROUPS_MAX * sizeof *out;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, out, &size) == 0) {
        const size_t count = size / sizeof *out;

        if (count < GROUPS_MAX)
            out[count] = first;
        return count < GROUPS_MAX ? count + 1 : count;
    }
    out[0] = first;
    return 1;
}

static const struct user *user_of_peer(const struct users *users, int fd,
                                       const struct ucred *peer)
{
    gid_t gids[GROUPS_MAX];

    if (users_count(users) == 0)
        return NULL;
    return users_find_peer(
        users, &(struct peer){.uid = peer->uid,
                              .gids = gids,
                              .gid_count = peer_groups(fd, peer->gid, gids)});
}

static void identity_set_user(struct identity *identity,
                              const struct user *user)
{
    identity->user = user;
    identity->rights = user_rights(user);
    identity->is_limited = user_is_limited(user);
}

static void identity_of_peer(const struct access *access, int fd,
                             struct identity *out)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t size = sizeof peer;
    const struct user *user = NULL;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return;
    out->means = BY_SOCKET;
    out->uid = peer.uid;
    user = user_of_peer(access->users, fd, &peer);
    if (user != NULL)
        identity_set_user(out, user);
    else
        out->rights =
            peer.uid == 0 || peer.uid == geteuid() ? RIGHTS_ADMIN : RIGHTS_TAKE;
}

static const struct user *
user_of_certificate(const struct access *access,
                    const struct tls_peer *certificate)
{
    return certificate != NULL
               ? users_find_certificate(access->users, certificate)
               : NULL;
}

void identity_of_origin(const struct access *access, struct origin origin,
                        struct identity *out)
{
    const struct user *anonymous = users_anonymous(access->users);
    const struct user *user = user_of_certificate(access, origin.certificate);

    *out = (struct identity){.rights = RIGHTS_NONE,
                             .is_local = socket_family(origin.fd) == AF_UNIX};
    if (user != NULL) {
        identity_set_user(out, user);
        out->means = BY_CERTIFICATE;
    } else if (out->is_local) {
        identity_of_peer(access, origin.fd, out);
    } else if (anonymous != NULL) {
        identity_set_user(out, anonymous);
    } else if (users_count(access->users) == 0 || access->is_open_to_all) {
        out->rights = RIGHTS_TAKE;
    }
}

void identity_of_user(const struct user *user, bool by_token,
                      struct identity *inout)
{
    identity_set_user(inout, user);
    inout->means = by_token ? BY_TOKEN : BY_PASSWORD;
}

static bool is_login(const struct identity *identity)
{
    return identity->means == BY_PASSWORD || identity->means == BY_TOKEN;
}

/* A client that logged in keeps that user, even if its certificate belongs to
 * another one. */
static bool login_resolve(const struct access *access, struct identity *inout)
{
    const char *name = user_name(inout->user);
    const struct user *user = users_find(access->users, name, strlen(name));

    if (user != NULL)
        identity_set_user(inout, user);
    return user != NULL;
}

/* Whether the user of a process was removed. The process would have the rights
 * of one that no user names, which may be more. The operator keeps its
 * connection: it may be the one that asked for the reload. */
static bool peer_has_lost(const struct identity *before,
                          const struct identity *now)
{
    return before->user != NULL && now->user == NULL &&
           (now->rights & RIGHT_ADMIN) == 0;
}

bool identity_resolve(const struct access *access, struct origin origin,
                      struct identity *inout)
{
    const struct identity before = *inout;

    if (origin.certificate != NULL && access_bars(access, origin.certificate))
        return false;
    if (is_login(inout))
        return login_resolve(access, inout);
    identity_of_origin(access, origin, inout);
    return before.means == BY_SOCKET
               ? !peer_has_lost(&before, inout)
               : before.means != BY_CERTIFICATE || inout->means == before.means;
}

bool access_bars(const struct access *access,
                 const struct tls_peer *certificate)
{
    return access->wants_user &&
           user_of_certificate(access, certificate) == NULL;
}

struct quota *identity_quota(const struct identity *identity)
{
    return identity->user != NULL ? user_quota(identity->user) : NULL;
}

const char *identity_means_name(const struct identity *identity)
{
    static const char *const names[] = {[BY_NOTHING] = "none",
                                        [BY_SOCKET] = "socket",
                                        [BY_CERTIFICATE] = "certificate",
                                        [BY_PASSWORD] = "password",
                                        [BY_TOKEN] = "token"};

    return names[identity->means];
}

bool identity_may_use(const struct identity *identity, const char *key,
                      size_t length)
{
    return !identity->is_limited || user_may_use(identity->user, key, length);
}

const char *identity_name(const struct identity *identity,
                          char out[IDENTITY_NAME_SIZE])
{
    if (identity->user != NULL)
        snprintf(out, IDENTITY_NAME_SIZE, "%s", user_name(identity->user));
    else if (identity->is_local)
        snprintf(out, IDENTITY_NAME_SIZE, "uid:%lu",
                 (unsigned long)identity->uid);
    else
        snprintf(out, IDENTITY_NAME_SIZE, "-");
    return out;
}

/* --- where it comes from --- */

static void source_of_ipv6(const struct in6_addr *address,
                           char out[LOGIN_SOURCE_SIZE])
{
    struct in6_addr network = *address;
    char text[INET6_ADDRSTRLEN] = "";

    if (IN6_IS_ADDR_V4MAPPED(address)) {
        inet_ntop(AF_INET, &address->s6_addr[12], text, sizeof text);
        snprintf(out, LOGIN_SOURCE_SIZE, "%s", text);
        return;
    }
    memset(&network.s6_addr[8], 0, 8);
    inet_ntop(AF_INET6, &network, text, sizeof text);
    snprintf(out, LOGIN_SOURCE_SIZE, "%s/64", text);
}

void identity_source(int fd, char out[LOGIN_SOURCE_SIZE])
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t size = sizeof peer;

    snprintf(out, LOGIN_SOURCE_SIZE, "unknown");
    if (getpeername(fd, (struct sockaddr *)&address, &length) != 0)
        return;
    if (address.ss_family == AF_INET)
        inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, out,
                  LOGIN_SOURCE_SIZE);
    else if (address.ss_family == AF_INET6)
        source_of_ipv6(&((struct sockaddr_in6 *)&address)->sin6_addr, out);
    else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
        snprintf(out, LOGIN_SOURCE_SIZE, "uid:%lu", (unsigned long)peer.uid);
}

void identity_from(int fd, char out[ADDRESS_SIZE])
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;

    if (getpeername(fd, (struct sockaddr *)&address, &length) == 0 &&
        address.ss_family != AF_UNIX)
        address_print(&address, length, out);
    else
        identity_source(fd, out);
}

/* --- why not --- */

const char *access_refuse(const struct identity *identity, enum right needs,
                          const char *what, char *out, size_t size)
{
    char name[IDENTITY_NAME_SIZE];

    if (identity->rights == RIGHTS_NONE) {
        snprintf(out, size,
                 "Authentication required: log in by AUTH user password, in "
                 "HTTP by Basic or a Bearer token; docs/secure.md");
        return "NOAUTH";
    }
    if (needs == RIGHT_ADMIN)
        snprintf(out, size,
                 "%s is an order: give it through the unix socket, as seqctl "
                 "does, or log in as a user whose role is admin",
                 what);
    else
        snprintf(out, size, "%s is not for user '%s': a role that %s is needed",
                 what, identity_name(identity, name),
                 needs == RIGHT_TAKE ? "takes numbers" : "reads");
    return "NOPERM";
}
