/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long seqbrokerd takes from SIGTERM to its end, in states in which
 * something keeps it waiting: stores that are silent (a server that is stopped
 * by SIGSTOP), also while it starts, while it reloads, while it restarts in
 * place, while it syncs a lessor, and beside a migration; a lessor whose file
 * is locked; clients that wait for numbers, that do not read, and that are in a
 * TLS handshake. A process of its own for each stop.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/certificate.h"
#include "bench/die.h"
#include "bench/hostile.h"
#include "bench/now.h"
#include "bench/openloop.h"
#include "bench/peers.h"
#include "bench/report.h"
#include "bench/topology.h"
#include "bench/wire.h"
#include "platform/text.h"
#include "support/server_kind.h"
#include "support/server_mariadb.h"
#include "support/server_redis.h"

#define CLIENTS 1000
#define MOST_S  6.0

/* The byte of "-shm" that a writer of a SQLite file locks: WAL_WRITE_LOCK in
 * https://sqlite.org/walformat.html. */
#define WRITER_BYTE 120

enum { STATE, TYPICAL, LONGEST, SPOOLS };

static const struct report_column columns[] = {
    [STATE] = {"SIGTERM while", NULL, BAR_NONE, PLOT_NOT},
    [TYPICAL] = {"a stop", "s", BAR_NONE, PLOT_NOT},
    [LONGEST] = {"the longest", "s", BAR_AT_MOST, PLOT_NOT},
    [SPOOLS] = {"spools written / stops", "", BAR_AT_LEAST, PLOT_NOT},
};

static const struct report_table table = {
    "stop", "A stop of seqbrokerd", NULL, SHAPE_WIDE, columns, SPOOLS + 1};

/* Two SQLite files answer throughout; two Redis may be silent. */
static struct {
    struct report *report;
    struct report_arguments arguments;
    struct topology topology;
    struct certificate certificate;
    struct server *mixed, *alone; /* Redis: of a pool with the file, or not */
    struct server *still, *begun; /* MariaDB: silent, or started again, in the
                                     state that has them */
    struct server *broker;
    int tls_port;
    int fds[CLIENTS];
    pid_t hostile;
    pid_t migration;
    int locked; /* a file, or -1 */
} stage;

static void topology_fill(const char *path, const char *more_pool,
                          const char *more_sequences)
{
    static const char format[] =
        "broker = { name = \"bench\"; };\n"
        "backends = (\n"
        "  { name = \"file\"; engine = \"sqlite\"; path = \"0.db\"; },\n"
        "  { name = \"lessor\"; engine = \"sqlite\"; path = \"1.db\"; },\n"
        "  { name = \"mixed\"; engine = \"redis\"; port = %d; },\n"
        "  { name = \"alone\"; engine = \"redis\"; port = %d; } );\n"
        "pools = (\n"
        "  { name = \"main\"; partitions = [ \"file\", \"mixed\" ];\n"
        "    authority = \"file\"; },\n"
        "  { name = \"other\"; partitions = [ \"alone\" ];\n"
        "    authority = \"lessor\"; %s } );\n"
        "sequences = (\n"
        "  { key = \"order\"; pool = \"main\"; deadline = \"10s\"; },\n"
        "  { key = \"waybill\"; pool = \"main\";\n"
        "    template = \"W-@{seq, width=12}\"; },\n"
        "%s"
        "  { key = \"lonely\"; pool = \"other\"; max_unused = 1000;\n"
        "    deadline = \"1m\"; } );\n"
        "daemon = { tls_listen = \"127.0.0.1:%d\";\n"
        "  tls_cert_file = \"%s\"; tls_key_file = \"%s\"; };\n";
    FILE *file = fopen(path, "we");

    if (file == NULL ||
        fprintf(file, format, (int)server_port(stage.mixed),
                (int)server_port(stage.alone), more_pool, more_sequences,
                stage.tls_port, stage.certificate.cert_file,
                stage.certificate.key_file) < 0 ||
        fclose(file) != 0)
        die_of_errno(path);
}

