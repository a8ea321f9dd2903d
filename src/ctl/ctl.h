/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all parts of seqctl: the exit codes, the options of a command line,
 * and complaints to the user. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of the interface, since scripts read them. `health` has exit codes of
 * its own: see operate.c. */
enum ctl_exit {
    CTL_OK = 0,
    CTL_FAILED = 1,      /* the daemon answered an error, or stdout is not
                            writable */
    CTL_USAGE = 2,       /* bad usage, or an invalid topology */
    CTL_UNREACHABLE = 3, /* no daemon answers at the socket */
};

/* The options. A set says which ones a command takes, or which ones were
 * given. */
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
    CTL_BROKER = 1 << 13, /* the whole broker, in place of the argument */
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
    CTL_CHECK = 1 << 24, /* of reload */
    CTL_USER = 1 << 25,
    CTL_TLS = 1 << 26, /* any of the three TLS options */
    CTL_PASSWORD_FILE = 1 << 27,
    CTL_FORCE = 1 << 28,
    /* Not options, but what else a command takes. */
    CTL_TAKES_ONE_MORE = 1 << 29, /* an optional argument */
    CTL_TAKES_SEVERAL = 1 << 30,  /* several brokers: -s may be given several
                                     times */
};

#define CTL_SERVERS_MAX 64 /* brokers of one command line */

struct ctl_options {
    unsigned given; /* a set of enum ctl_option */
    /* The named brokers. Each is a socket's path, HOST:PORT or
     * tls://HOST:PORT. */
    const char *servers[CTL_SERVERS_MAX];
    size_t server_count;
    const char *socket;        /* the broker to ask; NULL: the socket in the
                                  state directory */
    bool is_one_of_several;    /* its name is printed before its answer */
    int64_t timeout_s;         /* how long the daemon may take to answer */
    int64_t count;             /* of numbers; 0 if not given */
    int64_t to;                /* the number above which to advance */
    int64_t shard;             /* of ids; only if given */
    const char *keys;          /* a file of keys; NULL: not given */
    const char *without;       /* a backend that is lost; NULL: not given */
    int64_t interval_s;        /* between two rounds of --watch */
    int64_t top;               /* sequences; only if given */
    const char *sort;          /* the name of an order; NULL: not given */
    const char *color;         /* when to use colours; NULL: not given */
    const char *since;         /* an age or a moment; NULL: not given */
    const char *level;         /* a log level; NULL: not given */
    const char *user;          /* the user to log in as; NULL: none */
    const char *password_file; /* NULL: not given */
    const char *password;      /* the user's password; only if there is a
                                  user */
    const char *tls_ca, *tls_cert, *tls_key; /* files; NULL: not given */
};

/* Prints a line for the user on stderr. With --json it becomes the error of the
 * object that is printed on stderr at the end. */
void ctl_complain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
