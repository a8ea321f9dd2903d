/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence that a store refuses, and that a reload takes out: nothing of it
 * is shown, reported or tried any more, until it is listed again.
 */
#include <seqbroker/reload.h>

#include <string.h>
#include <unistd.h>

#include "platform/text.h"
#include "store_file.h"
#include "support/events.h"
#include "support/test.h"

#define BACKEND(name)                                                          \
    "{ name = \"" name "\"; engine = \"sqlite\"; path = \"" name ".db\"; "     \
    "connect_timeout = \"20s\"; }"
#define TOPOLOGY(sequences)                                                    \
    "backends = (" BACKEND("a") ", " BACKEND(                                  \
        "b") ");\n"                                                            \
             "pools = ({ name = \"main\"; partitions = [ \"a\", \"b\" ]; "     \
             "timeout = "                                                      \
             "\"20s\"; });\n"                                                  \
             "sequences = (" sequences ");\n"
#define LISTED(key, more)                                                      \
    "{ key = \"" key "\"; deadline = \"40s\"; prefetch = false; " more "}"
#define ORDER     LISTED("order", "")
#define BILL      LISTED("bill", "")
#define WIDE_BILL LISTED("bill", "memory_bits = 4; ")

static int end(void **state)
{
    events_stop();
    return scene_teardown(state);
}

#define REFUSED FIXTURE(struct scene *scene, scene_setup, end)

static void open_with(struct scene *scene, const char *text)
{
    events_start();
    scene_open(scene, scene_write(scene, "t.conf", text));
}

static void reload(struct scene *scene, const char *text)
{
    struct seqb_error err = {.text = ""};

    assert_done(seqb_reload(scene->broker, scene_write(scene, "t.conf", text),
                            NULL, &err),
                err);
}

/* So that its counter is in the second store. */
static void take_from_the_second(struct scene *scene)
{
    while (scene_partition(scene, 1).granted == 0)
        scene_take(scene, "bill", 1000);
}

/* Sets the value of bill's counter in the second store. */
static void set_counter(const struct scene *scene, const char *value)
{
    char statement[128];

    (void)text_format(statement, sizeof statement,
                      "UPDATE seqb_counters SET value = %s "
                      "WHERE name = 'main/1/bill'",
                      value);
    assert_int_equal(store_file_edit(scene, "b.db", statement), 1);
}

static enum seqb_health health_of(struct scene *scene)
{
    enum seqb_health health = SEQB_HEALTH_UNKNOWN;

    assert_ok(seqb_get_health(scene->broker, &health, NULL, 0, NULL));
    return health;
}

static void expect_nothing_refused(struct scene *scene)
{
    assert_int_equal(scene_partition(scene, 0).refused, 0);
    assert_int_equal(scene_partition(scene, 1).refused, 0);
    assert_string_equal(seqb_health_name(health_of(scene)), "serving");
}

static void take_until_refused(struct scene *scene)
{
    while (scene_partition(scene, 1).refused == 0)
        scene_take(scene, "bill", 16);
    assert_int_equal(health_of(scene), SEQB_HEALTH_DEGRADED);
}

/* --- the tests --- */

TEST_WITH(REFUSED, refused_counter_that_is_taken_out_is_forgotten)
{
    open_with(scene, TOPOLOGY(ORDER "," BILL));
    take_from_the_second(scene);
    set_counter(scene, "'x'");
    take_until_refused(scene);
    reload(scene, TOPOLOGY(ORDER));
    expect_nothing_refused(scene);
    events_expect("event=counter_refused", "key=bill", 1);
    events_expect("event=counter_recovered pool=main partition=1",
                  "key=bill reason=\"the topology no longer lists", 1);
    scene_expect_no_repeats(scene);
}

TEST_WITH(REFUSED, refused_counter_that_is_listed_again_is_reported_again)
{
    open_with(scene, TOPOLOGY(ORDER "," BILL));
    take_from_the_second(scene);
    set_counter(scene, "'x'");
    take_until_refused(scene);
    reload(scene, TOPOLOGY(ORDER));
    reload(scene, TOPOLOGY(ORDER "," BILL));
    take_until_refused(scene);
    events_expect("event=counter_refused", "key=bill", 2);
    reload(scene, TOPOLOGY(ORDER));
    set_counter(scene, "9000000");
    reload(scene, TOPOLOGY(ORDER "," BILL));
    scene_take_until(scene, "bill", 1, SEQB_PARTITION_UP);
    scene_take(scene, "bill", 5000);
    expect_nothing_refused(scene);
    events_expect("event=counter_refused", "key=bill", 2);
    events_expect("event=counter_recovered", "key=bill", 2);
    scene_expect_no_repeats(scene);
}

/* A store knows it with other bits: it stays closed until a restart, and that
 * is shown whenever it is listed. */
TEST_WITH(REFUSED, closed_sequence_is_shown_only_while_it_is_listed)
{
    struct seqb_error err = {.text = ""};

    open_with(scene, TOPOLOGY(ORDER "," WIDE_BILL));
    scene_take(scene, "bill", 10);
    scene_close(scene);
    open_with(scene, TOPOLOGY(ORDER "," BILL));
    assert_int_equal(health_of(scene), SEQB_HEALTH_DEGRADED);
    events_expect("event=layout", "key=bill", 1);
    reload(scene, TOPOLOGY(ORDER));
    expect_nothing_refused(scene);
    events_expect("event=counter_recovered", "key=bill", 1);
    reload(scene, TOPOLOGY(ORDER "," BILL));
    assert_int_equal(health_of(scene), SEQB_HEALTH_DEGRADED);
    events_expect("event=layout", "key=bill", 2);
    assert_status(scene_find(scene, "bill", &err), SEQB_LAYOUT);
    scene_expect_words(err.text, "memory_bits=4");
}

TEST_WITH(REFUSED, sequence_of_a_refused_reload_leaves_nothing_behind)
{
    struct seqb_error err = {.text = ""};

    open_with(scene, TOPOLOGY(ORDER "," WIDE_BILL));
    scene_take(scene, "bill", 10);
    scene_close(scene);
    open_with(scene, TOPOLOGY(ORDER));
    assert_status(
        seqb_reload(scene->broker,
                    scene_write(scene, "t.conf", TOPOLOGY(ORDER "," BILL)),
                    NULL, &err),
        SEQB_LAYOUT);
    expect_nothing_refused(scene);
    events_expect("event=layout", "key=bill", 1);
    events_expect("event=counter_recovered", "key=bill", 1);
}
