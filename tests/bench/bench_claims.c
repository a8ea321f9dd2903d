/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a broker's start takes that claims thousands of listed sequences in
 * a memcached, the first time, and later, when it reads and compares them: by
 * claims in batches, and by an engine that is memcached but for these, in turn
 * in one run.
 */
#include <stdlib.h>

#include <seqbroker/seqbroker.h>

#include "backends/backends.h"
#include "bench/now.h"
#include "bench/report.h"
#include "bench/topology.h"
#include "platform/text.h"
#include "support/server_memcached.h"
#include "support/test.h"

#define LISTED    5000
#define TEXT_SIZE (LISTED * 32 + 1024)

enum { START, SINGLE, BATCHED, RATIO };

static const struct report_column columns[] = {
    [START] = {"start", NULL, BAR_NONE, PLOT_NOT},
    [SINGLE] = {"one claim at a time", "ms", BAR_NONE, PLOT_LOG},
    [BATCHED] = {"in batches", "ms", BAR_NONE, PLOT_LOG},
    [RATIO] = {"one at a time / in batches", "", BAR_NONE, PLOT_NOT},
};

static const struct report_table claims = {
    "claims", "Claims of 5,000 listed sequences in a memcached",
    NULL,     SHAPE_BARS,
    columns,  4};

static struct seqb_backend_ops single;

static enum seqb_status single_open(const struct seqb_backend_options *options,
                                    struct seqb_backend **out,
                                    struct seqb_error *err)
{
    const enum seqb_status status = backend_memcached.open(options, out, err);

    if (status == SEQB_OK)
        (*out)->ops = &single;
    return status;
}

static void single_make(void)
{
    single = backend_memcached;
    single.engine = "single";
    single.open = single_open;
    single.claim_many = NULL;
}

static void pool_write(struct topology *topology, const char *engine,
                       int32_t port, int pool)
{
    static char text[TEXT_SIZE];

    (void)text_format(
        text, sizeof text,
        "backends = ( { name = \"one\"; engine = \"%s\"; host = \"127.0.0.1\"; "
        "port = %d; prefix = \"%s%d\"; },\n"
        "  { name = \"windows\"; engine = \"sqlite\"; path = \"w.db\"; } );\n"
        "pools = ( { name = \"main\"; partitions = [ \"one\" ];\n"
        "  authority = \"windows\"; timeout = \"5s\"; } );\n"
        "sequences = (",
        engine, (int)port, engine, pool);
    for (int i = 0; i < LISTED; i++)
        (void)text_append(text, sizeof text, "%s { key = \"k%d\"; }",
                          i == 0 ? "" : ",", i);
    assert_true(text_append(text, sizeof text, " );\n"));
    topology_write(topology, text);
}

/* In ms. */
static double start_ms(const struct topology *topology)
{
    const struct seqb_backend_ops *const own[] = {&single, NULL};
    struct seqb_broker *broker = NULL;
    struct seqb_error err;
    double begin;
    double took;

    assert_int_equal(setenv("SEQBROKER_STATE_DIR", topology->folder, 1), 0);
    begin = now_s();
    if (seqb_open_with(topology->path, own, &broker, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    took = now_s() - begin;
    seqb_close(broker);
    return took * 1e3;
}

/* A first start, and a later one. */
static void starts_sample(struct report *report, int32_t port, int run)
{
    static const char *const names[] = {"single", "memcached"};
    struct topology topologies[2];

    for (int i = 0; i < 2; i++)
        pool_write(&topologies[i], names[i], port, run);
    for (size_t row = 0; row < 2; row++) {
        const double one_by_one = start_ms(&topologies[0]);
        const double batched = start_ms(&topologies[1]);

        report_select(report, row);
        report_sample(report, SINGLE, one_by_one);
        report_sample(report, BATCHED, batched);
        report_sample(report, RATIO, one_by_one / batched);
    }
    for (int i = 0; i < 2; i++)
        topology_remove(&topologies[i]);
}

int main(int argc, char **argv)
{
    struct report_arguments arguments = {.span = 1, .runs = 5, .unit = "1"};
    struct report *report = report_open(argc, argv, &arguments);
    const struct server *server;

    block_sigpipe();
    single_make();
    server = server_memcached(NULL);
    report_table(report, &claims);
    report_row(report);
    report_text(report, START, "the first");
    report_row(report);
    report_text(report, START, "a later one");
    for (int i = 0; i < arguments.runs; i++)
        starts_sample(report, server_port(server), i);
    report_rows_end(report, 2);
    return report_close(report);
}
