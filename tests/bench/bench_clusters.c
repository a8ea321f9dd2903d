/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long callers wait for a number where the store is a cluster: seqb_next of
 * a caller at a steady pace, beside the cluster asked directly for one number
 * after the other by its own client, in turn in one run. Where counters are
 * direct, also the engine by itself, with many counters a call. One cluster
 * runs at a time, all members on this machine.
 */
#include <stdlib.h>

#include "backends/backends.h"
#include "backends/redis/slot.h"
#include "bench/direct.h"
#include "bench/load.h"
#include "bench/now.h"
#include "bench/report.h"
#include "bench/topology.h"
#include "platform/text.h"
#include "support/server_cluster.h"
#include "support/server_galera.h"
#include "support/test.h"
#ifdef SEQB_WITH_ETCD
#include "support/server_etcd.h"
#ifdef SEQB_WITH_POSTGRES
#include "support/server_patroni.h"
#include "support/server_postgres.h"
#endif
#endif

#define PACE       20000 /* calls a second */
#define TEXT_SIZE  2048
#define PLACE_SIZE 512
#define COUNTERS   100 /* in a call of the engine */
#define LIMIT      ((int64_t)1 << 40)
#define NO_FAILURE 600000 /* ms: a busy machine is not to be one */

enum {
    STORE,
    P50,
    P999,
    PEER,
    DIRECT_S,
    DIRECT_P50,
    DIRECT_P999,
    GRANTS_S,
    FIRST_MS
};

static const struct report_column columns[] = {
    [STORE] = {"store", NULL, BAR_NONE, PLOT_NOT},
    [P50] = {"seqb_next, p50", "us", BAR_NONE, PLOT_LOG},
    [P999] = {"p99.9", "us", BAR_NONE, PLOT_LOG},
    [PEER] = {"asked directly by", NULL, BAR_NONE, PLOT_NOT},
    [DIRECT_S] = {"numbers", "1/s", BAR_NONE, PLOT_NOT},
    [DIRECT_P50] = {"directly, p50", "us", BAR_NONE, PLOT_LOG},
    [DIRECT_P999] = {"directly, p99.9", "us", BAR_NONE, PLOT_LOG},
    [GRANTS_S] = {"grants, 100 counters a call", "1/s", BAR_NONE, PLOT_NOT},
    [FIRST_MS] = {"a call for 100 new counters", "ms", BAR_NONE, PLOT_NOT},
};

static const struct report_table clusters = {
    "clusters", "Numbers of clusters", NULL, SHAPE_BARS, columns, 9};

struct bench {
    struct report *report;
    struct report_arguments arguments;
};

/* A cluster that runs, and how both ask it. */
struct subject {
    const char *name;
    char place[PLACE_SIZE]; /* of the backend in a topology */
    const struct direct_kind *direct;
    int32_t port; /* of the member that is asked directly */
    const struct seqb_backend_ops *ops; /* NULL: its counters are not direct */
    const char *endpoints[4];           /* NULL at the end */
    const char *conninfo;               /* NULL: by its endpoints */
    char addresses[3][32];
};

static struct seqb_broker *broker_open(struct topology *topology,
                                       const struct subject *subject)
{
    char text[TEXT_SIZE];

    assert_true(text_format(
        text, sizeof text,
        "backends = ( { name = \"cluster\"; connect_timeout = \"10s\"; %s },\n"
        "  { name = \"windows\"; engine = \"sqlite\"; path = \"w.db\"; } );\n"
        "pools = ( { name = \"main\"; partitions = [ \"cluster\" ];\n"
        "  authority = \"windows\"; timeout = \"5s\"; } );\n"
        "sequences = ( { key = \"order\"; deadline = \"30s\"; } );\n",
        subject->place));
    topology_write(topology, text);
    return topology_open(topology);
}

static void ours_sample(const struct bench *bench,
                        struct seqb_sequence *sequence)
{
    static struct load load;

    load_start(&load, sequence, PACE);
    pause_s(bench->arguments.span);
    load_stop(&load);
    if (load.errors > 0)
        fail_msg("%s", load.first.text);
    report_sample(bench->report, P50,
                  (double)latency_at(&load.latency, 0.5) / 1e3);
    report_sample(bench->report, P999,
                  (double)latency_at(&load.latency, 0.999) / 1e3);
}

