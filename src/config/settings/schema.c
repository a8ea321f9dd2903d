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
        "The pool its numbers come from. May be left out if there is only "    \
        "one.")                                                                \
    ROW(section, memory_bits, INTEGER, "0", "20", "3", ALL_ENGINES,            \
        "One counter value yields 2^memory_bits numbers in memory. Part of "   \
        "the layout: it cannot be changed once numbers were taken.")           \
    ROW(section, window_bits, INTEGER, "8", "40", NO_DEFAULT, ALL_ENGINES,     \
        "Its windows hold 2^window_bits counter values, in the place of "      \
        "those "                                                               \
        "of the pool: small ones leave room in short numbers. Part of the "    \
        "layout.")                                                             \
    ROW(section, deadline, DURATION, "1ms", "10m", "1s", ALL_ENGINES,          \
        "How long a caller waits at most for a number.")                       \
    ROW(section, runway, DURATION, "1ms", "1m", "50ms", ALL_ENGINES,           \
        "Hold as many numbers ahead as are used up in this time.")             \
    ROW(section, max_unused, INTEGER, "1", "1073741824", "1000000",            \
        ALL_ENGINES,                                                           \
        "Never hold more numbers than this ahead. At least 2^memory_bits.")    \
    ROW(section, prefetch, BOOLEAN, NO_RANGE, "true", ALL_ENGINES,             \
        "Whether numbers are fetched ahead, or only when somebody waits.")     \
    ROW(section, idle_after, DURATION, "1s", "7d", "10m", ALL_ENGINES,         \
        "A sequence that nobody takes of for so long keeps nothing in "        \
        "memory: what it holds goes to the spool.")                            \
    ROW(section, period, CHOICE,                                               \
        ONE_OF("none, second, minute, hour, day, week, month, quarter, year"), \
        "none", ALL_ENGINES,                                                   \
        "Its numbers begin afresh with each of these; unique is the number "   \
        "together with its stamp. Part of the layout, see time.md.")           \
    ROW(section, time_zone, TEXT, NO_RANGE, "UTC", ALL_ENGINES,                \
        "The time zone in which a period begins, by its IANA name, as "        \
        "\"Asia/Shanghai\".")                                                  \
    ROW(section, year_starts, DAY, ONE_OF(WRITTEN_DAY), "01-01", ALL_ENGINES,  \
        "When a period of a year or a quarter begins, as \"04-01\". Part of "  \
        "the layout.")                                                         \
    ROW(section, keep_periods, INTEGER, "2", "1000000", "10", ALL_ENGINES,     \
        "The counters of so many periods that are over are kept in the "       \
        "stores, at least, and none younger than an hour is removed.")         \
    ROW(section, ids, GROUP, NO_RANGE, NO_DEFAULT, ALL_ENGINES,                \
        "Its numbers become ids of time, shard and counter: see ids below.")   \
    ROW(section, snowflake, GROUP, NO_RANGE, NO_DEFAULT, ALL_ENGINES,          \
        "Its numbers are made of the time, a worker id and a count, without "  \
        "a counter in a store: see snowflake below.")                          \
    ROW(section, when_full, CHOICE, ONE_OF("wait, refuse"), "wait",            \
        ALL_ENGINES,                                                           \
        "When the ids of one unit of time are used up: whether callers wait "  \
        "for the next, within their deadline, or are refused.")                \
    ROW(section, template, TEXT, NO_RANGE, NO_DEFAULT, ALL_ENGINES,            \
        "The text that its numbers become: text and fields, as "               \
        "\"SN-@{date}-@{seq, width=6}\". See numbers.md. A reload takes "      \
        "another one if no new text can equal an old one.")                    \
    ROW(section, shuffle_key_file, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,    \
        "The key of the template's shuffle: a file with one line of 16 ... "   \
        "1024 characters, readable by its owner alone. A relative one is in "  \
        "the folder of the topology file. Part of the layout: another key "    \
        "would make old codes again.")                                         \
    ROW(section, js_safe, BOOLEAN, NO_RANGE, "false", ALL_ENGINES,             \
        "Keeps its numbers below 2^53, up to which JavaScript and others "     \
        "that know doubles alone read integers right.")

