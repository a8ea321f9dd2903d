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
        "Numbers a second; 0: no limit. Requests for more are refused with "   \
        "LIMIT: see secure.md.")                                               \
    ROW(section, burst, INTEGER, "0", "1000000000", "0", ALL_ENGINES,          \
        "Numbers at once, if there is a rate; 0: as many as rate.")            \
    ROW(section, daily_limit, INTEGER, "0", "1000000000000000", "0",           \
        ALL_ENGINES,                                                           \
        "Numbers a day, which begins at 0:00 UTC; 0: no limit. A daemon that " \
        "is started counts its day from 0.")

#define DAEMON_ROWS(ROW)                                                       \
    ROW(DAEMON, listen, ADDRESSES, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,        \
        ALL_ENGINES,                                                           \
        "Where seqbrokerd serves Redis clients by TCP, [ ] for none. "         \
        "Without it at 127.0.0.1:7379. --listen goes before it.")              \
    ROW(DAEMON, socket, PATHS, NO_RANGE, NO_DEFAULT, ALL_ENGINES,              \
        "Its unix sockets, [ ] for none. Without it seqbrokerd.sock in the "   \
        "state directory. --socket goes before it. A relative one begins "     \
        "where the daemon was started.")                                       \
    ROW(DAEMON, socket_mode, CHOICE, ONE_OF("0600, 0660, 0666"), "0660",       \
        ALL_ENGINES,                                                           \
        "Who may connect to the unix sockets: their owner, its group too, or " \
        "everybody on the machine.")                                           \
    ROW(DAEMON, socket_group, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,         \
        "The group of the unix sockets, a name or a number. Without it that "  \
        "of the daemon's process.")                                            \
    ROW(DAEMON, http, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,                 \
        "Where seqbrokerd serves HTTP, \"host:port\". Without it nowhere. "    \
        "--http goes before it.")                                              \
    ROW(DAEMON, tls_listen, ADDRESSES, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,    \
        ALL_ENGINES,                                                           \
        "Where seqbrokerd serves Redis clients by TLS. Without it nowhere. "   \
        "--tls-listen goes before it. See tls.md.")                            \
    ROW(DAEMON, https, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,                \
        "Where seqbrokerd serves HTTP by TLS, \"host:port\". Without it "      \
        "nowhere. --https goes before it.")                                    \
    ROW(DAEMON, tls_cert_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,        \
        "The certificate of tls_listen and https, as PEM, with those that "    \
        "lead to its CA behind it. This file and the two below are read "      \
        "again when they change. A relative path begins where the daemon was " \
        "started.")                                                            \
    ROW(DAEMON, tls_key_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,         \
        "Its private key, as PEM, without a passphrase.")                      \
    ROW(DAEMON, tls_ca_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,          \
        "The certificates of the CAs that clients' certificates are "          \
        "checked by, as PEM. Required unless tls_client_auth is \"none\".")    \
    ROW(DAEMON, tls_client_auth, CHOICE,                                       \
        ONE_OF("none, optional, required, user"), "none", ALL_ENGINES,         \
        "Whether clients are asked for a certificate, and whether one who "    \
        "has none is refused; with \"user\" also one whose certificate "       \
        "belongs to no user. One that is not valid is always refused.")        \
    ROW(DAEMON, tls_min_version, CHOICE, ONE_OF("1.2, 1.3"), "1.2",            \
        ALL_ENGINES, "The lowest version of TLS that is spoken.")              \
    ROW(DAEMON, stop_delay, DURATION, "0s", "1h", "0s", ALL_ENGINES,           \
        "How long seqbrokerd serves on after it was asked to stop, while "     \
        "/readyz and SEQ.HEALTH say that it will, so that a balancer sends "   \
        "its clients elsewhere first.")                                        \
    ROW(DAEMON, stop_timeout, DURATION, "1ms", "1h", "5s", ALL_ENGINES,        \
        "How long a stop then waits at most for clients that wait for a "      \
        "number, do not read, or have connected and not said anything yet.")   \
    ROW(DAEMON, max_connections, INTEGER, "1", "1000000", "10000",             \
        ALL_ENGINES,                                                           \
        "Clients that may be connected at a time, those of HTTP included. "    \
        "Further ones are refused; unix sockets have 16 more. Fewer if the "   \
        "system's limit of open files leaves no more.")                        \
    ROW(DAEMON, max_connections_per_address, INTEGER, "0", "1000000", "0",     \
        ALL_ENGINES,                                                           \
        "Clients of one address (of IPv6: of a /64) that may be connected at " \
        "a time, those of HTTP included; 0: no limit.")                        \
    ROW(DAEMON, max_client_memory, INTEGER, "1", "65536", "32", ALL_ENGINES,   \
        "MiB that clients may make the daemon hold: answers that they do not " \
        "read, requests that they do not finish. Past that long answers are "  \
        "refused with OOM, and large requests wait.")                          \
    ROW(DAEMON, client_timeout, DURATION, "0s", "1d", "1m", ALL_ENGINES,       \
        "A client is disconnected that does not finish a request in this "     \
        "time, or reads nothing of its answers for so long; 0s: never.")       \
    ROW(DAEMON, idle_timeout, DURATION, "0s", "7d", "0s", ALL_ENGINES,         \
        "A client is disconnected that says nothing for so long; 0s: never.")  \
    ROW(DAEMON, on_event, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,             \
        "A program that is run for each alarm, by its absolute path, with "    \
        "the "                                                                 \
        "alarm as JSON on its stdin: see alarms.md.")                          \
    ROW(DAEMON, webhook, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,              \
        "A URL, https://... or http://..., that each alarm is posted to as "   \
        "JSON.")                                                               \
    ROW(DAEMON, webhook_ca_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,      \
        "The certificates that are trusted for the webhook; the system's if "  \
        "left out. A relative path begins where the daemon was started.")      \
    ROW(DAEMON, alarm_level, CHOICE, ONE_OF("error, warn"), "warn",            \
        ALL_ENGINES, "The lowest level of an event that is an alarm.")         \
    ROW(DAEMON, alarm_reminder, DURATION, "1m", "7d", "1h", ALL_ENGINES,       \
        "How long after an alarm it is sent again, while its state lasts.")    \
    ROW(DAEMON, log_level, CHOICE, ONE_OF("error, warn, info, debug"), "info", \
        ALL_ENGINES,                                                           \
        "The lowest level of what seqbrokerd logs. --log-level goes before "   \
        "it.")                                                                 \
    ROW(DAEMON, open_to_all, BOOLEAN, NO_RANGE, "false", ALL_ENGINES,          \
        "Whether everybody who reaches an address may take numbers without "   \
        "logging in, though it is not of loopback: see secure.md.")            \
    ROW(DAEMON, open_metrics, BOOLEAN, NO_RANGE, "false", ALL_ENGINES,         \
        "Whether /metrics is answered without logging in, though there are "   \
        "users.")                                                              \
    ROW(DAEMON, audit_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,           \
        "A file to which a line is appended for each order and each refused "  \
        "login, beside the log. An absolute path.")                            \
    ROW(USERS, name, NAME, ONE_OF(LETTERS_NAME), SCHEMA_REQUIRED, ALL_ENGINES, \
        "Its name. Who is not logged in is \"default\", if there is one "      \
        "without a password and a token.")                                     \
    ROW(USERS, role, CHOICE, ONE_OF("read, take, admin"), SCHEMA_REQUIRED,     \
        ALL_ENGINES,                                                           \
        "What it may do: look; take numbers, too; give orders, too.")          \
    ROW(USERS, keys, PATTERNS, ONE_OF(LETTERS_PATTERN), NO_DEFAULT,            \
        ALL_ENGINES,                                                           \
        "The keys that it may use, as [ \"order*\", \"shop:*\" ]; * is any "   \
        "text, ? one letter. All if left out.")                                \
    ROW(USERS, password_hash, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,         \
        "The hash of its password, as seqctl password prints it.")             \
    ROW(USERS, password_hash_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,    \
        "A file with that hash, readable by its owner alone. A relative one "  \
        "is in the folder of the topology file.")                              \
    ROW(USERS, token_hash, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,            \
        "The hash of its token, as seqctl token prints it.")                   \
    ROW(USERS, certificate, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,           \
        "A client of TLS whose certificate has this name is this user: the "   \
        "common name, or \"DNS:...\", \"email:...\" or \"URI:...\" for an "    \
        "alternative name. See tls.md.")                                       \
    ROW(USERS, uids, LABELS, NO_RANGE, NO_DEFAULT, ALL_ENGINES,                \
        "Processes of these users of the system, names or numbers, are this "  \
        "user on the unix socket.")                                            \
    ROW(USERS, gids, LABELS, NO_RANGE, NO_DEFAULT, ALL_ENGINES,                \
        "The same for processes of these groups.")                             \
    ROW(USERS, max_connections, INTEGER, "0", "1000000", "0", ALL_ENGINES,     \
        "Connections by the Redis protocol that it may have at a time; 0: no " \
        "limit.")                                                              \
    LIMIT_ROWS(ROW, USERS)                                                     \
    ROW(KEY_LIMITS, name, NAME, ONE_OF(LETTERS_NAME), SCHEMA_REQUIRED,         \
        ALL_ENGINES,                                                           \
        "Its name, as seqctl reload and seqctl show config write it.")         \
    ROW(KEY_LIMITS, keys, PATTERNS, ONE_OF(LETTERS_PATTERN), SCHEMA_REQUIRED,  \
        ALL_ENGINES,                                                           \
        "The keys that it is of, as [ \"order*\" ]; * is any text, ? one "     \
        "letter. Each has the limits below by itself, whoever asks. Of "       \
        "several groups the first one that a key matches counts.")             \
    LIMIT_ROWS(ROW, KEY_LIMITS)