static void stores_pause(void)
{
    server_pause(stage.mixed);
    server_pause(stage.alone);
}

static void stores_resume(void)
{
    server_resume(stage.mixed);
    server_resume(stage.alone);
}

/* A pool of neighbours. Two files answer throughout. */
static void topology_fill_neighbours(void)
{
    static const char format[] =
        "broker = { name = \"bench\"; };\n"
        "backends = (\n"
        "  { name = \"file\"; engine = \"sqlite\"; path = \"0.db\"; },\n"
        "  { name = \"lessor\"; engine = \"sqlite\"; path = \"1.db\"; },\n"
        "  { name = \"still\"; engine = \"mysql-row\"; user = \"seq\";\n"
        "    host = \"127.0.0.1\"; port = %d; database = \"seq\"; },\n"
        "  { name = \"begun\"; engine = \"mysql-row\"; user = \"seq\";\n"
        "    host = \"127.0.0.1\"; port = %d; database = \"seq\"; } );\n"
        "pools = ( { name = \"main\"; authority = \"neighbours\"; partitions ="
        " [ \"file\", \"lessor\", \"still\", \"begun\" ]; } );\n"
        "sequences = ( { key = \"order\"; deadline = \"10s\"; } );\n";
    FILE *file = fopen(stage.topology.path, "we");

    if (file == NULL ||
        fprintf(file, format, (int)server_port(stage.still),
                (int)server_port(stage.begun)) < 0 ||
        fclose(file) != 0)
        die_of_errno(stage.topology.path);
}

static struct server *database_start(void)
{
    struct server *server = server_mariadb(NULL);

    mariadb_execute(server, "CREATE USER seq@'%%';"
                            "GRANT ALL ON seq.* TO seq@'%%'");
    return server;
}

static void database_empty(struct server *server)
{
    mariadb_execute(server, "DROP DATABASE IF EXISTS seq; CREATE DATABASE seq");
}

/* --- states --- */

static void numbers_take(void)
{
    static struct openloop run;
    char address[PEER_ADDRESS_SIZE];
    const struct openloop_options options = {.address = address,
                                             .key = "order",
                                             .connections = 10,
                                             .rate = 1000,
                                             .seconds = stage.arguments.span,
                                             .sleeps = true};

    peer_tcp(stage.broker, address);
    openloop_run(&options, &run);
}

static void serve(void)
{
    stage.broker = peer_seqbrokerd(stage.topology.path);
    numbers_take();
}

static void serve_alone(void)
{
    serve();
    stores_pause();
    pause_s(stage.arguments.span);
}

static void clients_connect(const char *address, const char *text)
{
    for (int i = 0; i < CLIENTS; i++) {
        stage.fds[i] = wire_dial(address);
        if (stage.fds[i] < 0 ||
            write(stage.fds[i], text, strlen(text)) != (ssize_t)strlen(text))
            die_of_errno("a client cannot connect");
    }
}

/* More than the numbers that are at hand. */
static void serve_waiting(void)
{
    char address[PEER_ADDRESS_SIZE];

    serve();
    stores_pause();
    peer_tcp(stage.broker, address);
    clients_connect(address, "SEQ.NEXT lonely COUNT 1000\r\n");
    pause_s(stage.arguments.span);
}

static void serve_handshakes(void)
{
    char address[PEER_ADDRESS_SIZE];

    serve();
    (void)text_format(address, sizeof address, "tcp:%d", stage.tls_port);
    clients_connect(address, "\x16\x03\x01");
    pause_s(stage.arguments.span);
}

static void serve_unread(void)
{
    struct hostile_options options = {.kind = HOSTILE_NUMBERS,
                                      .connections = CLIENTS};

    serve();
    options.port = (int)server_port(stage.broker);
    stage.hostile = hostile_start(&options);
    pause_s(stage.arguments.span);
}

