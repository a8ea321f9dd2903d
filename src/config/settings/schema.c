/* SPDX-License-Identifier: Apache-2.0 */
/* The table itself. To add a setting, add a row here and a member to its draft
 * struct, and use it in build.c. */
#include "config/config.h"
#include "config/settings/settings.h"

#include <string.h>

#include "config/settings/schema_daemon.h"
#include "platform/text.h"

#define LETTERS_NAME    "1 to 32 of A-Z a-z 0-9 _ -"
#define LETTERS_ADDRESS "host:port"
#define LETTERS_KEY     "1 to 64 of A-Z a-z 0-9 . _ : -"
#define LETTERS_PATTERN LETTERS_KEY ", * and ?"
#define WRITTEN_DATE    "a date YYYY-MM-DD, from 1970 on"
#define WRITTEN_DAY     "MM-DD, the day 01 to 28"
#define NO_RANGE        "", ""
#define ONE_OF(list)    list, ""
#define ALL_ENGINES     ""
#define NO_DEFAULT      ""
#define SOCKETS         "redis, memcached, mysql-row, mysql-autoinc, postgres"
#define SERVERS         SOCKETS ", etcd"
#define DATABASES       "redis, mysql-row, mysql-autoinc, postgres"
#define LOGINS          DATABASES ", etcd"

/* Settings of both a listed sequence and auto_sequences. */
#define SEQUENCE_ROWS(ROW, section)                                            \
    ROW(section, pool, NAME, ONE_OF(LETTERS_NAME), NO_DEFAULT, ALL_ENGINES,    \
        "The pool of its numbers. It may be left out if there is only one "    \
        "pool.")                                                               \
    ROW(section, memory_bits, INTEGER, "0", "20", "3", ALL_ENGINES,            \
        "One counter value yields 2^memory_bits numbers in memory. Part of "   \
        "the layout: it cannot be changed once numbers were taken.")           \
    ROW(section, window_bits, INTEGER, "8", "40", NO_DEFAULT, ALL_ENGINES,     \
        "A window of the sequence holds 2^window_bits counter values, "        \
        "instead of those of the pool. Small windows leave room in short "     \
        "numbers. Part of the layout.")                                        \
    ROW(section, deadline, DURATION, "1ms", "10m", "1s", ALL_ENGINES,          \
        "How long a caller waits at most for a number.")                       \
    ROW(section, runway, DURATION, "1ms", "1m", "50ms", ALL_ENGINES,           \
        "The broker holds as many numbers ahead as are used in this time.")    \
    ROW(section, max_unused, INTEGER, "1", "1073741824", "1000000",            \
        ALL_ENGINES,                                                           \
        "The most numbers that are held ahead. At least 2^memory_bits.")       \
    ROW(section, prefetch, BOOLEAN, NO_RANGE, "true", ALL_ENGINES,             \
        "Whether numbers are fetched ahead, or only when a caller waits.")     \
    ROW(section, idle_after, DURATION, "1s", "7d", "10m", ALL_ENGINES,         \
        "A sequence from which nothing was taken for this time keeps nothing " \
        "in memory. Its numbers go to the spool.")                             \
    ROW(section, period, CHOICE,                                               \
        ONE_OF("none, second, minute, hour, day, week, month, quarter, year"), \
        "none", ALL_ENGINES,                                                   \
        "Its numbers restart with each period. A number is unique together "   \
        "with its stamp. Part of the layout, see time.md.")                    \
    ROW(section, time_zone, TEXT, NO_RANGE, "UTC", ALL_ENGINES,                \
        "The time zone in which a period begins, by its IANA name, as "        \
        "\"Asia/Shanghai\". Part of the layout of a sequence with a period.")  \
    ROW(section, year_starts, DAY, ONE_OF(WRITTEN_DAY), "01-01", ALL_ENGINES,  \
        "When a period of a year or a quarter begins, as \"04-01\". Part of "  \
        "the layout.")                                                         \
    ROW(section, keep_periods, INTEGER, "2", "1000000", "10", ALL_ENGINES,     \
        "The stores keep the counters of at least this many past periods. No " \
        "counter younger than an hour is removed.")                            \
    ROW(section, ids, GROUP, NO_RANGE, NO_DEFAULT, ALL_ENGINES,                \
        "Its numbers are ids of time, shard and counter: see ids below.")      \
    ROW(section, snowflake, GROUP, NO_RANGE, NO_DEFAULT, ALL_ENGINES,          \
        "Its numbers are made of the time, a worker id and a count, without "  \
        "a counter in a store: see snowflake below.")                          \
    ROW(section, when_full, CHOICE, ONE_OF("wait, refuse"), "wait",            \
        ALL_ENGINES,                                                           \
        "What happens when the ids of one unit of time are used up. wait: "    \
        "callers wait for the next unit, within their deadline. refuse: they " \
        "are refused.")                                                        \
    ROW(section, template, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,            \
        "The text form of its numbers: text and fields, as "                   \
        "\"SN-@{date}-@{seq, width=6}\". See numbers.md. A reload accepts "    \
        "another template if no new text can equal an old one.")               \
    ROW(section, shuffle_key_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,    \
        "A file with the key of the template's shuffle: one line of 16 ... "   \
        "1024 characters, readable by its owner alone. A relative path "       \
        "starts in the folder of the topology file. Part of the layout: "      \
        "another key would make old codes again.")                             \
    ROW(section, js_safe, BOOLEAN, NO_RANGE, "false", ALL_ENGINES,             \
        "Keeps its numbers below 2^53. JavaScript and other programs that "    \
        "only have doubles read integers exactly up to there.")

