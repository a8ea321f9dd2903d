/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How each kind of server is started and asked. Only the files server_*.c use
 * this header, one for each kind. Tests use these files' headers and servers.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "support/servers.h"

#define SERVER_PATH_SIZE 4096
#define SERVER_ARGS_MAX  16
#define SERVER_WORDS_MAX 64

/* A command line under construction. */
struct server_words {
    const char **argv;
    size_t count;
    size_t used;
    char text[4096];
};

struct server_kind {
    const char *program; /* see program_find */
    bool as_nobody; /* runs as nobody, who owns the folder, because it refuses
                       root */

    /* Called once in the new folder, before the first start. May be NULL. */
    void (*prepare)(struct server *server);

    /* Adds the words of the command line. The first one is replaced by the
     * program's path. The server must stay in the foreground. */
    void (*command)(struct server *server, struct server_words *words);

    /* Whether it answers already. */
    bool (*is_up)(struct server *server);

    /* Frees server->admin, which is not NULL. */
    void (*forget)(struct server *server);

    /* Called once it was killed, with its pid: removes what it left outside its
     * folder. May be NULL. */
    void (*killed)(struct server *server);
};

struct server {
    const struct server_kind *kind;
    pid_t pid;   /* 0: it does not run */
    bool is_new; /* server_new has not returned it yet */
    int netns;   /* -1: that of the test program */
    char address[16];
    int32_t port;
    char folder[32];
    char socket[64]; /* "s" in the folder */
    const char *args[SERVER_ARGS_MAX + 1];
    void *admin; /* The kind's own connection. NULL until it is first used after
                    a start. */
    void *more;  /* the kind's own data, which is not freed */
};

/* Starts a server; on return, it answers. `args` are added to its command line
 * (NULL, or ended by NULL) and must live as long as the server. Call
 * server_require first. If the server does not start, nothing is left behind,
 * and this test fails and every later test that needs the same program. */
struct server *server_new(const struct server_kind *kind,
                          const char *const *args);

/* Adds one word to a command line. */
void server_word(struct server_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Finds a program by its name or path. Names are looked up in PATH and then
 * where Debian installs servers. False if it is not found. */
bool program_find(const char *program, char out[static SERVER_PATH_SIZE]);

/* Closes the kind's own connection, if there is one. */
void server_forget_admin(struct server *server);

/* Fails the test if `server` is NULL, that is, its start has failed. */
void server_expect(const struct server *server);

/* Runs a program (argv[0] in PATH or absolute) to its end in the server's
 * folder, as the server's user. Fails the test, and shows the log, if the
 * program fails. */
void server_run(struct server *server, const char *const *argv);
