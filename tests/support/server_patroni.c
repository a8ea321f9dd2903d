/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and asking a cluster of PostgreSQL under Patroni. */
#include "support/server_patroni.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform/text.h"
#include "support/attempt.h"
#include "support/postmaster.h"
#include "support/server_kind.h"
#include "support/server_postgres.h"
#include "support/test.h"

#define TEXT_SIZE   4096
#define URL_SIZE    64
#define CLUSTER_MAX 4 /* in one test program */

/* What a node knows of its cluster. */
struct node_more {
    int index;
    struct server *const *etcd;
    int32_t rest_port;
};

static struct node_more mores[CLUSTER_MAX * PATRONI_NODES];
static size_t more_count;
static struct node_more *next_more; /* of the node that is made next */

/* Those that may run, for the end of the program. */
static struct patroni *clusters[CLUSTER_MAX];

/* --- a node --- */

/* By version 2 of etcd's API: by version 3, Patroni 3.0.2 may take the
 * leader's key back when it goes on after a pause. Short times, by Patroni's
 * own rule: ttl >= loop_wait + 2 * retry_timeout. */
static const char settings[] =
    "scope: seqbroker\n"
    "name: n%d\n"
    "etcd: {hosts: ['%s:%d', '%s:%d', '%s:%d']}\n"
    "restapi: {listen: '%s:%d', connect_address: '%s:%d'}\n"
    "bootstrap:\n"
    "  dcs:\n"
    "    ttl: 7\n"
    "    loop_wait: 1\n"
    "    retry_timeout: 3\n"
    "    postgresql:\n"
    "      use_pg_rewind: true\n"
    "      use_slots: false\n"
    "      parameters: {max_connections: 60, wal_keep_size: 256MB}\n"
    "  initdb: [encoding: UTF8, locale: C, auth: trust, no-sync]\n"
    "  pg_hba: ['local all all trust', 'host all all samenet trust',\n"
    "    'host replication all samenet trust']\n"
    "postgresql:\n"
    "  listen: '%s:%d'\n"
    "  connect_address: '%s:%d'\n"
    "  data_dir: data\n"
    "  bin_dir: '%s'\n"
    "  pgpass: pgpass\n"
    "  authentication:\n"
    "    superuser: {username: postgres}\n"
    "    replication: {username: postgres}\n"
    "  parameters: {unix_socket_directories: '%s', shared_buffers: 16MB,\n"
    "    dynamic_shared_memory_type: mmap}\n"
    "  basebackup: [checkpoint: fast, no-sync]\n";

static void settings_write(const struct server *server)
{
    const struct node_more *more = server->more;
    struct server *const *const etcd = more->etcd;
    const char *const at = server->address;
    char programs[PROGRAM_PATH_SIZE];
    char path[URL_SIZE];
    char text[TEXT_SIZE];
    FILE *file;

    (void)postgres_program("", programs);
    assert_true(text_format(
        text, sizeof text, settings, more->index, etcd[0]->address,
        (int)etcd[0]->port, etcd[1]->address, (int)etcd[1]->port,
        etcd[2]->address, (int)etcd[2]->port, at, (int)more->rest_port, at,
        (int)more->rest_port, at, (int)server->port, at, (int)server->port,
        programs, server->folder));
    (void)text_format(path, sizeof path, "%s/patroni.yml", server->folder);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void node_prepare(struct server *server)
{
    server->more = next_more;
    next_more->rest_port = free_port();
    settings_write(server);
}

static void node_command(struct server *server, struct server_words *words)
{
    (void)server;
    server_word(words, "patroni");
    server_word(words, "patroni.yml");
}

static bool node_answers(struct server *server)
{
    char ignored[POSTGRES_ASK_SIZE];

    return postgres_try(server, "SELECT 1", ignored);
}

static const struct server_kind node_kind = {
    .program = "patroni",
    .as_nobody = true,
    .prepare = node_prepare,
    .command = node_command,
    .is_up = node_answers,
};

/* --- its end --- */

/* Its PostgreSQL is no child of the Patroni. */
static void node_kill(struct server *node)
{
    const struct postmaster found = postmaster_of(node->folder);

    if (found.pid > 0)
        postgres_kill_tree(found.pid);
    postmaster_clean(&found);
}

static void clusters_end(void)
{
    for (size_t i = 0; i < CLUSTER_MAX; i++)
        patroni_free(clusters[i]);
}

/* A process that ends the PostgreSQLs when the test program is gone, however
 * it ended: their Patronis are gone then, too. */
static void guard_start(const struct patroni *patroni)
{
    char ignored;
    int ends[2];
    pid_t pid;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) {
        close(ends[0]);
        return; /* the other end is closed by the end of the program */
    }
    (void)setsid();
    if (dup2(ends[0], STDIN_FILENO) < 0 || close_range(1, ~0U, 0) != 0)
        _exit(1);
    (void)!read(STDIN_FILENO, &ignored, 1);
    (void)sleep(1);
    for (size_t i = 0; i < PATRONI_NODES; i++)
        node_kill(patroni->nodes[i]);
    _exit(0);
}

