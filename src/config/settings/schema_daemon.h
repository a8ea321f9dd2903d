/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the settings table for seqbrokerd: its own section, its users and
 * their limits. Only schema.c includes this file, since the rows use its
 * macros. */
#pragma once

/* Limits of a user or a key. */
#define LIMIT_ROWS(ROW, section)                                               \
    ROW(section, max_count, INTEGER, "0", "1000000000", "0", ALL_ENGINES,      \
        "The most numbers that one request may ask for; 0: no limit.")         \
    ROW(section, rate, INTEGER, "0", "1000000000", "0", ALL_ENGINES,           \
        "Numbers a second; 0: no limit. Requests above it are refused with "   \
        "LIMIT: see secure.md.")                                               \
    ROW(section, burst, INTEGER, "0", "1000000000", "0", ALL_ENGINES,          \
        "Numbers at once, if there is a rate; 0: as many as rate.")            \
    ROW(section, daily_limit, INTEGER, "0", "1000000000000000", "0",           \
        ALL_ENGINES,                                                           \
        "Numbers a day, which begins at 0:00 UTC; 0: no limit. A daemon that " \
        "is started counts its day from 0.")

#define DAEMON_ROWS(ROW)                                                       \
    ROW(DAEMON, listen, LISTEN, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,           \
        ALL_ENGINES,                                                           \
        "The TCP address for Redis clients, or several, [ ] for none. By "     \
        "default 127.0.0.1:7379. The option --listen takes precedence.")       \
    ROW(DAEMON, socket, PATHS, NO_RANGE, NO_DEFAULT, ALL_ENGINES,              \
        "The unix socket, or several, [ ] for none. By default "               \
        "seqbrokerd.sock in the state directory. A relative path starts in "   \
        "the working directory of the daemon. The option --socket takes "      \
        "precedence.")                                                         \
    ROW(DAEMON, socket_mode, CHOICE, ONE_OF("0600, 0660, 0666"), "0660",       \
        ALL_ENGINES,                                                           \
        "Who may connect to the unix sockets. 0600: their owner. 0660: also "  \
        "their group. 0666: every user of the machine.")                       \
    ROW(DAEMON, socket_group, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,         \
        "The group of the unix sockets, a name or a number. By default the "   \
        "group of the daemon's process.")                                      \
    ROW(DAEMON, http, LISTEN, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,             \
        ALL_ENGINES,                                                           \
        "The address for HTTP, or several, as [ \"127.0.0.1:9379\", "          \
        "\"[::1]:9379\" ]. By default none. The option --http takes "          \
        "precedence.")                                                         \
    ROW(DAEMON, tls_listen, LISTEN, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,       \
        ALL_ENGINES,                                                           \
        "The address for Redis clients with TLS, or several. By default "      \
        "none. The option --tls-listen takes precedence. See tls.md.")         \
    ROW(DAEMON, https, LISTEN, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,            \
        ALL_ENGINES,                                                           \
        "The address for HTTP with TLS, or several. By default none. The "     \
        "option --https takes precedence.")                                    \
    ROW(DAEMON, tls_cert_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,        \
        "The certificate of tls_listen and https, as PEM, followed by the "    \
        "certificates that lead to its CA. This file and the two below are "   \
        "read again when they change. A relative path starts in the working "  \
        "directory of the daemon.")                                            \
    ROW(DAEMON, tls_key_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,         \
        "The private key of the certificate, as PEM, without a passphrase.")   \
    ROW(DAEMON, tls_ca_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,          \
        "The CA certificates that the certificates of clients are checked "    \
        "by, as PEM. Required unless tls_client_auth is \"none\".")            \
    ROW(DAEMON, tls_client_auth, CHOICE,                                       \
        ONE_OF("none, optional, required, user"), "none", ALL_ENGINES,         \
        "Whether a client needs a certificate. none: it is not asked for "     \
        "one. optional: it may have none. required: it is refused without "    \
        "one. user: it is also refused if its certificate belongs to no "      \
        "user. A certificate that is not valid is always refused.")            \
    ROW(DAEMON, tls_min_version, CHOICE, ONE_OF("1.2, 1.3"), "1.2",            \
        ALL_ENGINES, "The lowest version of TLS that is accepted.")            \
    ROW(DAEMON, stop_delay, DURATION, "0s", "1h", "0s", ALL_ENGINES,           \
        "How long seqbrokerd keeps serving after it was asked to stop. "       \
        "During this time /readyz and SEQ.HEALTH report the stop, so that a "  \
        "balancer sends its clients elsewhere.")                               \
    ROW(DAEMON, stop_timeout, DURATION, "1ms", "1h", "3500ms", ALL_ENGINES,    \
        "How long a stop waits at most, after stop_delay, for clients that "   \
        "wait for a number, do not read, or have connected and sent nothing "  \
        "yet.")                                                                \
    ROW(DAEMON, max_connections, INTEGER, "1", "1000000", "10000",             \
        ALL_ENGINES,                                                           \
        "How many clients may be connected at a time, including HTTP. "        \
        "Further ones are refused; root, the daemon's user and "               \
        "administrators have 16 more on unix sockets. The system's "           \
        "limit of open files can lower the number.")                           \
    ROW(DAEMON, max_connections_per_address, INTEGER, "0", "1000000", "0",     \
        ALL_ENGINES,                                                           \
        "How many clients of one address (IPv6: of a /64) may be connected "   \
        "at a time, including HTTP, and how many of one uid at unix "          \
        "sockets; 0: no limit.")                                               \
    ROW(DAEMON, max_client_memory, INTEGER, "1", "65536 MiB", "32",            \
        ALL_ENGINES,                                                           \
        "How many MiB the daemon may hold for clients: answers that they do "  \
        "not read, requests that they do not finish, and 16 KiB for each "     \
        "connection by TLS. Above it, long answers are refused with OOM, "     \
        "large requests wait, and connections by TLS are refused.")            \
    ROW(DAEMON, client_timeout, DURATION, "0s", "1d", "1m", ALL_ENGINES,       \
        "A client is disconnected if it does not finish a request in this "    \
        "time, or reads neither 64 KiB of its answers nor all; 0s: never.")    \
    ROW(DAEMON, idle_timeout, DURATION, "0s", "7d", "0s", ALL_ENGINES,         \
        "A client is disconnected if it sends nothing for this time; 0s: "     \
        "never.")                                                              \
    ROW(DAEMON, login_timeout, DURATION, "0s", "1h", "10s", ALL_ENGINES,       \
        "A client of the Redis protocol that has to log in is disconnected "   \
        "if it does not within this time; 0s: never.")                         \
    ROW(DAEMON, on_event, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,             \
        "The absolute path of a program that is run for each alarm. It gets "  \
        "the alarm as JSON on stdin: see alarms.md.")                          \
    ROW(DAEMON, webhook, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,              \
        "A URL, https://... or http://..., to which each alarm is posted as "  \
        "JSON.")                                                               \
    ROW(DAEMON, webhook_ca_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,      \
        "The trusted certificates for the webhook; by default the system's. "  \
        "A relative path starts in the working directory of the daemon.")      \
    ROW(DAEMON, alarm_level, CHOICE, ONE_OF("error, warn"), "warn",            \
        ALL_ENGINES, "The lowest level of an event that is an alarm.")         \
    ROW(DAEMON, alarm_reminder, DURATION, "1m", "7d", "1h", ALL_ENGINES,       \
        "After how long an alarm is sent again, while its state lasts.")       \
    ROW(DAEMON, log_level, CHOICE, ONE_OF("error, warn, info, debug"), "info", \
        ALL_ENGINES,                                                           \
        "The lowest level that seqbrokerd logs. Lines of the audit have any: " \
        "see secure.md. The option --log-level takes precedence.")             \
    ROW(DAEMON, open_to_all, BOOLEAN, NO_RANGE, "false", ALL_ENGINES,          \
        "Whether clients that are not logged in may take numbers, even at an " \
        "address that is not a loopback address: see secure.md.")              \
    ROW(DAEMON, open_metrics, BOOLEAN, NO_RANGE, "false", ALL_ENGINES,         \
        "Whether /metrics needs no login, even if there are users.")           \
    ROW(DAEMON, audit_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,           \
        "The absolute path of a file that gets a line for each order, each "   \
        "refused order and each refused login, in addition to the log.")       \
    ROW(USERS, name, NAME, ONE_OF(LETTERS_NAME), SCHEMA_REQUIRED, ALL_ENGINES, \
        "The name of the user. Clients that are not logged in are the user "   \
        "\"default\", if there is one without a password, token and "          \
        "certificate.")                                                        \
    ROW(USERS, role, CHOICE, ONE_OF("read, take, admin"), SCHEMA_REQUIRED,     \
        ALL_ENGINES,                                                           \
        "What the user may do. read: look. take: also take numbers. admin: "   \
        "also give orders.")                                                   \
    ROW(USERS, keys, PATTERNS, ONE_OF(LETTERS_PATTERN), NO_DEFAULT,            \
        ALL_ENGINES,                                                           \
        "The keys that the user may use, as [ \"order*\", \"shop:*\" ]; * is " \
        "any text, ? one character. By default all keys.")                     \
    ROW(USERS, password_hash, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,         \
        "The hash of the user's password, as seqctl password prints it.")      \
    ROW(USERS, password_hash_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,    \
        "A file with that hash, readable by its owner alone. A relative path " \
        "starts in the folder of the topology file.")                          \
    ROW(USERS, token_hash, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,            \
        "The hash of the user's token, as seqctl token prints it.")            \
    ROW(USERS, certificate, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,           \
        "A TLS client whose certificate has this name is this user. The name " \
        "is the common name, or \"DNS:...\", \"email:...\" or \"URI:...\" "    \
        "for an alternative name. See tls.md.")                                \
    ROW(USERS, uids, LABELS, NO_RANGE, NO_DEFAULT, ALL_ENGINES,                \
        "Users of the system, names or numbers. Their processes are this "     \
        "user on the unix socket.")                                            \
    ROW(USERS, gids, LABELS, NO_RANGE, NO_DEFAULT, ALL_ENGINES,                \
        "Groups of the system, names or numbers. Their processes are this "    \
        "user on the unix socket.")                                            \
    ROW(USERS, max_connections, INTEGER, "0", "1000000", "0", ALL_ENGINES,     \
        "How many connections the user may have at a time, including "         \
        "HTTP; 0: no limit.")                                                  \
    LIMIT_ROWS(ROW, USERS)                                                     \
    ROW(KEY_LIMITS, name, NAME, ONE_OF(LETTERS_NAME), SCHEMA_REQUIRED,         \
        ALL_ENGINES,                                                           \
        "The name of the group in seqctl reload and seqctl show config.")      \
    ROW(KEY_LIMITS, keys, PATTERNS, ONE_OF(LETTERS_PATTERN), SCHEMA_REQUIRED,  \
        ALL_ENGINES,                                                           \
        "The keys that the group limits, as [ \"order*\" ]; * is any text, ? " \
        "one character. Each key has the limits below for itself, shared by "  \
        "all clients. If several groups match a key, the first one counts.")   \
    LIMIT_ROWS(ROW, KEY_LIMITS)