/* ROW(section, name, type, low, high, default, engine, help) */
#define SCHEMA(ROW)                                                            \
    ROW(BROKER, name, NAME, ONE_OF(LETTERS_NAME), "seqbroker", ALL_ENGINES,    \
        "The broker's name in messages and status.")                           \
    ROW(BROKER, state_dir, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,            \
        "The folder of the broker's own files. $SEQBROKER_STATE_DIR takes "    \
        "precedence. By default $XDG_STATE_HOME/seqbroker, else "              \
        "~/.local/state/seqbroker. A relative path starts in the working "     \
        "directory of the broker.")                                            \
    ROW(BROKER, open_timeout, DURATION, "10ms", "5m", "10s", ALL_ENGINES,      \
        "How long a start waits for the backends to answer.")                  \
    ROW(BROKER, interval, DURATION, "1ms", "1s", "20ms", ALL_ENGINES,          \
        "The time between two checks of the stock of every sequence.")         \
    ROW(BROKER, spool, BOOLEAN, NO_RANGE, "true", ALL_ENGINES,                 \
        "Whether unused numbers are kept in the state directory over a clean " \
        "stop. Otherwise they become a gap.")                                  \
    ROW(BROKER, on_rollback, CHOICE, ONE_OF("hold, wait, refuse"), "hold",     \
        ALL_ENGINES,                                                           \
        "What happens when the machine's clock goes back. hold: sequences "    \
        "with a period stay on the last stamp. wait: callers wait until that " \
        "stamp has come again. refuse: callers are refused.")                  \
    ROW(BROKER, max_rollback, DURATION, "1s", "1d", "10m", ALL_ENGINES,        \
        "A clock that went back by more than this is refused, whatever "       \
        "on_rollback says.")                                                   \
    ROW(BROKER, max_ahead, DURATION, "1s", "5m", "5m", ALL_ENGINES,            \
        "A clock that is ahead of the stores' clocks by more than this is "    \
        "not believed.")                                                       \
    ROW(BROKER, clock_store, NAME, ONE_OF(LETTERS_NAME), NO_DEFAULT,           \
        ALL_ENGINES,                                                           \
        "A direct backend that also keeps the time up to which stamps were "   \
        "issued, in addition to the state directory. So a new machine knows "  \
        "it, too.")                                                            \
    ROW(BROKER, datacenter, INTEGER, "0", "1073741823", NO_DEFAULT,            \
        ALL_ENGINES,                                                           \
        "The number of this site in snowflakes that have datacenter_bits. "    \
        "All brokers of a site have the same number. Sites whose worker ids "  \
        "are leased by different stores have different numbers.")              \
    ROW(BACKENDS, name, NAME, ONE_OF(LETTERS_NAME), SCHEMA_REQUIRED,           \
        ALL_ENGINES, "Its name in pools, messages and status. Unique.")        \
    ROW(BACKENDS, engine, CHOICE, NO_RANGE, SCHEMA_REQUIRED, ALL_ENGINES,      \
        "The kind of store: sqlite, redis, memcached, mysql-row, "             \
        "mysql-autoinc, postgres or etcd; or an engine of your own.")          \
    ROW(BACKENDS, path, PATH, NO_RANGE, NO_DEFAULT, "sqlite",                  \
        "The database file, required. A relative path starts in the state "    \
        "directory.")                                                          \
    ROW(BACKENDS, host, TEXT, NO_RANGE, "127.0.0.1", SERVERS,                  \
        "The server's name or address.")                                       \
    ROW(BACKENDS, port, INTEGER, "1", "65535", NO_DEFAULT, SERVERS,            \
        "The server's port. By default 6379 for redis, 11211 for memcached, "  \
        "3306 for mysql, 5432 for postgres, 2379 for etcd.")                   \
    ROW(BACKENDS, socket, PATH, NO_RANGE, NO_DEFAULT, SOCKETS,                 \
        "The absolute path of the server's unix socket, instead of host and "  \
        "port. For postgres: of the folder that the socket is in.")            \
    ROW(BACKENDS, user, TEXT, NO_RANGE, NO_DEFAULT, LOGINS,                    \
        "The user to log in as.")                                              \
    ROW(BACKENDS, password_file, PATH, NO_RANGE, NO_DEFAULT, LOGINS,           \
        "A file with the password, readable by its owner alone. It is read "   \
        "at each connect, so a new password needs no restart. A relative "     \
        "path starts in the folder of the topology file.")                     \
    ROW(BACKENDS, password_env, TEXT, NO_RANGE, NO_DEFAULT, LOGINS,            \
        "The environment variable that holds the password.")                   \
    ROW(BACKENDS, password, TEXT, NO_RANGE, NO_DEFAULT, LOGINS,                \
        "The password itself. The file that contains it must be readable by "  \
        "its owner alone.")                                                    \
    ROW(BACKENDS, database, LABEL, NO_RANGE, NO_DEFAULT, DATABASES,            \
        "The name of the database, required for mysql. For redis the number "  \
        "of the database, 0 ... 65535, by default 0.")                         \
    ROW(BACKENDS, conninfo, TEXT, NO_RANGE, NO_DEFAULT, "postgres",            \
        "A connection string of libpq, instead of host, port, socket, user "   \
        "and database. It can have several hosts, sslmode and so on, but no "  \
        "service.")                                                            \
    ROW(BACKENDS, prefix, KEY, ONE_OF(LETTERS_KEY), "seqbroker",               \
        "redis, memcached, etcd", "The beginning of all keys in the store.")   \
    ROW(BACKENDS, sentinels, ADDRESSES, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,   \
        "redis",                                                               \
        "The sentinels that are asked for the master, as [ "                   \
        "\"10.0.0.3:26379\", ... ], instead of host and port.")                \
    ROW(BACKENDS, master_name, TEXT, NO_RANGE, NO_DEFAULT, "redis",            \
        "The name of the master at the sentinels. Required with sentinels.")   \
    ROW(BACKENDS, sentinel_user, TEXT, NO_RANGE, NO_DEFAULT, "redis",          \
        "The user to log in as at the sentinels; by default their default "    \
        "user.")                                                               \
    ROW(BACKENDS, sentinel_password_file, PATH, NO_RANGE, NO_DEFAULT, "redis", \
        "A file with the password of the sentinels, with the rules of "        \
        "password_file.")                                                      \
    ROW(BACKENDS, cluster, ADDRESSES, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,     \
        "redis",                                                               \
        "Some servers of a Redis Cluster, as [ \"10.0.0.3:6379\", ... ], "     \
        "instead of host and port. The other servers are learnt from them.")   \
    ROW(BACKENDS, endpoints, ADDRESSES, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,   \
        "etcd",                                                                \
        "The members of the cluster, as [ \"10.0.0.3:2379\", ... ], instead "  \
        "of host and port; at most 16. They are tried in turn.")               \
    ROW(BACKENDS, hosts, ADDRESSES, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,       \
        "mysql-row",                                                           \
        "The nodes of one MariaDB Galera cluster, as [ \"10.0.0.3:3306\", "    \
        "... ], instead of host, port and socket; at most 16. The first "      \
        "synced node is used. All brokers must list them in the same order. "  \
        "Servers that are not such nodes are refused.")                        \
    ROW(BACKENDS, table_format, TEXT, NO_RANGE, "%s_code_%d", "mysql-autoinc", \
        "The name of a counter's table. %s is the key, %d the partition; "     \
        "each is there once.")                                                 \
    ROW(BACKENDS, keep_rows, INTEGER, "1", "1099511627776", "1000000",         \
        "mysql-autoinc",                                                       \
        "A row is purged when its id is more than this below the newest id "   \
        "of its table, in small steps. The last row is never purged.")         \
    ROW(BACKENDS, tls, CHOICE, ONE_OF("off, require, verify"), "off", SERVERS, \
        "off: no TLS. require: the connection is encrypted. verify: the "      \
        "server's certificate and name are checked, too. For redis this also " \
        "holds for its sentinels.")                                            \
    ROW(BACKENDS, tls_ca, PATH, NO_RANGE, NO_DEFAULT, SERVERS,                 \
        "The trusted certificates; by default the system's. A relative path "  \
        "starts in the folder of the topology file, also for the next two "    \
        "settings.")                                                           \
    ROW(BACKENDS, tls_cert, PATH, NO_RANGE, NO_DEFAULT, SERVERS,               \
        "The broker's own certificate.")                                       \
    ROW(BACKENDS, tls_key, PATH, NO_RANGE, NO_DEFAULT, SERVERS,                \
        "The key of tls_cert, readable by its owner alone.")                   \
    ROW(BACKENDS, parameters, TEXT, NO_RANGE, NO_DEFAULT,                      \
        "an engine of the service's own",                                      \
        "A text that the engine gets unchanged.")                              \
    ROW(BACKENDS, accept_loss, BOOLEAN, NO_RANGE, "false", ALL_ENGINES,        \
        "Whether a store is used although its settings lose commits in a "     \
        "crash. Numbers may then repeat; the status shows it.")                \
    ROW(BACKENDS, auto_create, BOOLEAN, NO_RANGE, "true", ALL_ENGINES,         \
        "Whether the broker makes the files and tables that it needs. "        \
        "Otherwise they must exist, as in sql/.")                              \
    ROW(BACKENDS, connect_timeout, DURATION, "10ms", "1m", "1s", ALL_ENGINES,  \
        "How long connecting may take.")                                       \
    ROW(POOLS, name, NAME, ONE_OF(LETTERS_NAME), SCHEMA_REQUIRED, ALL_ENGINES, \
        "Its name in sequences, messages and status. Unique. Part of the "     \
        "layout.")                                                             \
    ROW(POOLS, generation, INTEGER, "1", "1000000", "1", ALL_ENGINES,          \
        "The number of the current layout. To change a setting that is part "  \
        "of the layout, raise it by one and run `seqctl migrate`. Never "      \
        "change it otherwise.")                                                \
    ROW(POOLS, partitions, NAMES, ONE_OF(LETTERS_NAME), SCHEMA_REQUIRED,       \
        ALL_ENGINES,                                                           \
        "The backends of the partitions: 1, 2, 4, ... 64 of them, each in "    \
        "one partition only. Number and order are part of the layout.")        \
    ROW(POOLS, authority, NAME, ONE_OF(LETTERS_NAME), NO_DEFAULT, ALL_ENGINES, \
        "The backend that leases windows and worker ids, of a direct engine: " \
        "sqlite, mysql-row, mysql-autoinc, postgres, etcd. Or "                \
        "\"neighbours\": every partition counts in windows; two or more "      \
        "partitions of these engines lease the windows and the worker ids, "   \
        "and know what the others leased. This is the default if three or "    \
        "more such partitions are each on a server of their own. Or "          \
        "\"none\": no window is leased. A pool with a windowed partition "     \
        "(redis, memcached) needs an authority. Part of the layout.")          \
    ROW(POOLS, windows, CHOICE, ONE_OF("needed, all"), "needed", ALL_ENGINES,  \
        "Which partitions count in windows that the authority leases. "        \
        "needed: those whose stores may forget. all: all but the "             \
        "authority's, so that any other store may be put back to any older "   \
        "state. Part of the layout.")                                          \
    ROW(POOLS, window_bits, INTEGER, "8", "40", "20", ALL_ENGINES,             \
        "A window holds 2^window_bits counter values. With authority = "       \
        "\"neighbours\" the default is 8, or 10 if two partitions lease or "   \
        "one is a memcached. Part of the layout.")                             \
    ROW(POOLS, timeout, DURATION, "1ms", "1m", "200ms", ALL_ENGINES,           \
        "A call to a backend that takes longer than this counts as slow.")     \
    ROW(POOLS, slow_count, INTEGER, "1", "64", "3", ALL_ENGINES,               \
        "This many slow calls within slow_window quarantine the partition.")   \
    ROW(POOLS, slow_window, DURATION, "1s", "1d", "60s", ALL_ENGINES,          \
        "See slow_count.")                                                     \
    ROW(POOLS, rescue, CHOICE, ONE_OF("backoff, fixed"), "backoff",            \
        ALL_ENGINES,                                                           \
        "When a quarantined partition is probed. backoff: after 100 ms, then " \
        "after twice as long each time, up to rescue_after. fixed: after "     \
        "rescue_after each time.")                                             \
    ROW(POOLS, rescue_after, DURATION, "100ms", "1d", "300s", ALL_ENGINES,     \
        "See rescue.")                                                         \
    ROW(POOLS, check_interval, DURATION, "100ms", "1d", "1500ms", ALL_ENGINES, \
        "A store that was not asked for this time is looked at: one claim is " \
        "read. A look that fails counts like any failed call.")                \
    ROW(POOLS, failover_gap, INTEGER, "0", "1099511627776", "1000000",         \
        ALL_ENGINES,                                                           \
        "A direct counter whose store changed is raised by this many values. " \
        "They must be more than the store can have lost. The largest value "   \
        "that any broker of the pool had applies. To lower it, restart each "  \
        "broker. 0 is permitted only without direct partitions.")              \
    ROW(SEQUENCES, key, KEY, ONE_OF(LETTERS_KEY), SCHEMA_REQUIRED,             \
        ALL_ENGINES, "The key that callers ask for. Unique.")                  \
    SEQUENCE_ROWS(ROW, SEQUENCES)                                              \
    ROW(SEQUENCES, warm, BOOLEAN, NO_RANGE, "false", ALL_ENGINES,              \
        "Whether a start waits until numbers are at hand, at most for the "    \
        "broker's open_timeout.")                                              \
    ROW(AUTOMATIC, pattern, TEXT, NO_RANGE, SCHEMA_REQUIRED, ALL_ENGINES,      \
        "A key that matches gets its sequence when it is first asked for: * "  \
        "is any text, ? any character, [a-z] one of several.")                 \
    ROW(AUTOMATIC, limit, INTEGER, "1", "1000000", "10000", ALL_ENGINES,       \
        "The most sequences that are made this way.")                          \
    SEQUENCE_ROWS(ROW, AUTOMATIC)                                              \
    ROW(IDS, epoch, DATE, ONE_OF(WRITTEN_DATE), "2020-01-01", ALL_ENGINES,     \
        "The day, UTC, from which the time of the ids is counted.")            \
    ROW(IDS, time, INTEGER, "1", "62", "32", ALL_ENGINES,                      \
        "Bits for the time, the highest bits of an id.")                       \
    ROW(IDS, unit, CHOICE, ONE_OF("s, minute, hour, day"), "s", ALL_ENGINES,   \
        "The unit of the time. It is also the sequence's period.")             \
    ROW(IDS, shard, INTEGER, "0", "61", "12", ALL_ENGINES,                     \
        "Bits for the shard that the caller passes.")                          \
    ROW(IDS, counter, INTEGER, "1", "62", "19", ALL_ENGINES,                   \
        "Bits for the count within one unit of time, the lowest bits of an "   \
        "id.")                                                                 \
    ROW(SNOWFLAKE, epoch, DATE, ONE_OF(WRITTEN_DATE), "2020-01-01",            \
        ALL_ENGINES,                                                           \
        "The day, UTC, from which the time is counted, in ms, in the highest " \
        "bits. All snowflakes of a pool share one worker id. So the settings " \
        "of this group must be the same for all of them, and for all "         \
        "brokers.")                                                            \
    ROW(SNOWFLAKE, datacenter_bits, INTEGER, "0", "30", "0", ALL_ENGINES,      \
        "Bits for the broker's datacenter; 0: there is one site.")             \
    ROW(SNOWFLAKE, worker_bits, INTEGER, "1", "30", "10", ALL_ENGINES,         \
        "Bits for the worker id. Each broker leases one from the pool's "      \
        "authority or from neighbours, or else from the pool's first direct "  \
        "partition.")                                                          \
    ROW(SNOWFLAKE, counter_bits, INTEGER, "1", "40", "12", ALL_ENGINES,        \
        "Bits for the count within one ms, the lowest bits of an id.")         \
    ROW(SNOWFLAKE, lease, DURATION, "1s", "1h", "10s", ALL_ENGINES,            \
        "How long a worker id is leased for, the same for all brokers; to "    \
        "change it, see guarantees.md. It is renewed long before the "         \
        "end.")                                                                \
    DAEMON_ROWS(ROW)