void patroni_free(struct patroni *patroni)
{
    if (patroni == NULL)
        return;
    for (size_t i = 0; i < CLUSTER_MAX; i++) {
        if (clusters[i] == patroni)
            clusters[i] = NULL;
    }
    for (size_t i = 0; i < PATRONI_NODES; i++) {
        if (patroni->nodes[i] == NULL)
            continue;
        server_kill(patroni->nodes[i]);
        node_kill(patroni->nodes[i]);
        server_free(patroni->nodes[i]);
    }
    for (size_t i = 0; i < ETCD_MEMBERS; i++)
        server_free(patroni->etcd[i]);
    free(patroni);
}

/* --- starting --- */

void patroni_require(void)
{
    postgres_require();
    server_require("etcd");
    server_require("curl");
    server_require("patroni");
}

static void register_cluster(struct patroni *patroni)
{
    static bool is_registered;
    size_t i = 0;

    while (i < CLUSTER_MAX && clusters[i] != NULL)
        i++;
    assert_true(i < CLUSTER_MAX);
    clusters[i] = patroni;
    if (!is_registered)
        atexit(clusters_end); /* before the servers are freed */
    is_registered = true;
}

struct patroni *server_patroni_on(const struct lan *lan)
{
    static struct attempt attempt = {.what = "a Patroni cluster"};
    static const char *const v2[] = {"--enable-v2=true", NULL};
    struct patroni *patroni;

    attempt_begin(&attempt);
    patroni = calloc(1, sizeof *patroni);
    assert_non_null(patroni);
    server_etcd_cluster_on(lan, v2, patroni->etcd);
    register_cluster(patroni);
    for (int i = 0; i < PATRONI_NODES; i++) {
        assert_true(more_count < COUNT_OF(mores));
        next_more = &mores[more_count++];
        *next_more = (struct node_more){.index = i, .etcd = patroni->etcd};
        server_place(lan_fd(lan, i), lan_address(lan, i));
        patroni->nodes[i] = server_new(&node_kind, NULL);
        if (i == 0)
            patroni_await(patroni, 0, PATRONI_PRIMARY);
    }
    server_place(-1, lan_address(NULL, 0));
    guard_start(patroni);
    assert_int_equal(patroni_await_streaming(patroni), 0);
    attempt_end(&attempt);
    return patroni;
}

struct patroni *server_patroni(void)
{
    return server_patroni_on(NULL);
}

/* --- asking --- */

/* Each look is a connection, for which PostgreSQL starts a process. */
static void pause_shortly(void)
{
    nanosleep(&(struct timespec){0, 200000000}, NULL);
}

enum patroni_role patroni_role(struct patroni *patroni, size_t node)
{
    char is_standby[POSTGRES_ASK_SIZE];

    if (!postgres_try(patroni->nodes[node], "SELECT pg_is_in_recovery()",
                      is_standby))
        return PATRONI_AWAY;
    return strcmp(is_standby, "t") == 0 ? PATRONI_STANDBY : PATRONI_PRIMARY;
}

void patroni_await(struct patroni *patroni, size_t node, enum patroni_role role)
{
    while (patroni_role(patroni, node) != role)
        pause_shortly();
}

/* Asks a node's Patroni until the answer is 200. */
static void rest_call(struct patroni *patroni, size_t node, const char *method,
                      const char *path, const char *body)
{
    const struct node_more *more = patroni->nodes[node]->more;
    char url[URL_SIZE];
    const char *const argv[] = {"curl",
                                "--silent",
                                "--show-error",
                                "--fail",
                                "--noproxy",
                                "*",
                                "--retry",
                                "60",
                                "--retry-delay",
                                "1",
                                "--retry-all-errors",
                                "--request",
                                method,
                                "--data",
                                body,
                                url,
                                NULL};

    (void)text_format(url, sizeof url, "http://%s:%d/%s",
                      server_address(patroni->nodes[node]),
                      (int)more->rest_port, path);
    server_run(patroni->nodes[node], argv);
}

