/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config/galera.conf over a real cluster, which the tests share: a broker goes
 * on taking numbers while the node that it uses is killed, and while that node
 * joins again by a transfer of all files, by rsync or by mariabackup.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "election.h"
#include "platform/clock.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "probe_log.h"
#include "scene.h"
#include "support/folder.h"
#include "support/server_galera.h"
#include "support/test.h"

#define CLUSTER 0 /* the partitions */
#define SQLITE  1
#define SOME    2000
#define BURST   100 /* numbers between two looks */

static struct server *nodes[GALERA_NODES];

static void port_put(char *text, int port, const struct server *node)
{
    char from[32];
    char to[32];

    (void)text_format(from, sizeof from, "127.0.0.1:%d", port);
    (void)text_format(to, sizeof to, "127.0.0.1:%d", (int)server_port(node));
    scene_replace(text, from, to);
}

/* The sample, on the private nodes, in their order or the reverse. A busy
 * machine is not to be taken for slow stores. */
static const char *sample_write(struct scene *scene, bool is_reverse)
{
    char text[SCENE_TEXT_SIZE];
    char path[128];

    scene_sample("config/galera.conf", text);
    for (int i = 0; i < GALERA_NODES; i++)
        port_put(text, 3306 + i, nodes[is_reverse ? GALERA_NODES - 1 - i : i]);
    (void)text_format(path, sizeof path, "path = \"%s\"",
                      scene_path(scene, "orders.db"));
    scene_replace(text, "path = \"orders.db\"", path);
    scene_replace(text, "timeout = \"1s\";",
                  "timeout = \"5s\"; rescue_after = \"200ms\";");
    scene_replace(text, "key = \"order\";",
                  "key = \"order\"; max_unused = 1000; deadline = \"1m\";");
    return scene_write(scene, is_reverse ? "reverse.conf" : "galera.conf",
                       text);
}

static int64_t granted_by(const struct scene *scene, int32_t partition)
{
    return scene_partition(scene, partition).granted;
}

/* Takes until that partition has granted more; the longest that one number took
 * meanwhile, in ms. */
static int64_t more_await(struct scene *scene, int32_t partition)
{
    const int64_t before = granted_by(scene, partition);
    int64_t longest_ms = 0;

    while (granted_by(scene, partition) < before + SOME) {
        for (int i = 0; i < BURST; i++) {
            const int64_t since_ms = clock_now_ms();

            scene_take(scene, "order", 1);
            longest_ms = max_of(longest_ms, clock_now_ms() - since_ms);
        }
        usleep(1000); /* the cluster may be away for seconds */
    }
    return longest_ms;
}

/* --- a transfer that stands still --- */

#define STANDARD_PATH "PATH=/usr/bin:/bin\n"

/* `gate NAME COMMAND ...` leaves a mark, and runs the command once the gate is
 * open. */
static const char gate_script[] = "#!/bin/sh\n"
                                  "gate=\"$0-$1\"\n"
                                  "shift\n"
                                  ": >\"$gate-waits\"\n"
                                  "exec flock --shared \"$gate\" \"$@\"\n";

/* A donor waits at "sent", when it has locked its tables. */
static const char rsync[] =
    "#!/bin/sh\n" STANDARD_PATH "case \"$*\" in *rsync://*)\n"
    "  exec \"${0%/*}/gate\" sent rsync \"$@\"\n"
    "esac\n"
    "exec rsync \"$@\"\n";

/* A donor waits at "begun", when a part of its files is copied, and at "ended",
 * when all of them are. mariadb-backup refuses a size that the server has among
 * its arguments, instead of in a configuration file. */
static const char backup[] =
    "#!/bin/bash\n" STANDARD_PATH "set -o pipefail\n"
    "args=(mariadb-backup)\n"
    "for arg; do\n"
    "  [[ $arg == --innodb-buffer-pool-size=* ]] || args+=(\"$arg\")\n"
    "done\n"
    "[[ $* == *--backup* ]] || exec \"${args[@]}\"\n"
    "\"${args[@]}\" | \"${0%/*}/gate\" begun cat\n"
    "status=$?\n"
    "\"${0%/*}/gate\" ended true\n"
    "exit $status\n";

