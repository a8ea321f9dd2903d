/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the nodes of a Galera cluster. Transfers of state are by rsync
 * unless a test says otherwise. Its daemon is not root: neither are the nodes.
 */
#include "support/server_galera.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mysql.h>

#include "platform/text.h"
#include "support/attempt.h"
#include "support/server_files.h"
#include "support/server_kind.h"
#include "support/server_mariadb_kind.h"
#include "support/test.h"

#define PROVIDER      "/usr/lib/galera/libgalera_smm.so"
#define NODES_MAX     48
#define COPY          "copy" /* of the first node's files */
#define LINE_SIZE     256
#define POSITION_SIZE 96

/* A node that is silent leaves the cluster after 2 s, not 5. One that was
 * killed joins as a new node: it does not look for the view that it had. */
#define MEMBERSHIP                                                             \
    "evs.keepalive_period=PT0.5S;evs.inactive_check_period=PT0.25S;"           \
    "evs.suspect_timeout=PT2S;pc.recovery=FALSE"

/* What a node knows of its cluster. */
struct galera_more {
    char name[8];
    const char *address;
    char cluster[96]; /* "gcomm://ADDRESS:PORT,..." */
    int32_t group_port;
    int32_t ist_port;
    int32_t sst_port;
    const char *method;           /* by which its files are transferred */
    bool joins_later;             /* a start does not wait until it is synced */
    bool is_first;                /* bootstraps the cluster at its next start */
    char position[POSITION_SIZE]; /* of its files, "": as they say */
    struct server *like;          /* its files are copies of that one's */
};

/* They live as long as the test program. */
static struct galera_more mores[NODES_MAX];
static size_t more_count;
static struct galera_more *next_more; /* of the node that is made next */

bool galera_is_installed(void)
{
    return mariadb_is_installed() && server_is_installed("rsync") &&
           server_is_installed("wsrep_sst_rsync") &&
           access(PROVIDER, R_OK) == 0;
}

void galera_require(void)
{
    mariadb_require();
    server_require("rsync");
    server_require("wsrep_sst_rsync");
    if (access(PROVIDER, R_OK) == 0)
        return;
    if (getenv("CI") != NULL)
        fail_msg("%s is not there: install galera-4, this test needs it",
                 PROVIDER);
    print_message("%s is not there: skipped\n", PROVIDER);
    skip();
}

/* A copy of the files of another node spares a transfer of state, which takes
 * seconds. */
static void node_prepare(struct server *server)
{
    struct server *like = next_more->like;
    char from[96];

    server->more = next_more;
    if (like == NULL) {
        mariadb_install(server);
        return;
    }
    mariadb_copy_snapshot(like, COPY);
    (void)text_format(from, sizeof from, "%s/" COPY, like->folder);
    server_files_copy(server, from, "data");
    server_files_remove(server, "data/galera.cache");
}

static void wsrep_words(const struct galera_more *more,
                        struct server_words *words)
{
    static const char *const settings[] = {
        "--wsrep-on=ON",
        "--wsrep-cluster-name=seqbroker-test",
        "--wsrep-sst-auth=root:",
        "--binlog-format=ROW",
        "--innodb-autoinc-lock-mode=2",
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        server_word(words, "%s", settings[i]);
    server_word(words, "--wsrep-sst-method=%s", more->method);
    server_word(words, "--wsrep-provider=%s", PROVIDER);
    server_word(words, "--wsrep-node-name=%s", more->name);
    server_word(words, "--wsrep-cluster-address=%s", more->cluster);
    server_word(words, "--wsrep-node-address=%s:%d", more->address,
                (int)more->group_port);
    server_word(words, "--wsrep-sst-receive-address=%s:%d", more->address,
                (int)more->sst_port);
    server_word(words,
                "--wsrep-provider-options=gmcast.listen_addr="
                "tcp://%s:%d;base_host=%s;base_port=%d;"
                "ist.recv_addr=%s:%d;gcache.size=16M;" MEMBERSHIP,
                more->address, (int)more->group_port, more->address,
                (int)more->group_port, more->address, (int)more->ist_port);
    if (more->is_first)
        server_word(words, "--wsrep-new-cluster");
    if (more->position[0] != '\0')
        server_word(words, "--wsrep-start-position=%s", more->position);
}

/* What follows `key` in its last line of a file in the server's folder. False
 * if there is none. */
static bool line_find(const struct server *server, const char *name,
                      const char *key, char out[static LINE_SIZE])
{
    char path[LINE_SIZE];
    char line[LINE_SIZE];
    bool is_there = false;
    FILE *file;

    (void)text_format(path, sizeof path, "%s/%s", server->folder, name);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *at = strstr(line, key);

        if (at != NULL) {
            at += strlen(key);
            at += strspn(at, " ");
            is_there = text_format(out, LINE_SIZE, "%.*s",
                                   (int)strcspn(at, "\r\n"), at);
        }
    }
    if (file != NULL)
        (void)fclose(file);
    return is_there;
}

/* A node that was killed has to recover before it knows its position;
 * mariadbd-safe has it do so before each start. Without a position it would get
 * all files from another node. */