void patroni_forget(struct patroni *patroni)
{
    char url[URL_SIZE];
    const char *const argv[] = {
        "curl", "--silent",  "--show-error", "--fail", "--noproxy",
        "*",    "--request", "DELETE",       url,      NULL};

    (void)text_format(url, sizeof url,
                      "http://%s:%d/v2/keys/service/seqbroker?recursive=true",
                      server_address(patroni->etcd[0]),
                      (int)server_port(patroni->etcd[0]));
    server_run(patroni->etcd[0], argv);
}

int patroni_rewinds(struct patroni *patroni, size_t node)
{
    char path[URL_SIZE];
    char line[TEXT_SIZE];
    int count = 0;
    FILE *log;

    (void)text_format(path, sizeof path, "%s/server.log",
                      server_folder(patroni->nodes[node]));
    log = fopen(path, "re");
    assert_non_null(log);
    while (fgets(line, sizeof line, log) != NULL)
        count += strstr(line, "running pg_rewind from") != NULL;
    assert_int_equal(fclose(log), 0);
    return count;
}

static bool node_streams(struct patroni *patroni, size_t primary)
{
    char count[POSTGRES_ASK_SIZE];

    return patroni_role(patroni, primary) == PATRONI_PRIMARY &&
           patroni_role(patroni, 1 - primary) == PATRONI_STANDBY &&
           postgres_try(patroni->nodes[primary],
                        "SELECT count(*) FROM pg_stat_replication"
                        " WHERE state = 'streaming'",
                        count) &&
           strcmp(count, "1") == 0;
}

size_t patroni_await_streaming(struct patroni *patroni)
{
    size_t primary = 0;

    while (!node_streams(patroni, primary)) {
        primary = 1 - primary;
        pause_shortly();
    }
    rest_call(patroni, primary, "GET", "primary", "");
    rest_call(patroni, 1 - primary, "GET", "replica", "");
    return primary;
}

size_t patroni_single(struct patroni *patroni)
{
    size_t primary = 0;

    while (patroni_role(patroni, primary) != PATRONI_PRIMARY ||
           patroni_role(patroni, 1 - primary) == PATRONI_PRIMARY) {
        primary = 1 - primary;
        pause_shortly();
    }
    return primary;
}

void patroni_synchronous(struct patroni *patroni, bool is_synchronous)
{
    const size_t primary = patroni_await_streaming(patroni);

    rest_call(patroni, primary, "PATCH", "config",
              is_synchronous ? "{\"synchronous_mode\": true}"
                             : "{\"synchronous_mode\": false}");
    rest_call(patroni, 1 - primary, "GET",
              is_synchronous ? "synchronous" : "asynchronous", "");
}

void patroni_switchover(struct patroni *patroni, size_t from)
{
    const struct node_more *leader = patroni->nodes[from]->more;
    char body[URL_SIZE];

    (void)text_format(body, sizeof body,
                      "{\"leader\": \"n%d\", \"candidate\": \"n%d\"}",
                      leader->index, 1 - leader->index);
    rest_call(patroni, from, "POST", "switchover", body);
}

void patroni_alter(struct patroni *patroni, size_t node, const char *what)
{
    struct server *server = patroni->nodes[node];

    postgres_execute(server, "postgres", "ALTER SYSTEM SET %s", what);
    postgres_execute(server, "postgres", "SELECT pg_reload_conf()");
}

void patroni_show(struct patroni *patroni, size_t node, const char *cert,
                  const char *key)
{
    postgres_copy_certificate(patroni->nodes[node], cert, key);
    patroni_alter(patroni, node, "ssl_cert_file = 'crt'");
    patroni_alter(patroni, node, "ssl_key_file = 'key'");
    patroni_alter(patroni, node, "ssl = on");
}

void patroni_kill_postgres(struct patroni *patroni, size_t node)
{
    node_kill(patroni->nodes[node]);
}

void patroni_kill_node(struct patroni *patroni, size_t node)
{
    server_kill(patroni->nodes[node]);
    node_kill(patroni->nodes[node]);
}

static pid_t paused;

void patroni_pause_postgres(struct patroni *patroni, size_t node)
{
    paused = postmaster_of(patroni->nodes[node]->folder).pid;
    assert_true(paused > 0);
    postgres_pause_tree(paused);
}

void patroni_resume_postgres(void)
{
    postgres_resume_tree(paused);
}