static void direct_sample(const struct bench *bench,
                          const struct direct_kind *kind, struct direct *direct)
{
    static struct latency latency;
    const int64_t start_ns = now_ns();
    const int64_t end_ns =
        start_ns + (int64_t)(bench->arguments.span * 1000000000);
    int64_t before_ns = start_ns;

    latency_init(&latency);
    while (before_ns < end_ns) {
        int64_t after_ns;

        assert_true(kind->next(direct));
        after_ns = now_ns();
        latency_add(&latency, after_ns - before_ns);
        before_ns = after_ns;
    }
    report_sample(bench->report, DIRECT_S,
                  (double)latency.count * 1e9 / (double)(before_ns - start_ns));
    report_sample(bench->report, DIRECT_P50,
                  (double)latency_at(&latency, 0.5) / 1e3);
    report_sample(bench->report, DIRECT_P999,
                  (double)latency_at(&latency, 0.999) / 1e3);
}

static struct seqb_backend *engine_open(const struct subject *subject)
{
    const struct seqb_backend_options options = {
        .name = "cluster",
        .endpoints = subject->endpoints,
        .conninfo = subject->conninfo,
        .user = subject->ops == &backend_mysql_row ? "bench" : NULL,
        .password = "bench",
        .database = "bench",
        .timeout_ms = NO_FAILURE,
        .connect_timeout_ms = NO_FAILURE,
        .create = true};
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    if (subject->ops->open(&options, &backend, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    return backend;
}

/* One call for a value of each counter of a run. */
static void counters_call(const struct subject *subject,
                          struct seqb_backend *backend, int run)
{
    static char names[COUNTERS][SEQB_COUNTER_SIZE];
    struct seqb_request requests[COUNTERS];

    for (int i = 0; i < COUNTERS; i++) {
        (void)text_format(names[i], sizeof names[i], "run%d/0/key%d", run, i);
        requests[i] = (struct seqb_request){
            .counter = names[i], .want = 1, .limit = LIMIT};
    }
    assert_ok(subject->ops->reserve(backend, requests, COUNTERS, NULL));
    for (int i = 0; i < COUNTERS; i++)
        assert_ok(requests[i].status);
}

static void engine_sample(const struct bench *bench,
                          const struct subject *subject,
                          struct seqb_backend *backend, int run)
{
    const double first_s = now_s();
    double start_s;
    int64_t calls = 0;

    counters_call(subject, backend, run);
    report_sample(bench->report, FIRST_MS, (now_s() - first_s) * 1e3);
    start_s = now_s();
    for (; now_s() - start_s < bench->arguments.span; calls++)
        counters_call(subject, backend, run);
    report_sample(bench->report, GRANTS_S,
                  (double)(calls * COUNTERS) / (now_s() - start_s));
}

static void engine_samples(const struct bench *bench,
                           const struct subject *subject)
{
    struct seqb_backend *backend;

    if (subject->ops == NULL)
        return;
    backend = engine_open(subject);
    for (int i = 0; i < bench->arguments.runs; i++)
        engine_sample(bench, subject, backend, i);
    subject->ops->close(backend);
}

static void subject_row(const struct bench *bench,
                        const struct subject *subject)
{
    struct topology topology;
    struct seqb_broker *broker = broker_open(&topology, subject);
    struct seqb_sequence *sequence = sequence_of(broker, "order");
    struct direct *direct = subject->direct->open(NULL, subject->port);

    assert_non_null(direct);
    report_row(bench->report);
    report_text(bench->report, STORE, "%s", subject->name);
    report_text(bench->report, PEER, "%s", subject->direct->what);
    for (int i = 0; i < bench->arguments.runs; i++) {
        ours_sample(bench, sequence);
        direct_sample(bench, subject->direct, direct);
    }
    subject->direct->close(direct);
    seqb_close(broker);
    engine_samples(bench, subject);
    report_row_end(bench->report);
    topology_remove(&topology);
}

/* The engine is measured by itself, too. */
static void subject_engine(struct subject *subject,
                           const struct seqb_backend_ops *ops,
                           struct server *const members[3])
{
    subject->ops = ops;
    for (int i = 0; i < 3; i++) {
        (void)text_format(subject->addresses[i], sizeof subject->addresses[i],
                          "127.0.0.1:%d", (int)server_port(members[i]));
        subject->endpoints[i] = subject->addresses[i];
    }
}

static void bench_galera(const struct bench *bench)
{
    struct server *nodes[GALERA_NODES];
    struct subject subject = {.name = "Galera, three nodes",
                              .direct = &direct_mysql_row};

    server_galera_cluster(NULL, nodes);
    mariadb_execute(nodes[0], "CREATE DATABASE bench;"
                              "CREATE USER bench@'%%' IDENTIFIED BY 'bench';"
                              "GRANT ALL ON bench.* TO bench@'%%'");
    assert_int_equal(setenv("BENCH_PASSWORD", "bench", 1), 0);
    subject.port = server_port(nodes[0]);
    subject_engine(&subject, &backend_mysql_row, nodes);
    (void)text_format(subject.place, PLACE_SIZE,
                      "engine = \"mysql-row\"; user = \"bench\"; database = "
                      "\"bench\"; password_env = \"BENCH_PASSWORD\"; hosts = "
                      "[ \"127.0.0.1:%d\", \"127.0.0.1:%d\", "
                      "\"127.0.0.1:%d\" ];",
                      (int)server_port(nodes[0]), (int)server_port(nodes[1]),
                      (int)server_port(nodes[2]));
    subject_row(bench, &subject);
    for (int i = 0; i < GALERA_NODES; i++)
        server_free(nodes[i]);
}

static void bench_redis_cluster(const struct bench *bench)
{
    struct cluster *cluster = cluster_new(NO_FAILURE);
    const size_t owner = cluster_owner(cluster, 0, slot_of_key("direct"));
    struct subject subject = {.name = "Redis Cluster, three masters",
                              .direct = &direct_redis};

    subject.port = server_port(cluster->servers[owner]);
    (void)text_format(subject.place, PLACE_SIZE,
                      "engine = \"redis\"; cluster = [ \"%s\", \"%s\" ];",
                      cluster->addresses[0], cluster->addresses[1]);
    subject_row(bench, &subject);
    cluster_free(cluster);
}

#ifdef SEQB_WITH_ETCD
static void bench_etcd(const struct bench *bench)
{
    struct server *members[ETCD_MEMBERS];
    struct subject subject = {.name = "etcd, three members",
                              .direct = &direct_etcd};

    server_etcd_cluster(members);
    subject.port = server_port(members[0]);
    subject_engine(&subject, &backend_etcd, members);
    (void)text_format(
        subject.place, PLACE_SIZE,
        "engine = \"etcd\"; endpoints = "
        "[ \"127.0.0.1:%d\", \"127.0.0.1:%d\", \"127.0.0.1:%d\" ];",
        (int)server_port(members[0]), (int)server_port(members[1]),
        (int)server_port(members[2]));
    subject_row(bench, &subject);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_free(members[i]);
}

#ifdef SEQB_WITH_POSTGRES
/* As docs/patroni.md recommends: each commit waits for the standby. */
static void bench_patroni(const struct bench *bench)
{
    struct subject subject = {
        .name = "PostgreSQL under Patroni, two nodes, synchronous",
        .direct = &direct_postgres,
        .ops = &backend_postgres};
    struct patroni *patroni;
    char conninfo[PLACE_SIZE];

    patroni_require();
    patroni = server_patroni();
    postgres_execute(patroni->nodes[0], "postgres", "CREATE ROLE bench LOGIN");
    postgres_execute(patroni->nodes[0], "postgres",
                     "CREATE DATABASE bench OWNER bench");
    patroni_synchronous(patroni, true);
    subject.port = server_port(patroni->nodes[patroni_single(patroni)]);
    (void)text_format(conninfo, sizeof conninfo,
                      "host=127.0.0.1,127.0.0.1 port=%d,%d user=bench "
                      "dbname=bench target_session_attrs=read-write",
                      (int)server_port(patroni->nodes[0]),
                      (int)server_port(patroni->nodes[1]));
    subject.conninfo = conninfo;
    (void)text_format(subject.place, PLACE_SIZE,
                      "engine = \"postgres\"; conninfo = \"%s\";", conninfo);
    subject_row(bench, &subject);
    patroni_free(patroni);
}
#endif
#endif

int main(int argc, char **argv)
{
    struct bench bench = {.arguments = {.span = 2.0, .runs = 5}};

    bench.report = report_open(argc, argv, &bench.arguments);
    block_sigpipe();
    report_table(bench.report, &clusters);
    bench_redis_cluster(&bench);
    bench_galera(&bench);
#ifdef SEQB_WITH_ETCD
    bench_etcd(&bench);
#ifdef SEQB_WITH_POSTGRES
    bench_patroni(&bench);
#endif
#endif
    return report_close(bench.report);
}
