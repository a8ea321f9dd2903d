/* SPDX-License-Identifier: Apache-2.0 */
/* A broker over SQLite files: start, take, refill, status, stop with a spool,
 * and a start that takes the spool over. */
#include <seqbroker/admin.h>

#include "support/take.h"
#include "support/test.h"
#include "sweep.h"

#define FEW  3
#define MANY 100 /* more than a ring holds */

static const char topology[] =
    "broker = { name = \"orders\"; open_timeout = $; };"
    "backends = ("
    "  { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"
    "  { name = \"b\"; engine = \"sqlite\"; path = \"b.db\"; } );"
    "pools = ( { name = \"main\"; partitions = [ \"a\", \"b\" ]; } );"
    "sequences = ("
    "  { key = \"order\"; memory_bits = 2; max_unused = 32; deadline = $; } );"
    "auto_sequences = { pattern = \"*\"; limit = 10; pool = \"main\";"
    "  max_unused = 32; deadline = $; };";

static void take_many(struct sweep *sweep, struct seqb_broker *broker)
{
    struct seqb_sequence *sequence;
    struct seqb_error err = {SEQB_OK, ""};
    enum seqb_status status =
        seqb_get_sequence(broker, "order", &sequence, &err);
    int64_t many[MANY];

    if (!sweep_expect(sweep, status, &err, "sequence"))
        return;
    status = take_numbers(sequence, MANY, many, &err);
    if (sweep_expect(sweep, status, &err, "many"))
        sweep_note(sweep, "order", many, MANY);
}

static void take_slice(struct sweep *sweep, struct seqb_broker *broker)
{
    struct seqb_sequence *sequence;
    struct seqb_cursor *cursor;
    struct seqb_error err = {SEQB_OK, ""};
    enum seqb_status status =
        seqb_get_sequence(broker, "order", &sequence, &err);
    int64_t number;

    if (!sweep_expect(sweep, status, &err, "sequence"))
        return;
    status = seqb_cursor_open(sequence, 4, &cursor, &err);
    if (!sweep_expect(sweep, status, &err, "cursor"))
        return;
    status = seqb_cursor_next(cursor, &number, &err);
    if (sweep_expect(sweep, status, &err, "cursor"))
        sweep_note(sweep, "order", &number, 1);
    seqb_cursor_close(cursor);
}

static void live(struct sweep *sweep)
{
    struct seqb_broker *broker =
        sweep_open(sweep, sweep_topology(sweep, "life.conf", topology));

    if (broker == NULL)
        return;
    sweep_take(sweep, broker, "order", FEW);
    sweep_take(sweep, broker, "another", FEW);
    take_many(sweep, broker);
    take_slice(sweep, broker);
    seqb_close(broker);
}

/* The spool of the second life is the first one's. */
static void live_twice(struct sweep *sweep)
{
    live(sweep);
    live(sweep);
}

static const struct sweep_scene first_start = {.during = live, .after = live};
static const struct sweep_scene later_start = {
    .before = live, .during = live_twice, .after = live_twice};

TEST(memory_of_the_first_start)
{
    sweep_run(&first_start, FAULTS_MEMORY);
}

TEST(calls_of_the_first_start)
{
    sweep_run(&first_start, FAULTS_CALLS);
}

TEST(memory_of_sqlite_at_the_first_start)
{
    sweep_run(&first_start, FAULTS_SQLITE_MEMORY);
}

TEST(calls_of_sqlite_at_the_first_start)
{
    sweep_run(&first_start, FAULTS_SQLITE_CALLS);
}

TEST(memory_of_a_later_start)
{
    sweep_run(&later_start, FAULTS_MEMORY);
}

TEST(calls_of_a_later_start)
{
    sweep_run(&later_start, FAULTS_CALLS);
}

TEST(memory_of_sqlite_at_a_later_start)
{
    sweep_run(&later_start, FAULTS_SQLITE_MEMORY);
}

TEST(calls_of_sqlite_at_a_later_start)
{
    sweep_run(&later_start, FAULTS_SQLITE_CALLS);
}
