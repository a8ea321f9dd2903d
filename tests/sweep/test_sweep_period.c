/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of days with a template, and a snowflake: the clock file, and the
 * worker id that a store leases. */
#include <seqbroker/admin.h>

#include "support/take.h"
#include "support/test.h"
#include "sweep.h"

#define FEW 3

static const char topology[] =
    "broker = { name = \"days\"; open_timeout = $; };"
    "backends = ("
    "  { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"
    "  { name = \"b\"; engine = \"sqlite\"; path = \"b.db\"; } );"
    "pools = ( { name = \"main\"; partitions = [ \"a\", \"b\" ]; } );"
    "sequences = ("
    "  { key = \"waybill\"; memory_bits = 2; max_unused = 32; deadline = $;"
    "    period = \"year\"; time_zone = \"UTC\";"
    "    template = \"@{date}@{seq, width=9}-@{check, algorithm=damm}\"; },"
    "  { key = \"flake\"; deadline = $; snowflake = { epoch = \"2020-01-01\";"
    "    worker_bits = 10; counter_bits = 12; lease = \"1s\"; }; } );";

static void take_text_of(struct sweep *sweep, struct seqb_broker *broker)
{
    struct seqb_sequence *sequence;
    struct seqb_parsed parsed;
    struct seqb_error err = {SEQB_OK, ""};
    char text[SEQB_TEXT_MAX + 1];
    enum seqb_status status =
        seqb_get_sequence(broker, "waybill", &sequence, &err);

    if (!sweep_expect(sweep, status, &err, "sequence"))
        return;
    status = take_text(sequence, NULL, 0, text, sizeof text, &err);
    if (!sweep_expect(sweep, status, &err, "text"))
        return;
    status = seqb_parse(sequence, text, &parsed, &err);
    if (sweep_expect(sweep, status, &err, text))
        sweep_note(sweep, "waybill", &parsed.value, 1);
}

static void live(struct sweep *sweep)
{
    struct seqb_broker *broker =
        sweep_open(sweep, sweep_topology(sweep, "days.conf", topology));

    if (broker == NULL)
        return;
    take_text_of(sweep, broker);
    sweep_take(sweep, broker, "waybill", FEW);
    sweep_take(sweep, broker, "flake", FEW);
    seqb_close(broker);
}

static const struct sweep_scene days = {
    .before = live, .during = live, .after = live};

TEST(memory_of_days_and_snowflakes)
{
    sweep_run(&days, FAULTS_MEMORY);
}

TEST(calls_of_days_and_snowflakes)
{
    sweep_run(&days, FAULTS_CALLS);
}

TEST(calls_of_sqlite_with_days_and_snowflakes)
{
    sweep_run(&days, FAULTS_SQLITE_CALLS);
}