static char gate[32]; /* the folder of the scripts, the gates and the marks */

static const char *gate_path(const char *name, const char *end,
                             char out[static 64])
{
    (void)text_format(out, 64, "%s/%s%s", gate, name, end);
    return out;
}

static void script_write(const char *name, const char *text)
{
    char path[64];
    FILE *file = fopen(gate_path(name, "", path), "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fchmod(fileno(file), 0755), 0);
    assert_int_equal(fclose(file), 0);
}

/* For the methods of transfer, scripts of bash, whose PATH begins with that of
 * the server's own programs. */
static void gate_make(void)
{
    char path[64];
    char text[64];

    assert_true(folder_make(gate, sizeof gate));
    assert_int_equal(chmod(gate, 0777), 0); /* the nodes are not root */
    script_write("gate", gate_script);
    script_write("rsync", rsync);
    script_write("mariadb-backup", backup);
    (void)text_format(text, sizeof text, "PATH=%s:$PATH\n", gate);
    script_write("env", text);
    assert_int_equal(setenv("BASH_ENV", gate_path("env", "", path), 1), 0);
}

/* Returns what is to be closed to open it. `name` begins with "gate-". */
static int gate_close(const char *name)
{
    char path[64];
    const int fd =
        open(gate_path(name, "", path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);

    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    (void)unlink(gate_path(name, "-waits", path));
    return fd;
}

static bool gate_has_donor(const char *name)
{
    char path[64];

    return access(gate_path(name, "-waits", path), F_OK) == 0;
}

/* --- the tests --- */

/* Nodes 1 and 2 serve on return, and node 0 unless a test before killed it. */
static void cluster_require(void)
{
    static const char *const args[] = {"--wsrep-sst-donor=n1,", NULL};

    galera_require();
    server_require("mariadb-backup");
    server_require("socat");
    if (nodes[0] == NULL) {
        gate_make();
        server_galera_cluster(args, nodes);
        mariadb_execute(nodes[1], "CREATE USER seq;"
                                  "GRANT ALL ON seq.* TO seq");
    }
    mariadb_execute(nodes[1],
                    "DROP DATABASE IF EXISTS seq; CREATE DATABASE seq");
}

TEST_WITH(SCENE, probe_tells_the_node_the_cluster_and_its_queue)
{
    struct seqb_details expected = {.role = "Synced",
                                    .quorum = "Primary, 3 nodes",
                                    .replicas = " write sets behind, paused ",
                                    .tls = "none"};
    const struct probe_log *told;
    const char *path;
    char node[MARIADB_ASK_SIZE];

    cluster_require();
    path = sample_write(scene, false);
    scene_use(scene, path, 100);
    told = probe_log_of(path, NULL);
    probe_log_expect(told, SEQB_OK);
    probe_log_expect_well(told, 0, "main/0");
    mariadb_ask(nodes[0], node, "SELECT CONCAT(@@hostname, ':', @@port)");
    (void)text_copy(expected.node, sizeof expected.node, node);
    probe_log_expect_details(told, 0, &expected);
    scene_expect_words(told->found[0].details.replicas, "here ");
}

/* A broker is open, and the cluster grants. */
static void cluster_serve(struct scene *scene)
{
    cluster_require();
    scene_open(scene, sample_write(scene, false));
    scene_take_until(scene, "order", CLUSTER, SEQB_PARTITION_UP);
    (void)more_await(scene, CLUSTER);
}

/* Node 0 was given up. */
static void two_are_primary_await(void)
{
    galera_await(nodes[1], "wsrep_cluster_size", "2");
    galera_await(nodes[1], "wsrep_cluster_status", "Primary");
}

TEST_WITH(SCENE, node_that_dies_keeps_no_caller_waiting)
{
    struct election election;

    cluster_serve(scene);
    (void)more_await(scene, SQLITE);
    server_kill(nodes[0]);
    election_begin(&election, two_are_primary_await);
    election_end(&election, "Galera", election_take(scene, CLUSTER, SQLITE));
    scene_close(scene);
    scene_expect_no_repeats(scene);
}

/* Write-sets of grants and claims that the node sent to the others since it
 * started. */
static int64_t replicated_by(int node)
{
    char count[MARIADB_ASK_SIZE];

    mariadb_ask(nodes[node], count,
                "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS "
                "WHERE VARIABLE_NAME = 'wsrep_replicated'");
    return strtoll(count, NULL, 10);
}

/* Leaves the processor to those that transfer. */
static void take_one(struct scene *scene)
{
    scene_take(scene, "order", 1);
    usleep(1000);
}

/* While the transfer stands still, node 2 alone grants. */
static int64_t transfer_passes(struct scene *scene)
{
    const int fd = gate_close("gate-sent");
    int64_t donors;
    int64_t others;
    int64_t longest_ms;

    server_kill(nodes[0]);
    galera_drop_files(nodes[0]);
    (void)more_await(scene, CLUSTER);
    galera_start_join(nodes[0]);
    while (!gate_has_donor("gate-sent"))
        take_one(scene);
    galera_await(nodes[1], "wsrep_local_state", "2");
    donors = replicated_by(1);
    others = replicated_by(2);
    longest_ms = more_await(scene, CLUSTER);
    assert_int_equal(replicated_by(1), donors);
    assert_true(replicated_by(2) > others);
    assert_false(galera_is_synced(nodes[0]));
    galera_await(nodes[1], "wsrep_local_state", "2");
    assert_int_equal(close(fd), 0);
    return longest_ms;
}

static void history_ask(int node, char out[static MARIADB_ASK_SIZE])
{
    mariadb_ask(nodes[node], out,
                "SELECT text FROM seq.seqb_claims"
                " WHERE name = 'cluster/incarnation'");
}

TEST_WITH(SCENE, node_that_joins_by_a_transfer_keeps_no_caller_waiting)
{
    char before[MARIADB_ASK_SIZE];
    char after[MARIADB_ASK_SIZE];
    int64_t longest_ms;
    int64_t since_ms;

    cluster_serve(scene);
    history_ask(1, before);
    longest_ms = transfer_passes(scene);
    since_ms = clock_now_ms();
    while (!galera_is_synced(nodes[0]))
        take_one(scene);
    print_message("a node joined: the longest call took %lld ms while the "
                  "transfer stood still; synced %lld ms after it went on\n",
                  (long long)longest_ms,
                  (long long)(clock_now_ms() - since_ms));
    galera_await(nodes[1], "wsrep_local_state", "4");
    server_kill(nodes[2]);
    (void)more_await(scene, CLUSTER);
    assert_true(replicated_by(0) > 0);
    history_ask(0, after);
    assert_string_equal(before, after);
    scene_close(scene);
    scene_expect_no_repeats(scene);
}

/* --- a transfer by mariabackup --- */

/* Two brokers, each with the other order of nodes: `late` is a process, and
 * begins at node 0, where the broker of the scene ends. */
struct brokers {
    struct scene *scene;
    struct taker late;
};

static void brokers_open(struct brokers *brokers, struct scene *scene)
{
    brokers->scene = scene;
    assert_int_equal(
        setenv("SEQBROKER_STATE_DIR", scene_path(scene, "state-late"), 1), 0);
    brokers->late = taker_start(sample_write(scene, false), "order");
    assert_int_equal(setenv("SEQBROKER_STATE_DIR", scene->state_dir, 1), 0);
    scene_open(scene, sample_write(scene, true));
    scene_take_until(scene, "order", CLUSTER, SEQB_PARTITION_UP);
}

static void brokers_take(struct brokers *brokers)
{
    scene_take(brokers->scene, "order", SOME);
    taker_read(&brokers->late, brokers->scene, SOME);
}

static void brokers_close(struct brokers *brokers)
{
    scene_close(brokers->scene);
    taker_kill(&brokers->late, brokers->scene);
}

/* Until both nodes have granted more. */
static void both_await(struct brokers *brokers, int one, int other)
{
    const int64_t ones = replicated_by(one);
    const int64_t others = replicated_by(other);

    while (replicated_by(one) == ones || replicated_by(other) == others)
        brokers_take(brokers);
}

/* Node 1, which mariabackup does not lock, grants to a broker that is connected
 * to it. A broker that opens passes it over. Nobody takes numbers from the end
 * of the copy until node 2 has joined: what it lacks then, nothing
 * repairs. */
static void backup_passes(struct brokers *brokers)
{
    struct scene *scene = brokers->scene;
    const int begun = gate_close("gate-begun");
    const int ended = gate_close("gate-ended");
    int64_t donors;

    galera_start_join(nodes[2]);
    while (!gate_has_donor("gate-begun")) /* the method sleeps for 10 s */
        take_one(scene);
    galera_await(nodes[1], "wsrep_local_state", "2");
    both_await(brokers, 0, 1);
    assert_int_equal(close(begun), 0);
    while (!gate_has_donor("gate-ended"))
        brokers_take(brokers);
    galera_await(nodes[1], "wsrep_local_state", "2");
    both_await(brokers, 0, 1);
    scene_close(scene);
    scene_open(scene, sample_write(scene, true));
    donors = replicated_by(1);
    (void)more_await(scene, CLUSTER);
    assert_int_equal(replicated_by(1), donors);
    brokers_close(brokers);
    assert_int_equal(close(ended), 0);
    while (!galera_is_synced(nodes[2]))
        usleep(20000);
    galera_await(nodes[1], "wsrep_local_state", "4");
}

static void expect_alike(const char *sql)
{
    char here[MARIADB_ASK_SIZE];
    char there[MARIADB_ASK_SIZE];

    mariadb_ask(nodes[1], here, "%s", sql);
    mariadb_ask(nodes[2], there, "%s", sql);
    assert_string_equal(here, there);
}

/* The row of node 2 in its own memory; "" if it has none. */
static void voucher_ask(int node, char out[static MARIADB_ASK_SIZE])
{
    mariadb_ask(nodes[node], out,
                "SELECT COALESCE(MAX(nonce), '') FROM seq.seqb_incarnation");
}

/* Node 2 has the rows of the donor, and nothing of its memory. */
TEST_WITH(SCENE, node_that_joins_by_a_backup_repeats_nothing)
{
    struct brokers brokers;
    char before[MARIADB_ASK_SIZE];
    char after[MARIADB_ASK_SIZE];

    cluster_serve(scene); /* makes the tables before there are two brokers */
    scene_close(scene);
    server_kill(nodes[2]);
    galera_drop_files(nodes[2]);
    galera_transfer_by(nodes[2], "mariabackup");
    brokers_open(&brokers, scene);
    both_await(&brokers, 0, 1);
    history_ask(1, before);
    backup_passes(&brokers);
    expect_alike("SELECT MD5(GROUP_CONCAT(CONCAT_WS('/', name, value, origin) "
                 "ORDER BY name)) FROM seq.seqb_counters");
    voucher_ask(2, after);
    assert_string_equal(after, "");
    brokers_open(&brokers, scene);
    both_await(&brokers, 0, 2);
    history_ask(2, after);
    assert_string_equal(after, before);
    voucher_ask(1, before);
    voucher_ask(2, after);
    assert_string_not_equal(after, before);
    brokers_close(&brokers);
    scene_expect_no_repeats(scene);
}

static int cluster_end(void **state)
{
    (void)state;
    for (int i = 0; i < GALERA_NODES; i++)
        server_free(nodes[i]);
    folder_remove(gate);
    return 0;
}

TEST_BEFORE_ALL(without_sigpipe);
TEST_AFTER_ALL(cluster_end);