static void position_find(struct server *server)
{
    struct galera_more *more = server->more;
    const char *argv[SERVER_WORDS_MAX + 1] = {NULL};
    struct server_words words = {.argv = argv};
    char position[LINE_SIZE];

    more->position[0] = '\0';
    if (!line_find(server, "data/grastate.dat", "seqno:", position) ||
        strcmp(position, "-1") != 0)
        return;
    mariadb_words(server, &words);
    wsrep_words(more, &words);
    server_word(&words, "--wsrep-recover");
    server_run(server, argv);
    if (line_find(server, "server.log", "Recovered position:", position))
        (void)text_copy(more->position, sizeof more->position, position);
}

static void node_command(struct server *server, struct server_words *words)
{
    position_find(server);
    mariadb_words(server, words);
    wsrep_words(server->more, words);
}

/* Whether the first row's second column is that. */
static bool row_is(MYSQL *admin, const char *value)
{
    MYSQL_RES *rows = mysql_store_result(admin);
    MYSQL_ROW row = rows != NULL ? mysql_fetch_row(rows) : NULL;
    const bool is = row != NULL && row[1] != NULL && strcmp(row[1], value) == 0;

    if (rows != NULL)
        mysql_free_result(rows);
    return is;
}

bool galera_is_synced(struct server *server)
{
    MYSQL *admin = mysql_init(NULL);
    bool is_synced = false;

    assert_non_null(admin);
    if (mysql_real_connect(admin, NULL, "root", "", NULL, 0, server->socket,
                           0) != NULL &&
        mysql_query(admin, "SHOW STATUS LIKE 'wsrep_local_state'") == 0)
        is_synced = row_is(admin, "4");
    mysql_close(admin);
    return is_synced;
}

/* Whoever joins answers when it is synced. */
static bool node_is_up(struct server *server)
{
    const struct galera_more *more = server->more;

    return more->joins_later || galera_is_synced(server);
}

static const struct server_kind node_kind = {
    .program = "mariadbd",
    .as_nobody = true,
    .prepare = node_prepare,
    .command = node_command,
    .is_up = node_is_up,
    .forget = mariadb_forget,
};

static void cluster_start(const struct lan *lan, const char *const *args,
                          struct server *nodes[static GALERA_NODES])
{
    static struct attempt attempt = {.what = "a Galera cluster"};
    struct galera_more *more = &mores[more_count];
    char cluster[sizeof more->cluster] = "gcomm://";

    attempt_begin(&attempt);
    more_count += GALERA_NODES;
    assert_true(more_count <= NODES_MAX);
    for (int i = 0; i < GALERA_NODES; i++) {
        (void)text_format(more[i].name, sizeof more[i].name, "n%d", i);
        more[i].address = lan_address(lan, i);
        more[i].method = "rsync";
        more[i].group_port = free_port();
        more[i].ist_port = free_port();
        more[i].sst_port = free_port();
        assert_true(text_append(cluster, sizeof cluster, "%s%s:%d",
                                i > 0 ? "," : "", more[i].address,
                                (int)more[i].group_port));
    }
    for (int i = 0; i < GALERA_NODES; i++) {
        (void)text_copy(more[i].cluster, sizeof more[i].cluster, cluster);
        more[i].is_first = i == 0;
        more[i].like = i > 0 ? nodes[0] : NULL;
        next_more = &more[i];
        server_place(lan_fd(lan, i), more[i].address);
        nodes[i] = server_new(&node_kind, args);
        more[i].is_first = false;
    }
    server_place(-1, lan_address(NULL, 0));
    attempt_end(&attempt);
}

void server_galera_cluster_on(const struct lan *lan,
                              struct server *nodes[static GALERA_NODES])
{
    cluster_start(lan, NULL, nodes);
}

void server_galera_cluster(const char *const *args,
                           struct server *nodes[static GALERA_NODES])
{
    cluster_start(NULL, args, nodes);
}

void galera_bootstrap(struct server *node)
{
    static const char *const allow[] = {
        "sed", "-i", "s/safe_to_bootstrap: 0/safe_to_bootstrap: 1/",
        "data/grastate.dat", NULL};
    struct galera_more *more = node->more;

    server_run(node, allow);
    more->is_first = true;
    server_start(node);
    more->is_first = false;
}

void galera_start_join(struct server *node)
{
    struct galera_more *more = node->more;

    more->joins_later = true;
    server_start(node);
    more->joins_later = false;
}

void galera_await(struct server *node, const char *name, const char *value)
{
    char now[MARIADB_ASK_SIZE] = "";

    for (;;) {
        mariadb_ask(node, now,
                    "SELECT VARIABLE_VALUE FROM information_schema."
                    "GLOBAL_STATUS WHERE VARIABLE_NAME = '%s'",
                    name);
        if (strcmp(now, value) == 0)
            return;
        usleep(20000);
    }
}

void galera_transfer_by(struct server *node, const char *method)
{
    struct galera_more *more = node->more;

    more->method = method;
}

void galera_drop_files(struct server *node)
{
    server_run(node, (const char *[]){"rm", "-rf", "data", NULL});
    server_run(node, (const char *[]){"mkdir", "data", NULL});
}
