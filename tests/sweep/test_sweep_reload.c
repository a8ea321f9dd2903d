/* SPDX-License-Identifier: Apache-2.0 */
/* A topology read again while a broker serves: sequences come, change and go. A
 * reload that fails has applied nothing, and a later one may do it. */
#include <seqbroker/reload.h>

#include "support/test.h"
#include "sweep.h"

#define FEW 1

#define BEGIN                                                                  \
    "broker = { name = \"orders\"; open_timeout = $; };"                       \
    "backends = ("                                                             \
    "  { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"               \
    "  { name = \"b\"; engine = \"sqlite\"; path = \"b.db\"; } );"             \
    "pools = ( { name = \"main\"; partitions = [ \"a\", \"b\" ]; "
#define SEQUENCES                                                              \
    "} );"                                                                     \
    "sequences = ("                                                            \
    "  { key = \"year\"; memory_bits = 2; max_unused = 32; deadline = $;"      \
    "    period = \"year\"; },"
#define ORDER(unused)                                                          \
    "  { key = \"order\"; memory_bits = 2; max_unused = " unused               \
    "; deadline = $; }"

/* Alike but for the keys, of a time with a template, and automatic ones. */
static const char first[] = BEGIN SEQUENCES ORDER("32") ");";
static const char second[] = BEGIN "rescue = \"fixed\";" SEQUENCES ORDER(
    "16") ","
          "  { key = \"bill\"; max_unused = 32; deadline = $; },"
          "  { key = \"bill-2\"; max_unused = 32; deadline = $; },"
          "  { key = \"day\"; max_unused = 32; deadline = $; period = \"day\";"
          "    template = \"@{date}@{seq, width=12}\"; } );"
          "auto_sequences = { pattern = \"tmp-*\"; limit = 10; deadline = $; };"
          "key_limits = ( { name = \"some\"; keys = [ \"tmp-*\" ]; rate = 9; } "
          ");";
static const char third[] = BEGIN SEQUENCES ORDER("64") ");";

static bool knows(struct sweep *sweep, struct seqb_broker *broker)
{
    struct seqb_sequence *sequence;
    enum seqb_status status;

    (void)sweep;
    faults_suspend(true);
    status = seqb_get_sequence(broker, "bill", &sequence, NULL);
    faults_suspend(false);
    return status == SEQB_OK;
}

static bool reload(struct sweep *sweep, struct seqb_broker *broker,
                   const char *text)
{
    const char *path = sweep_topology(sweep, "reload.conf", text);
    struct seqb_error err = {SEQB_OK, ""};
    const bool before = knows(sweep, broker);
    const enum seqb_status status = seqb_reload(broker, path, NULL, &err);

    if (status != SEQB_OK && knows(sweep, broker) != before)
        sweep_fail("a reload that failed was applied: %s", err.text);
    return sweep_expect(sweep, status, &err, "reload");
}

static void serve_second(struct sweep *sweep, struct seqb_broker *broker)
{
    if (!knows(sweep, broker))
        sweep_fail("what the reload added is not there");
    sweep_take(sweep, broker, "order", FEW);
    sweep_take(sweep, broker, "bill", FEW);
    sweep_take(sweep, broker, "tmp-1", FEW);
}

/* The open and the close are swept elsewhere, but for the workers' part. */
static void live(struct sweep *sweep)
{
    struct seqb_broker *broker;
    bool is_second;

    faults_suspend(true);
    broker = sweep_open(sweep, sweep_topology(sweep, "reload.conf", first));
    if (broker == NULL)
        return;
    sweep_take(sweep, broker, "order", FEW);
    faults_suspend(false);
    is_second = reload(sweep, broker, second);
    if (!is_second) /* what failed once may be done then */
        is_second = reload(sweep, broker, second);
    if (is_second)
        serve_second(sweep, broker);
    if (reload(sweep, broker, third) && knows(sweep, broker))
        sweep_fail("what the reload removed is there still");
    sweep_take(sweep, broker, "order", FEW);
    faults_suspend(true);
    seqb_close(broker);
    faults_suspend(false);
}

static const struct sweep_scene reloads = {
    .before = live, .during = live, .after = live, .places = 16};

TEST(memory_of_reloads)
{
    sweep_run(&reloads, FAULTS_MEMORY);
}

TEST(calls_of_reloads)
{
    sweep_run(&reloads, FAULTS_CALLS);
}

TEST(memory_of_sqlite_at_reloads)
{
    sweep_run(&reloads, FAULTS_SQLITE_MEMORY);
}

TEST(calls_of_sqlite_at_reloads)
{
    sweep_run(&reloads, FAULTS_SQLITE_CALLS);
}
