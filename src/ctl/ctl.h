/* SPDX-License-Identifier: Apache-2.0 */
/* What every part of seqctl knows: its exit codes, the options of a command
 * line, and how it talks to a person. */
#pragma once

#include <stdbool.h>
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
};

struct ctl_options {
    unsigned given;      /* of enum ctl_option */
    const char *socket;  /* NULL: the one in the state directory */
    int64_t timeout_s;   /* how long the daemon may take to answer */
    int64_t count;       /* of numbers; 0 if not given */
    int64_t to;          /* the number to advance beyond */
    int64_t shard;       /* of ids; only if given */
    const char *keys;    /* a file of keys; NULL: none was given */
    const char *without; /* a backend that is gone; NULL: none is named */
    int64_t interval_s;  /* between two rounds of --watch */
};

/* One line to a person, on stderr. */
void ctl_complain(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