/* The sections' names and structs. */
#define GROUP_BROKER      "broker"
#define GROUP_BACKENDS    "backends"
#define GROUP_POOLS       "pools"
#define GROUP_SEQUENCES   "sequences"
#define GROUP_AUTOMATIC   "auto_sequences"
#define GROUP_IDS         "ids"
#define GROUP_SNOWFLAKE   "snowflake"
#define GROUP_DAEMON      "daemon"
#define GROUP_USERS       "users"
#define GROUP_KEY_LIMITS  "key_limits"
#define STRUCT_BROKER     struct draft_broker
#define STRUCT_BACKENDS   struct draft_backend
#define STRUCT_POOLS      struct draft_pool
#define STRUCT_SEQUENCES  struct draft_sequence
#define STRUCT_AUTOMATIC  struct draft_sequence
#define STRUCT_IDS        struct draft_ids
#define STRUCT_SNOWFLAKE  struct draft_snowflake
#define STRUCT_DAEMON     struct draft_daemon
#define STRUCT_USERS      struct draft_user
#define STRUCT_KEY_LIMITS struct draft_key_limit

#define WORDS_TEXT      "text"
#define WORDS_LABEL     "text or integer"
#define WORDS_ADDRESSES "list of addresses"
#define WORDS_PATHS     "path, or list of paths"
#define WORDS_LISTEN    "address, or list of addresses"
#define WORDS_PATTERNS  "list of key patterns"
#define WORDS_LABELS    "list of names or numbers"
#define WORDS_NAME      "name"
#define WORDS_KEY       "key"
#define WORDS_PATH      "path"
#define WORDS_CHOICE    "choice"
#define WORDS_DATE      "date"
#define WORDS_DAY       "day of a year"
#define WORDS_GROUP     "group"
#define WORDS_NAMES     "list of names"
#define WORDS_INTEGER   "integer"
#define WORDS_BOOLEAN   "boolean"
#define WORDS_DURATION  "duration"