/* ROW(section, name, type, low, high, default, engine, help) */
#define SCHEMA(ROW)                                                            \
    ROW(BROKER, name, NAME, ONE_OF(LETTERS_NAME), "seqbroker", ALL_ENGINES,    \
        "The broker's name in messages and status.")                           \
    ROW(BROKER, state_dir, PATH, NO_RANGE, NO_DEFAULT, ALL_ENGINES,            \
        "The folder of what the broker keeps. $SEQBROKER_STATE_DIR goes "      \
        "before it; without either it is $XDG_STATE_HOME/seqbroker, else "     \
        "~/.local/state/seqbroker. A relative one begins where the broker "    \
        "was started.")                                                        \
    ROW(BROKER, open_timeout, DURATION, "10ms", "5m", "10s", ALL_ENGINES,      \
        "How long a start waits for the backends to answer.")                  \
    ROW(BROKER, interval, DURATION, "1ms", "1s", "20ms", ALL_ENGINES,          \
        "The time between two looks at every sequence's stock.")               \
    ROW(BROKER, spool, BOOLEAN, NO_RANGE, "true", ALL_ENGINES,                 \
        "Whether unused numbers are kept in the state directory over a clean " \
        "stop. Else they become a gap.")                                       \
    ROW(BROKER, on_rollback, CHOICE, ONE_OF("hold, wait, refuse"), "hold",     \
        ALL_ENGINES,                                                           \
        "When the machine's clock goes back: sequences with a period stay on " \
        "the last stamp, or callers wait until it has come again, or they "    \
        "are refused.")                                                        \
    ROW(BROKER, max_rollback, DURATION, "1s", "1d", "10m", ALL_ENGINES,        \
        "A clock that went back farther is refused, whatever on_rollback.")    \
    ROW(BROKER, max_ahead, DURATION, "1s", "5m", "5m", ALL_ENGINES,            \
        "A clock that is farther ahead of the stores' clocks is not "          \
        "believed.")                                                           \
    ROW(BROKER, clock_store, NAME, ONE_OF(LETTERS_NAME), NO_DEFAULT,           \
        ALL_ENGINES,                                                           \
        "A direct backend that keeps up to when stamps were issued, beside "   \
        "the state directory, so that a new machine knows it, too.")           \
    ROW(BROKER, datacenter, INTEGER, "0", "1073741823", NO_DEFAULT,            \
        ALL_ENGINES,                                                           \
        "The number of this site in snowflakes that have datacenter_bits. "    \
        "Alike for all brokers of a site; sites whose worker ids are leased "  \
        "by stores of their own have numbers of their own.")                   \
    ROW(BACKENDS, name, NAME, ONE_OF(LETTERS_NAME), SCHEMA_REQUIRED,           \
        ALL_ENGINES, "Its name in pools, messages and status. Unique.")        \
    ROW(BACKENDS, engine, CHOICE, NO_RANGE, SCHEMA_REQUIRED, ALL_ENGINES,      \
        "What kind of store it is: sqlite, redis, memcached, mysql-row, "      \
        "mysql-autoinc, postgres or etcd; or an engine of the service's own.") \
    ROW(BACKENDS, path, PATH, NO_RANGE, NO_DEFAULT, "sqlite",                  \
        "The database file, required. A relative one is in the state "         \
        "directory.")                                                          \
    ROW(BACKENDS, host, TEXT, NO_RANGE, "127.0.0.1", SERVERS,                  \
        "The server's name or address.")                                       \
    ROW(BACKENDS, port, INTEGER, "1", "65535", NO_DEFAULT, SERVERS,            \
        "The server's port; the usual one of its kind if left out: 6379 "      \
        "redis, 11211 memcached, 3306 mysql, 5432 postgres, 2379 etcd.")       \
    ROW(BACKENDS, socket, PATH, NO_RANGE, NO_DEFAULT, SOCKETS,                 \
        "The server's unix socket, instead of host and port. An absolute "     \
        "path; for postgres the folder that it is in.")                        \
    ROW(BACKENDS, user, TEXT, NO_RANGE, NO_DEFAULT, LOGINS,                    \
        "Who to log in as.")                                                   \
    ROW(BACKENDS, password_file, PATH, NO_RANGE, NO_DEFAULT, LOGINS,           \
        "A file with the password, readable by its owner alone. It is read "   \
        "at each connect, so that a new password needs no restart. A "         \
        "relative one is in the folder of the topology file.")                 \
    ROW(BACKENDS, password_env, TEXT, NO_RANGE, NO_DEFAULT, LOGINS,            \
        "The variable of the environment that holds the password.")            \
    ROW(BACKENDS, password, TEXT, NO_RANGE, NO_DEFAULT, LOGINS,                \
        "The password itself: the file that it stands in must be readable by " \
        "its owner alone.")                                                    \
    ROW(BACKENDS, database, LABEL, NO_RANGE, NO_DEFAULT, DATABASES,            \
        "The database's name, required for mysql; the number of redis' "       \
        "database, 0 ... 65535, 0 if left out.")                               \
    ROW(BACKENDS, conninfo, TEXT, NO_RANGE, NO_DEFAULT, "postgres",            \
        "A connection string of libpq, instead of host, port, socket, user "   \
        "and database: several hosts, sslmode and the rest.")                  \
    ROW(BACKENDS, prefix, KEY, ONE_OF(LETTERS_KEY), "seqbroker",               \
        "redis, memcached, etcd", "What all keys in the store begin with.")    \
    ROW(BACKENDS, sentinels, ADDRESSES, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,   \
        "redis",                                                               \
        "The sentinels to ask for the master, as [ \"10.0.0.3:26379\", ... "   \
        "], instead of host and port.")                                        \
    ROW(BACKENDS, master_name, TEXT, NO_RANGE, NO_DEFAULT, "redis",            \
        "What the sentinels call the master. Required with sentinels.")        \
    ROW(BACKENDS, sentinel_user, TEXT, NO_RANGE, NO_DEFAULT, "redis",          \
        "Who to log in as at the sentinels; their default user if left out.")  \
    ROW(BACKENDS, sentinel_password_file, PATH, NO_RANGE, NO_DEFAULT, "redis", \
        "A file with the password of the sentinels, as password_file.")        \
    ROW(BACKENDS, cluster, ADDRESSES, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,     \
        "redis",                                                               \
        "Some servers of a Redis Cluster, as [ \"10.0.0.3:6379\", ... ], "     \
        "instead of host and port; the others are learnt from them.")          \
    ROW(BACKENDS, endpoints, ADDRESSES, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,   \
        "etcd",                                                                \
        "The members of the cluster, as [ \"10.0.0.3:2379\", ... ], instead "  \
        "of "                                                                  \
        "host and port: 16 at most. They are tried in turn.")                  \
    ROW(BACKENDS, hosts, ADDRESSES, ONE_OF(LETTERS_ADDRESS), NO_DEFAULT,       \
        "mysql-row",                                                           \
        "The nodes of one MariaDB Galera cluster, as [ \"10.0.0.3:3306\", "    \
        "... "                                                                 \
        "], instead of host, port and socket: 16 at most. The first one that " \
        "is synced is used. All brokers give them in the same order. Servers " \
        "that are no such nodes are refused.")                                 \
    ROW(BACKENDS, table_format, TEXT, NO_RANGE, "%s_code_%d", "mysql-autoinc", \
        "The name of a counter's table: %s is the key, %d the partition, "     \
        "once each.")                                                          \
    ROW(BACKENDS, keep_rows, INTEGER, "1", "1099511627776", "1000000",         \
        "mysql-autoinc",                                                       \
        "Rows more than so many ids below a table's newest are purged, in "    \
        "small steps; never the last one.")                                    \
    ROW(BACKENDS, tls, CHOICE, ONE_OF("off, require, verify"), "off", SERVERS, \
        "Whether the connection is encrypted, and whether the server's "       \
        "certificate and name are checked. That of a redis holds for its "     \
        "sentinels, too.")                                                     \
    ROW(BACKENDS, tls_ca, PATH, NO_RANGE, NO_DEFAULT, SERVERS,                 \
        "The certificates that are trusted; the system's if left out. A "      \
        "relative path is in the folder of the topology file, as for the "     \
        "next two.")                                                           \
    ROW(BACKENDS, tls_cert, PATH, NO_RANGE, NO_DEFAULT, SERVERS,               \
        "The broker's own certificate.")                                       \
    ROW(BACKENDS, tls_key, PATH, NO_RANGE, NO_DEFAULT, SERVERS,                \
        "The key of tls_cert, readable by its owner alone.")                   \
    ROW(BACKENDS, parameters, TEXT, NO_RANGE, NO_DEFAULT,                      \
        "an engine of the service's own",                                      \
        "Handed to the engine as it is written.")                              \
    ROW(BACKENDS, accept_loss, BOOLEAN, NO_RANGE, "false", ALL_ENGINES,        \
        "Whether a store is used whose settings lose commits in a crash. "     \
        "Numbers may then repeat; status shows it.")                           \
    ROW(BACKENDS, auto_create, BOOLEAN, NO_RANGE, "true", ALL_ENGINES,         \
        "Whether the broker makes the files and tables that it needs; else "   \
        "they must be there, as in sql/.")                                     \
    ROW(BACKENDS, connect_timeout, DURATION, "10ms", "1m", "1s", ALL_ENGINES,  \
        "How long connecting may take.")                                       \
    ROW(POOLS, name, NAME, ONE_OF(LETTERS_NAME), SCHEMA_REQUIRED, ALL_ENGINES, \
        "Its name in sequences, messages and status. Unique. Part of the "     \
        "layout.")                                                             \
    ROW(POOLS, generation, INTEGER, "1", "1000000", "1", ALL_ENGINES,          \
        "Counts the layouts that the pool had. To change what is part of the " \
        "layout, write one more and run `seqctl migrate`; never change it "    \
        "otherwise.")                                                          \
    ROW(POOLS, partitions, NAMES, ONE_OF(LETTERS_NAME), SCHEMA_REQUIRED,       \
        ALL_ENGINES,                                                           \
        "The backends that stand in its partitions: 1, 2, 4, ... 64 of them, " \
        "each in one partition only. Number and order are part of the "        \
        "layout.")                                                             \
    ROW(POOLS, authority, NAME, ONE_OF(LETTERS_NAME), NO_DEFAULT, ALL_ENGINES, \
        "The backend that leases windows and worker ids, of a direct "         \
        "engine: sqlite, mysql-row, mysql-autoinc, postgres, etcd. Or "        \
        "\"neighbours\": every partition counts in windows, which "            \
        "two or more of the partitions lease, of the same engines, and "       \
        "know of each other; they lease worker ids, too. This is the default " \
        "where "                                                               \
        "three or more of them lease, each on a server of its own. "           \
        "Or \"none\": no window is leased. Needed if a partition is "          \
        "windowed: redis, memcached. Part of the layout.")                     \
    ROW(POOLS, windows, CHOICE, ONE_OF("needed, all"), "needed", ALL_ENGINES,  \
        "Which partitions count in windows that the authority leases: those "  \
        "that need to, since their stores may forget; or all but the "         \
        "authority's, so that any other store may be put back to any older "   \
        "state. Part of the layout.")                                          \
    ROW(POOLS, window_bits, INTEGER, "8", "40", "20", ALL_ENGINES,             \
        "A window holds 2^window_bits counter values. Left out with "          \
        "authority = \"neighbours\": 8, or 10 if two partitions lease or one " \
        "is a memcached. "                                                     \
        "Part of the layout.")                                                 \
    ROW(POOLS, timeout, DURATION, "1ms", "1m", "200ms", ALL_ENGINES,           \
        "A call to a backend that takes longer counts as slow.")               \
    ROW(POOLS, slow_count, INTEGER, "1", "64", "3", ALL_ENGINES,               \
        "So many slow calls within slow_window: the partition is "             \
        "quarantined.")                                                        \
    ROW(POOLS, slow_window, DURATION, "1s", "1d", "60s", ALL_ENGINES,          \
        "See slow_count.")                                                     \
    ROW(POOLS, rescue, CHOICE, ONE_OF("backoff, fixed"), "backoff",            \
        ALL_ENGINES,                                                           \
        "When a quarantined partition is probed: after 100 ms, then twice as " \
        "long each time up to rescue_after; or after rescue_after each time.") \
    ROW(POOLS, rescue_after, DURATION, "100ms", "1d", "300s", ALL_ENGINES,     \
        "See rescue.")                                                         \
    ROW(POOLS, check_interval, DURATION, "100ms", "1d", "1500ms", ALL_ENGINES, \
        "A store that was not asked for so long is looked at: one claim is "   \
        "read. A look that fails counts as any call does.")                    \
    ROW(POOLS, failover_gap, INTEGER, "0", "1099511627776", "1000000",         \
        ALL_ENGINES,                                                           \
        "A direct counter whose store changed is raised by so many values: "   \
        "more than it can have lost. The largest that any broker of the pool " \
        "had counts; to lower it needs a restart of each. 0 only without "     \
        "direct partitions.")                                                  \
    ROW(SEQUENCES, key, KEY, ONE_OF(LETTERS_KEY), SCHEMA_REQUIRED,             \
        ALL_ENGINES, "What services ask for. Unique.")                         \
    SEQUENCE_ROWS(ROW, SEQUENCES)                                              \
    ROW(SEQUENCES, warm, BOOLEAN, NO_RANGE, "false", ALL_ENGINES,              \
        "Whether a start waits until numbers are at hand, at most for the "    \
        "broker's open_timeout.")                                              \
    ROW(AUTOMATIC, pattern, TEXT, NO_RANGE, SCHEMA_REQUIRED, ALL_ENGINES,      \
        "Keys that match it make their sequence when first asked for: * is "   \
        "any text, ? any character, [a-z] one of several.")                    \
    ROW(AUTOMATIC, limit, INTEGER, "1", "1000000", "10000", ALL_ENGINES,       \
        "So many sequences may make themselves.")                              \
    SEQUENCE_ROWS(ROW, AUTOMATIC)                                              \
    ROW(IDS, epoch, DATE, ONE_OF(WRITTEN_DATE), "2020-01-01", ALL_ENGINES,     \
        "The day, UTC, since when their time is counted.")                     \
    ROW(IDS, time, INTEGER, "1", "62", "32", ALL_ENGINES,                      \
        "Bits for the time, the highest of an id.")                            \
    ROW(IDS, unit, CHOICE, ONE_OF("s, minute, hour, day"), "s", ALL_ENGINES,   \
        "What the time is counted in; it is the sequence's period, too.")      \
    ROW(IDS, shard, INTEGER, "0", "61", "12", ALL_ENGINES,                     \
        "Bits for the shard that the caller passes.")                          \
    ROW(IDS, counter, INTEGER, "1", "62", "19", ALL_ENGINES,                   \
        "Bits for what counts within one unit of time, the lowest of an id.")  \
    ROW(SNOWFLAKE, epoch, DATE, ONE_OF(WRITTEN_DATE), "2020-01-01",            \
        ALL_ENGINES,                                                           \
        "The day, UTC, since when their ms are counted, in the highest bits. " \
        "All snowflakes of a pool share one worker id: what is set here must " \
        "be alike for them, and but for the lease for all brokers.")           \
    ROW(SNOWFLAKE, datacenter_bits, INTEGER, "0", "30", "0", ALL_ENGINES,      \
        "Bits for the broker's datacenter; 0: there is one site.")             \
    ROW(SNOWFLAKE, worker_bits, INTEGER, "1", "30", "10", ALL_ENGINES,         \
        "Bits for the worker id, which each broker leases from the pool's "    \
        "authority, or from neighbours; where it has neither, from its first " \
        "direct partition.")                                                   \
    ROW(SNOWFLAKE, counter_bits, INTEGER, "1", "40", "12", ALL_ENGINES,        \
        "Bits for what counts within a ms, the lowest of an id.")              \
    ROW(SNOWFLAKE, lease, DURATION, "1s", "1h", "10s", ALL_ENGINES,            \
        "How long a worker id is leased for; it is renewed long before.")      \
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
#define WORDS_PATHS     "list of paths"
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
        (void)text_to_int64(text, strlen(text), &value);
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
