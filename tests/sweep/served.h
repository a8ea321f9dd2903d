/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seqbrokerd within this process, and a client of it while calls fail. The
 * client is a thread whose own calls never fail. It talks twice: while the
 * daemon's calls fail, when an answer may be an error that is true, or the
 * connection may be closed; and after that, when all must be answered. At the
 * end the daemon must count no client and none of their memory.
 */
#pragma once

#include <openssl/types.h>

#include "daemon/options.h"
#include "support/tls_pair.h"
#include "sweep.h"

#define SERVED_HEARD_SIZE 262144

/* The user that may do all, and its password. */
#define SERVED_USER     "some"
#define SERVED_PASSWORD "right"

#define SERVED_AUDIT "audit.log" /* the daemon's audit_file, in the folder */

struct served {
    struct sweep *sweep;
    struct server *server;
    char address[64]; /* that the client talks to */
    bool is_strict;   /* calls do not fail any more */
    int fd;           /* -1: not connected */
    SSL *ssl;         /* NULL: plain, or not connected */
    const char *said; /* last */
    size_t length;
    char heard[SERVED_HEARD_SIZE]; /* ended by 0 */
};

/* The daemon's command line, with an address for each protocol. False if memory
 * is short. The options are for options_free in any case. */
bool served_options(struct sweep *sweep, const char *topology,
                    struct options *out);

/* As sweep_expect, of the daemon's start: addresses and sockets that cannot be
 * had are a fault of who named them. */
bool served_expect(struct sweep *sweep, const struct seqb_error *err,
                   const char *what);

/* Writes the daemon's topology again; `more` are further sequences, as
 * ", { key = ... }". */
const char *served_topology(const struct sweep *sweep, const char *more);

/* Whether a step may be tried again, because it was not right yet although
 * calls do not fail any more: waits a little. Fails if it is too late. Calls
 * that fail leave backends quarantined for a while. */
bool served_again(const struct served *served, int tries);

/* From now on the daemon and its clients speak TLS. Both show that certificate,
 * whose common name must be SERVED_USER. The files stay the caller's. */
void served_use_tls(const struct tls_files *files);

/* Serves until talk() has returned twice. */
void served_run(struct sweep *sweep, bool is_http,
                void (*talk)(struct served *served));

/* Sends a text, after connecting if need be, and forgets what it has heard.
 * False if the daemon has closed the connection. */
bool served_say(struct served *served, const char *text);

/* Waits for more bytes. False if the daemon has closed the connection. Fails if
 * neither happens. */
bool served_hear(struct served *served);

void served_close(struct served *served);