static void start(void)
{
    stores_pause();
    stage.broker = peer_seqbrokerd_starting(stage.topology.path);
    pause_s(stage.arguments.span);
}

/* A sequence is added, and its claim waits for the store. */
static void serve_reload(void)
{
    serve();
    stores_pause();
    topology_fill(stage.topology.path, "",
                  "  { key = \"new\"; pool = \"other\"; },\n");
    if (kill(stage.broker->pid, SIGHUP) != 0)
        die_of_errno("SIGHUP");
    pause_s(stage.arguments.span);
}

/* A seqctl has begun to open the stores of both topologies. */
static void serve_migration(void)
{
    char next[TOPOLOGY_PATH_SIZE + 8];

    serve();
    stores_pause();
    (void)text_format(next, sizeof next, "%s.next", stage.topology.path);
    topology_fill(next, "window_bits = 9; generation = 2;", "");
    stage.migration = fork();
    if (stage.migration == 0) {
        if (freopen("/dev/null", "we", stderr) == NULL ||
            freopen("/dev/null", "we", stdout) == NULL)
            _exit(127);
        (void)execlp("seqctl", "seqctl", "migrate", stage.topology.path, next,
                     NULL);
        _exit(127);
    }
    pause_s(stage.arguments.span);
    if (waitpid(stage.migration, NULL, WNOHANG) != 0)
        die_of_errno("seqctl migrate has ended");
}

/* What follows the check of the next program. */
static void serve_restart(void)
{
    serve();
    stores_pause();
    if (kill(stage.broker->pid, SIGUSR2) != 0)
        die_of_errno("SIGUSR2");
    pause_s(stage.arguments.span);
}

static bool reply_has(const redisReply *reply, const char *words)
{
    bool is_found =
        reply->type == REDIS_REPLY_STRING && strstr(reply->str, words) != NULL;

    for (size_t i = 0; i < reply->elements && !is_found; i++)
        is_found = reply_has(reply->element[i], words);
    return is_found;
}

static void event_await(const char *words)
{
    for (int tries = 0; tries < 1200; tries++) {
        redisReply *reply = server_ask(stage.broker, "SEQ.SHOW EVENTS");
        const bool is_found = reply_has(reply, words);

        freeReplyObject(reply);
        if (is_found)
            return;
        pause_s(0.1);
    }
    die(words);
}

/* The sync of a lessor that started again waits for the silent one. */
static void serve_sync(void)
{
    database_empty(stage.still);
    database_empty(stage.begun);
    topology_fill_neighbours();
    serve();
    server_shut_down(stage.begun, SIGTERM);
    server_pause(stage.still);
    server_start(stage.begun);
    event_await("event=lessor_waits");
}

/* As by another process that writes into it. */
static void lessor_lock(void)
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = WRITER_BYTE,
                         .l_len = 1};
    char path[128];

    (void)text_format(path, sizeof path, "%s/state/1.db-shm",
                      server_folder(stage.broker));
    stage.locked = open(path, O_RDWR | O_CLOEXEC);
    if (stage.locked < 0 || fcntl(stage.locked, F_SETLKW, &lock) != 0)
        die_of_errno(path);
}

/* They ask for more than the windows at hand have. */
static void serve_leases(void)
{
    char address[PEER_ADDRESS_SIZE];

    serve();
    lessor_lock();
    peer_tcp(stage.broker, address);
    clients_connect(address, "SEQ.NEXT lonely COUNT 1000\r\n");
    pause_s(stage.arguments.span);
}