static const struct schema_row rows[] = {
#define SCHEMA_ROW(section, name, type, ...)                                   \
    {#name, SCHEMA_##section, SCHEMA_##type, offsetof(STRUCT_##section, name), \
     SCHEMA_ROW_REST(__VA_ARGS__)},
#define SCHEMA_ROW_REST(low, high, initial, engine, help)                      \
    low, high, initial, engine
    SCHEMA(SCHEMA_ROW)};

static const struct seqb_setting settings[] = {
#define SETTING(section, name, type, ...)                                      \
    {GROUP_##section, #name, WORDS_##type, SETTING_REST(__VA_ARGS__)},
#define SETTING_REST(low, high, initial, engine, help)                         \
    sizeof(high) > 1 ? low " ... " high : (low), initial,                      \
        sizeof(engine) > 1 ? help " (Only " engine ".)" : (help)
    SCHEMA(SETTING)};

static const struct schema_group groups[SCHEMA_SECTIONS] = {
    [SCHEMA_BROKER] = {GROUP_BROKER, "broker", false, false,
                       sizeof(STRUCT_BROKER)},
    [SCHEMA_BACKENDS] = {GROUP_BACKENDS, "backend", true, false,
                         sizeof(STRUCT_BACKENDS)},
    [SCHEMA_POOLS] = {GROUP_POOLS, "pool", true, false, sizeof(STRUCT_POOLS)},
    [SCHEMA_SEQUENCES] = {GROUP_SEQUENCES, "sequence", true, false,
                          sizeof(STRUCT_SEQUENCES)},
    [SCHEMA_AUTOMATIC] = {GROUP_AUTOMATIC, GROUP_AUTOMATIC, false, false,
                          sizeof(STRUCT_AUTOMATIC)},
    [SCHEMA_IDS] = {GROUP_IDS, GROUP_IDS, false, true, sizeof(STRUCT_IDS)},
    [SCHEMA_SNOWFLAKE] = {GROUP_SNOWFLAKE, GROUP_SNOWFLAKE, false, true,
                          sizeof(STRUCT_SNOWFLAKE)},
    [SCHEMA_DAEMON] = {GROUP_DAEMON, GROUP_DAEMON, false, false,
                       sizeof(STRUCT_DAEMON)},
    [SCHEMA_USERS] = {GROUP_USERS, "user", true, false, sizeof(STRUCT_USERS)},
    [SCHEMA_KEY_LIMITS] = {GROUP_KEY_LIMITS, "key limit", true, false,
                           sizeof(STRUCT_KEY_LIMITS)},
};

const struct schema_row *schema_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

/* Index of the first row of this section or a later one. The rows are sorted by
 * section. */
static size_t first_row(enum schema_section section)
{
    size_t low = 0;
    size_t high = sizeof rows / sizeof rows[0];

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (rows[middle].section < section)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct schema_row *schema_rows_of(enum schema_section section,
                                        size_t *count)
{
    const size_t first = first_row(section);

    *count = first_row((enum schema_section)(section + 1)) - first;
    return &rows[first];
}

bool schema_is_required(const struct schema_row *row)
{
    return row->initial[0] == SCHEMA_REQUIRED[0] &&
           strcmp(row->initial, SCHEMA_REQUIRED) == 0;
}

const struct schema_group *schema_group(enum schema_section section)
{
    return &groups[section];
}

bool schema_is_list(const struct schema_row *row)
{
    return row->type >= SCHEMA_NAMES && row->type <= SCHEMA_LABELS;
}

enum schema_section schema_nested(const struct schema_row *row)
{
    int section = 0;

    while (!groups[section].is_nested ||
           strcmp(groups[section].name, row->name) != 0)
        section++;
    return (enum schema_section)section;
}

static int64_t bound(const struct schema_row *row, const char *text)
{
    int64_t value = 0;

    if (row->type == SCHEMA_DURATION)
        (void)duration_parse(text, &value);
    else
        (void)text_to_int64(text, strcspn(text, " "), &value);
    return value;
}

void schema_range(const struct schema_row *row, int64_t *low, int64_t *high)
{
    *low = bound(row, row->low);
    *high = bound(row, row->high);
}

const struct seqb_setting *config_settings(size_t *count)
{
    *count = sizeof settings / sizeof settings[0];
    return settings;
}
