/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of a server whose files are copied in all ways that there are, and
 * put back: a program for each kind of server. */
#pragma once

#include "put_back.h"

/* A copy is a folder of that name beside the server's files. */
struct copied_kind {
    struct server *(*start)(const char *const *args);
    struct server *(*start_of)(struct server *server, const char *copy);
    void (*clear)(struct server *server); /* without our tables */

    /* Where the server is reached: a name in the scene's folder that leads to
     * its socket, and the backend that connects to it there. */
    const char *gate;
    void (*socket)(const struct server *server, char *out, size_t size);
    void (*backend)(const struct chaos *chaos, char *out, size_t size);

    void (*copy_cold)(struct server *server, const char *copy);
    void (*copy_backup)(struct server *server, const char *copy);
    void (*copy_snapshot)(struct server *server, const char *copy);
    void (*put_back)(struct server *server, const char *copy);
    void (*revert)(struct server *server, const char *copy); /* as the snapshot
                            of a disk does: no file tells by its date */
    void (*exchange)(struct server *server, const char *copy);

    void (*pause)(struct server *server);
    void (*resume)(struct server *server);
};

/* For main: runs all scenarios. */
int copied_run(const struct copied_kind *kind);
