/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a kind of server is started and asked: for the files server_*.c alone,
 * one a kind; tests use their headers and servers.h.
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

/* A command line as it is made. */
struct server_words {
    const char **argv;
    size_t count;
    size_t used;
    char text[4096];
};

struct server_kind {
    const char *program; /* as program_find takes it */
    bool as_nobody; /* it refuses root: runs as nobody, who owns the folder */

    /* Once, in the new folder, before the first start. May be NULL. */
    void (*prepare)(struct server *server);

    /* Adds the words of the command line, first one that the program's path
     * replaces; the server stays in the foreground. */
    void (*command)(struct server *server, struct server_words *words);

    /* Whether it answers by now. */
    bool (*is_up)(struct server *server);

    /* Frees server->admin, which is not NULL. */
    void (*forget)(struct server *server);
};

struct server {
    const struct server_kind *kind;
    pid_t pid;   /* 0 when it does not run */
    bool is_new; /* server_new has not returned it yet */
    int netns;   /* -1: the test program's */
    char address[16];
    int32_t port;
    char folder[32];
    char socket[64]; /* "s" in the folder */
    const char *args[SERVER_ARGS_MAX + 1];
    void *admin; /* the kind's own connection; NULL until first used after a
                    start */
    void *more;  /* the kind's own, freed by nobody */
};

/* A server that answers when it returns; `args` (NULL, or ended by NULL; they
 * must live as long as it) end its command line. The caller calls
 * server_require first. A server that does not start fails the test, and every
 * later test that wants one of this program, and leaves nothing behind. */
struct server *server_new(const struct server_kind *kind,
                          const char *const *args);

/* Adds one word to a command line. */
void server_word(struct server_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The path of a program, by its name or its path. Names are looked up in PATH
 * and then where Debian keeps servers. False if it is not there. */
bool program_find(const char *program, char out[static SERVER_PATH_SIZE]);

/* Fails the test if `server` is NULL, as one is whose start has failed. */
void server_expect(const struct server *server);

/* Runs a program (argv[0] in PATH or absolute) to its end in the server's
 * folder, as the server's user; fails the test, and shows the log, unless it
 * succeeds. */
void server_run(struct server *server, const char *const *argv);
