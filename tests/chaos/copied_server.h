/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of a server whose files are copied in all possible ways, and put
 * back. There is a program for each kind of server. */
#pragma once

#include "put_back.h"

/* A kind of server. A copy is a folder of that name beside the server's
 * files. */
struct copied_kind {
    struct server *(*start)(const char *const *args);
    struct server *(*start_of)(struct server *server, const char *copy);
    void (*clear)(struct server *server); /* removes seqbroker's tables */

    /* Where brokers reach the server: `gate` is a name in the scene's folder
     * that leads to the server's socket; `backend` writes the backend that
     * connects there. */
    const char *gate;
    void (*socket)(const struct server *server, char *out, size_t size);
    void (*backend)(const struct chaos *chaos, char *out, size_t size);

    void (*copy_cold)(struct server *server, const char *copy);
    void (*copy_backup)(struct server *server, const char *copy);
    void (*copy_snapshot)(struct server *server, const char *copy);
    void (*put_back)(struct server *server, const char *copy);
    /* Like a disk's snapshot: no file's time shows it. */
    void (*revert)(struct server *server, const char *copy);
    void (*exchange)(struct server *server, const char *copy);

    void (*pause)(struct server *server);
    void (*resume)(struct server *server);
};

/* Runs all scenarios. Returns what main returns. */
int copied_run(const struct copied_kind *kind);
