/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may do what: rights, users and their keys, who is at the other end of a
 * socket, logins, and the audit. Commands and routes name the right that they
 * need; who executes them compares it. Only login.c has a thread. The front
 * header of this folder.
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

/* By which means it is known who asks. */
enum identity_means {
    BY_NOTHING,
    BY_SOCKET, /* a process on the unix socket */
    BY_CERTIFICATE,
    BY_PASSWORD,
    BY_TOKEN
};

/* Who asks. */
struct identity {
    const struct user *user; /* NULL: none of the table */
    unsigned rights;         /* of enum right */
    bool is_limited;         /* to its user's keys */
    enum identity_means means;
    bool is_local; /* it came by a unix socket */
    uid_t uid;     /* if it is_local */
};

/* What the daemon's clients share. */
struct access {
    const struct users *users; /* never NULL; the caller's, or: */
    struct users *nobody;      /* an empty table */
    struct quotas quotas;      /* of users, and of keys that were asked for */
    bool is_open_to_all;
    bool has_open_metrics;
    bool wants_user; /* whoever shows a certificate must be one by it */
    struct logins *logins;
    struct audit audit;
};

/* `users` may be NULL: there are none. It stays the caller's, and must live
 * until access_fini, or access_swap; its quotas live on until access_fini.
 * `wake_fd` is written to when
 * logins_poll is to be called. False if memory is short. */
bool access_init(struct access *access, struct users *users, int wake_fd);

/* Takes a zeroed one. Logins under way are cancelled before. */
void access_fini(struct access *access);

/* Whether somebody said who may take numbers: by users, or by opening it to
 * all. */
bool access_has_guard(const struct access *access);

/* From now on another table holds. Logins under way are looked up in it. The
 * caller has connections_resolve look at all sessions before it frees the table
 * that was. */
void access_swap(struct access *access, struct users *users);

/* --- identity.c --- */

/* Where a client comes from: its socket, and the certificate that it has shown
 * and that was checked; NULL: none. */
struct origin {
    int fd;
    const struct tls_peer *certificate;
};

/* Who is there before a login. */
void identity_of_origin(const struct access *access, struct origin origin,
                        struct identity *out);

/* Who has logged in, and whether by a token. */
void identity_of_user(const struct user *user, bool by_token,
                      struct identity *inout);

/* The same one by the table that holds now; false if its user is gone, or its
 * certificate has become nobody's. */
bool identity_resolve(const struct access *access, struct origin origin,
                      struct identity *inout);

/* Whether whoever comes with that certificate may not come in: users are
 * wanted, and it belongs to none. NULL belongs to none, too. */
bool access_bars(const struct access *access,
                 const struct tls_peer *certificate);

/* "none", "socket", "certificate", "password", "token". */
const char *identity_means_name(const struct identity *identity);

/* Whether its user may use that key. */
bool identity_may_use(const struct identity *identity, const char *key,
                      size_t length);

/* "alice", "uid:1000", or "-" if nothing is known. */
const char *identity_name(const struct identity *identity,
                          char out[IDENTITY_NAME_SIZE]);

/* Where a socket comes from: "10.0.0.7", "uid:1000", or "2001:db8::/64" of
 * IPv6, where one host has as many addresses as it likes. Failed logins are
 * counted by it. */
void identity_source(int fd, char out[LOGIN_SOURCE_SIZE]);

/* The same, with the port, and the whole address: for people. */
void identity_from(int fd, char out[ADDRESS_SIZE]);

/* Why `identity` may not, as a text without the error's code, which is
 * returned: "NOAUTH" or "NOPERM". `what` is the command or path. */
const char *access_refuse(const struct identity *identity, enum right needs,
                          const char *what, char *out, size_t size);
