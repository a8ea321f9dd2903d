/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access control: rights, users and their keys, the identity of a client,
 * logins, and the audit. Each command and route names the right that it needs;
 * the code that executes it checks that right. Only login.c has a thread. The
 * front header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <seqbroker/seqbroker.h>

#include "daemon/access/audit.h"
#include "daemon/access/authorization.h"
#include "daemon/access/login.h"
#include "daemon/access/quotas.h"
#include "daemon/access/users.h"
#include "daemon/listeners/listeners.h"

#define IDENTITY_NAME_SIZE 40

/* How the client was identified. */
enum identity_means {
    BY_NOTHING,
    BY_SOCKET, /* the uid and groups of the peer of a unix socket */
    BY_CERTIFICATE,
    BY_PASSWORD,
    BY_TOKEN
};

/* The identity of a client. */
struct identity {
    const struct user *user; /* NULL: none of the table */
    unsigned rights;         /* bits of enum right */
    bool is_limited;         /* may use only its user's keys */
    enum identity_means means;
    bool is_local; /* connected by a unix socket */
    uid_t uid;     /* if it is_local */
};

/* The state of access control that all clients share. */
struct access {
    const struct users *users; /* never NULL; the caller's, or `nobody` */
    struct users *nobody;      /* an empty table */
    struct quotas quotas; /* of users, and of limited keys that were used */
    bool is_open_to_all;
    bool is_public; /* an address is not of loopback: set at the start */
    bool has_open_metrics;
    bool wants_user; /* a client of TLS must show the certificate of a user */
    struct logins *logins;
    struct audit audit;
};

/* `users` may be NULL: there are no users. The table stays the caller's, and
 * must live until access_fini or access_swap; its quotas live until
 * access_fini. The logins write to the eventfd `wake_fd` when logins_poll is to
 * be called. False if memory is short. */
bool access_init(struct access *access, struct users *users, int wake_fd);

/* A zeroed struct is allowed. The caller has cancelled all logins under way. */
void access_fini(struct access *access);

/* Whether the operator has decided who may take numbers: by users who all have
 * to log in for that, or by opening the daemon to all. */
bool access_has_guard(const struct access *access);

/* Whether that would be so with these users. */
bool access_would_have_guard(const struct access *access,
                             const struct users *users);

/* Replaces the table of users. Logins under way are looked up in the new table.
 * The caller must run connections_resolve over all sessions before it frees the
 * old table. */
void access_swap(struct access *access, struct users *users);

/* --- identity.c --- */

/* Where a client comes from: its socket, and the verified certificate that it
 * has shown (NULL: none). */
struct origin {
    int fd;
    const struct tls_peer *certificate;
};

/* The identity of a client before it logs in. */
void identity_of_origin(const struct access *access, struct origin origin,
                        struct identity *out);

/* Sets the identity after a login, by a token or by a password. */
void identity_of_user(const struct user *user, bool by_token,
                      struct identity *inout);

/* The quota of its user, or NULL. */
struct quota *identity_quota(const struct identity *identity);

/* Looks up the identity again in the current table of users. False if its user
 * is gone, or its certificate no longer belongs to a user. */
bool identity_resolve(const struct access *access, struct origin origin,
                      struct identity *inout);

/* Whether a client with this certificate must be rejected: wants_user is set,
 * and the certificate belongs to no user. NULL (no certificate) belongs to no
 * user, too. */
bool access_bars(const struct access *access,
                 const struct tls_peer *certificate);

/* "none", "socket", "certificate", "password", "token". */
const char *identity_means_name(const struct identity *identity);

/* Whether the identity may use that key. */
bool identity_may_use(const struct identity *identity, const char *key,
                      size_t length);

/* "alice", "uid:1000", or "-" if the client is unknown. */
const char *identity_name(const struct identity *identity,
                          char out[IDENTITY_NAME_SIZE]);

/* The source of a client: "10.0.0.7", "uid:1000", or for IPv6 the network
 * "2001:db8::/64", because one host can use every address of its /64. Failed
 * logins are counted per source. */
void identity_source(int fd, char out[LOGIN_SOURCE_SIZE]);

/* The full address with the port, for messages and the audit. */
void identity_from(int fd, char out[ADDRESS_SIZE]);

/* Writes why `identity` may not use `what`, a command or a path. Returns the
 * error's code, "NOAUTH" or "NOPERM", which the text does not include. */
const char *access_refuse(const struct identity *identity, enum right needs,
                          const char *what, char *out, size_t size);
