/* SPDX-License-Identifier: Apache-2.0 */
/* What every part of seqctl knows: its exit codes, the options of a command
 * line, and how it talks to a person. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of the interface: scripts read them. Those of `health` are other ones,
 * see operate.c. */
enum ctl_exit {
    CTL_OK = 0,
    CTL_FAILED = 1,      /* an error answered, or stdout not writable */
    CTL_USAGE = 2,       /* bad usage, or an invalid topology */
    CTL_UNREACHABLE = 3, /* no daemon answers at the socket */
};

/* What a command takes: a set of these, and which of them were given. */
enum ctl_option {
    CTL_COUNT = 1 << 0,
    CTL_JSON = 1 << 1,
    CTL_MARKDOWN = 1 << 2,
    CTL_SOCKET = 1 << 3,
    CTL_TIMEOUT = 1 << 4,
    CTL_HELP = 1 << 5,
    CTL_VERSION = 1 << 6,
    CTL_PROBE = 1 << 7,
    CTL_TO = 1 << 8,
    CTL_WATCH = 1 << 9,
    CTL_INTERVAL = 1 << 10,
    CTL_DRY_RUN = 1 << 11,
    CTL_KEYS = 1 << 12,
    CTL_BROKER = 1 << 13, /* the whole one, in place of the argument */
    CTL_SHARD = 1 << 14,
    CTL_STAMP = 1 << 15,
    CTL_WITHOUT = 1 << 16,
    CTL_WIDE = 1 << 17,
    CTL_SORT = 1 << 18,
    CTL_TOP = 1 << 19,
    CTL_ALL = 1 << 20,
    CTL_COLOR = 1 << 21,
    CTL_SINCE = 1 << 22,
    CTL_LEVEL = 1 << 23,
    CTL_CHECK = 1 << 24, /* of a reload */
    CTL_USER = 1 << 25,
    CTL_TLS = 1 << 26, /* any of its three */
    CTL_PASSWORD_FILE = 1 << 27,
    CTL_FORCE = 1 << 28,
    /* No options, but what a command takes besides. */
    CTL_TAKES_ONE_MORE = 1 << 29, /* an argument that may be left out */
    CTL_TAKES_SEVERAL = 1 << 30,  /* brokers: -s may stand several times */
};

#define CTL_SERVERS_MAX 64 /* brokers of one command line */

struct ctl_options {
    unsigned given; /* of enum ctl_option */
    /* Brokers that were named, each a socket's path, HOST:PORT or
     * tls://HOST:PORT. */
    const char *servers[CTL_SERVERS_MAX];
    size_t server_count;
    const char *socket;        /* the one that is asked; NULL: the socket in the
                                  state directory */
    bool is_one_of_several;    /* its name stands before what it answers */
    int64_t timeout_s;         /* how long the daemon may take to answer */
    int64_t count;             /* of numbers; 0 if not given */
    int64_t to;                /* the number to advance beyond */
    int64_t shard;             /* of ids; only if given */
    const char *keys;          /* a file of keys; NULL: none was given */
    const char *without;       /* a backend that is gone; NULL: none is named */
    int64_t interval_s;        /* between two rounds of --watch */
    int64_t top;               /* sequences; only if given */
    const char *sort;          /* the name of an order; NULL: none was given */
    const char *color;         /* when; NULL: it was not said */
    const char *since;         /* an age or a moment; NULL: the same */
    const char *level;         /* of the log; NULL: the same */
    const char *user;          /* who to log in as; NULL: nobody */
    const char *password_file; /* NULL: none was given */
    const char *password;      /* of the user; only if there is one */
    const char *tls_ca, *tls_cert, *tls_key; /* files; NULL: none was given */
};

/* One line to a person, on stderr. With --json it is the error of the object
 * that is printed there at the end. */
void ctl_complain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