static const struct state {
    const char *name;
    void (*begin)(void);
    bool has_silent_stores;
    bool holds_numbers;
} states[] = {
    {"nothing is wrong", serve, false, true},
    {"two of four stores are silent", serve_alone, true, true},
    {"1,000 clients wait for a silent store", serve_waiting, true, true},
    {"it starts, and two stores are silent", start, true, false},
    {"it reloads, and two stores are silent", serve_reload, true, true},
    {"a seqctl migrate waits for two silent stores", serve_migration, true,
     true},
    {"it restarts in place, and two stores are silent", serve_restart, true,
     true},
    {"a lessor that started again is synced, and waits for a silent one",
     serve_sync, false, true},
    {"1,000 clients wait for windows, whose lessor's file is locked",
     serve_leases, false, true},
    {"1,000 clients are in a TLS handshake", serve_handshakes, false, true},
    {"1,000 clients ask and do not read", serve_unread, false, true},
};

/* --- a stop --- */

/* Whether the state directory has a spool with numbers. */
static bool spool_is_written(void)
{
    char path[128];
    bool is_written = false;
    const struct dirent *entry;
    DIR *folder;

    (void)text_format(path, sizeof path, "%s/state",
                      server_folder(stage.broker));
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        struct stat file;

        is_written |= strncmp(entry->d_name, "spool", 5) == 0 &&
                      strstr(entry->d_name, "lock") == NULL &&
                      fstatat(dirfd(folder), entry->d_name, &file, 0) == 0 &&
                      file.st_size > 0;
    }
    if (folder != NULL)
        closedir(folder);
    return is_written;
}

static void state_end(const struct state *state)
{
    for (int i = 0; i < CLIENTS; i++) {
        if (stage.fds[i] >= 0)
            close(stage.fds[i]);
        stage.fds[i] = -1;
    }
    if (stage.hostile > 0)
        hostile_stop(stage.hostile);
    stage.hostile = 0;
    if (stage.migration > 0) {
        kill(stage.migration, SIGKILL);
        waitpid(stage.migration, NULL, 0);
    }
    stage.migration = 0;
    if (stage.locked >= 0)
        close(stage.locked);
    stage.locked = -1;
    if (state->has_silent_stores)
        stores_resume();
    if (state->begin == serve_sync)
        server_resume(stage.still);
    topology_fill(stage.topology.path, "", "");
    server_free(stage.broker);
}

/* In s. */
static double stop(const struct state *state)
{
    double begun;
    double took;

    redis_execute(stage.mixed, "FLUSHALL"); /* the files are new, too */
    redis_execute(stage.alone, "FLUSHALL");
    state->begin();
    begun = now_s();
    server_shut_down(stage.broker, SIGTERM);
    took = now_s() - begun;
    if (state->holds_numbers)
        report_sample(stage.report, SPOOLS, spool_is_written());
    state_end(state);
    return took;
}

static void state_row(const struct state *state)
{
    double longest = 0;

    report_row(stage.report);
    report_text(stage.report, STATE, "%s", state->name);
    for (int run = 0; run < stage.arguments.runs; run++) {
        const double took = stop(state);

        report_sample(stage.report, TYPICAL, took);
        longest = took > longest ? took : longest;
    }
    report_sample(stage.report, LONGEST, longest);
    report_bar(stage.report, LONGEST, MOST_S);
    if (state->holds_numbers)
        report_bar(stage.report, SPOOLS, 1);
    else
        report_text(stage.report, SPOOLS, "it holds no numbers");
    report_row_end(stage.report);
}

int main(int argc, char **argv)
{
    stage.arguments = (struct report_arguments){.span = 0.5, .runs = 5};
    stage.report = report_open(argc, argv, &stage.arguments);
    block_sigpipe();
    for (int i = 0; i < CLIENTS; i++)
        stage.fds[i] = -1;
    stage.locked = -1;
    stage.tls_port = (int)free_port();
    stage.mixed = server_redis(NULL);
    stage.alone = server_redis(NULL);
    stage.still = database_start();
    stage.begun = database_start();
    certificate_make(&stage.certificate);
    topology_write(&stage.topology, "");
    topology_fill(stage.topology.path, "", "");
    report_table(stage.report, &table);
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        state_row(&states[i]);
    certificate_remove(&stage.certificate);
    topology_remove(&stage.topology);
    return report_close(stage.report);
}
