/* SPDX-License-Identifier: Apache-2.0 */
/* Each event is one line of the log and one call of who listens. */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include <seqbroker/seqbroker.h>

#include "ha/events.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "support/test.h"

#define KINDS  (SEQB_EVENT_LESSOR_LEVEL + 1)
#define STATES (SEQB_PARTITION_POISONED + 1)

/* The last line that was logged, and how many there were. */
struct log {
    char line[512];
    enum seqb_log_level level;
    int lines;
};

static void keep(void *context, enum seqb_log_level level, const char *line)
{
    struct log *log = context;

    (void)text_copy(log->line, sizeof log->line, line);
    log->level = level;
    log->lines++;
}

static int log_setup(void **state)
{
    static struct log log;

    log = (struct log){.lines = 0};
    seqb_set_logger(keep, &log);
    *state = &log;
    return 0;
}

static int log_teardown(void **state)
{
    (void)state;
    seqb_set_logger(NULL, NULL);
    return 0;
}

#define LOGGED FIXTURE(struct log *log, log_setup, log_teardown)

static struct seqb_event event_of(enum seqb_event_kind kind)
{
    return (struct seqb_event){.kind = kind,
                               .from = SEQB_PARTITION_UP,
                               .to = SEQB_PARTITION_UP,
                               .pool = "main",
                               .partition = 2,
                               .backend = "pg-a",
                               .key = "order",
                               .counter = "main/2/order",
                               .reason = "it had fallen behind"};
}

TEST(every_kind_has_a_name_of_its_own)
{
    static const char *const names[] = {
        "state",        "raised",      "exhausted",       "layout",
        "forecast",     "advanced",    "counter_refused", "counter_recovered",
        "lessor_waits", "lessor_level"};

    for (int i = 0; i < KINDS; i++)
        assert_string_equal(seqb_event_name((enum seqb_event_kind)i), names[i]);
    assert_string_equal(seqb_event_name((enum seqb_event_kind)KINDS),
                        "unknown");
    assert_string_equal(seqb_event_name((enum seqb_event_kind) - 1), "unknown");
}

TEST_WITH(LOGGED, a_change_of_state_is_logged_by_the_state_it_leads_to)
{
    static const enum seqb_log_level levels[STATES] = {
        SEQB_LOG_WARN, SEQB_LOG_INFO,  SEQB_LOG_WARN,
        SEQB_LOG_WARN, SEQB_LOG_WARN,  SEQB_LOG_INFO,
        SEQB_LOG_WARN, SEQB_LOG_ERROR, SEQB_LOG_ERROR};

    for (int to = 0; to < STATES; to++) {
        struct seqb_event event = event_of(SEQB_EVENT_STATE);
        char line[256];

        event.from = SEQB_PARTITION_RAMPING;
        event.to = (enum seqb_partition_state)to;
        event.partition = -1;
        event.key = NULL;
        event.counter = NULL;
        event.reason = "connection refused";
        events_emit(NULL, &event);
        (void)text_format(line, sizeof line,
                          "event=%s was=ramping pool=main partition=-1 "
                          "backend=pg-a reason=\"connection refused\"",
                          seqb_partition_state_name(event.to));
        assert_string_equal(log->line, line);
        assert_int_equal(log->level, levels[to]);
        assert_int_equal(log->lines, to + 1);
    }
}

TEST_WITH(LOGGED, what_happened_to_a_counter_is_logged_by_its_kind)
{
    static const enum seqb_log_level levels[KINDS] = {
        [SEQB_EVENT_RAISED] = SEQB_LOG_WARN,
        [SEQB_EVENT_EXHAUSTED] = SEQB_LOG_ERROR,
        [SEQB_EVENT_LAYOUT] = SEQB_LOG_ERROR,
        [SEQB_EVENT_FORECAST] = SEQB_LOG_WARN,
        [SEQB_EVENT_ADVANCED] = SEQB_LOG_INFO,
        [SEQB_EVENT_COUNTER_REFUSED] = SEQB_LOG_ERROR,
        [SEQB_EVENT_COUNTER_RECOVERED] = SEQB_LOG_INFO,
        [SEQB_EVENT_LESSOR_WAITS] = SEQB_LOG_WARN,
        [SEQB_EVENT_LESSOR_LEVEL] = SEQB_LOG_INFO};

    for (int kind = SEQB_EVENT_RAISED; kind < KINDS; kind++) {
        struct seqb_event event = event_of((enum seqb_event_kind)kind);
        char line[256];

        event.counter = kind % 2 == 0 ? event.counter : NULL;
        events_emit(NULL, &event);
        (void)text_format(line, sizeof line,
                          "event=%s pool=main partition=2 backend=pg-a "
                          "key=order%s "
                          "reason=\"it had fallen behind\"",
                          seqb_event_name(event.kind),
                          kind % 2 == 0 ? " counter=main/2/order" : "");
        assert_string_equal(log->line, line);
        assert_int_equal(log->level, levels[kind]);
        assert_int_equal(log->lines, kind);
    }
}

TEST_WITH(LOGGED, what_was_ordered_or_is_usual_is_no_warning)
{
    for (int kind = SEQB_EVENT_STATE; kind < KINDS; kind++) {
        struct seqb_event event = event_of((enum seqb_event_kind)kind);

        event.to = SEQB_PARTITION_QUARANTINED;
        events_emit_info(NULL, &event);
        assert_int_equal(log->level, SEQB_LOG_INFO);
        assert_int_equal(log->lines, kind + 1);
    }
}

/* A backend's own words may hold anything. */
TEST_WITH(LOGGED, a_reason_is_one_quoted_value_of_the_line)
{
    struct seqb_event event = event_of(SEQB_EVENT_STATE);

    event.reason = "ERROR: relation \"a\\b\"\nis \"missing\"";
    events_emit(NULL, &event);
    assert_string_equal(log->line,
                        "event=up was=up pool=main partition=2 backend=pg-a "
                        "reason=\"ERROR: relation \\\"a\\\\b\\\"\\nis "
                        "\\\"missing\\\"\"");
    event.kind = SEQB_EVENT_LAYOUT;
    event.reason = "\"";
    events_emit(NULL, &event);
    assert_string_equal(log->line,
                        "event=layout pool=main partition=2 backend=pg-a "
                        "key=order counter=main/2/order reason=\"\\\"\"");
}

/* --- who listens --- */

struct listener {
    int calls;
    const struct seqb_event *last;
};

static void listen(void *context, const struct seqb_event *event)
{
    struct listener *listener = context;

    listener->calls++;
    listener->last = event;
}

TEST_WITH(LOGGED, each_event_is_told_once_to_who_listens_now)
{
    struct listener first = {.calls = 0};
    struct listener second = {.calls = 0};
    struct events events;
    const struct seqb_event event = event_of(SEQB_EVENT_STATE);

    events_init(&events);
    events_emit(&events, &event);
    events_listen(&events, listen, &first);
    events_emit(&events, &event);
    events_emit(&events, &event);
    assert_int_equal(first.calls, 2);
    assert_ptr_equal(first.last, &event);
    events_listen(&events, listen, &second);
    events_emit(&events, &event);
    events_listen(&events, NULL, NULL);
    events_emit(&events, &event);
    assert_int_equal(first.calls, 2);
    assert_int_equal(second.calls, 1);
    assert_int_equal(log->lines, 5);
    events_fini(&events);
}

#define TELLERS 4
#define TOLD    1000

struct crowd {
    struct events events;
    atomic_int inside; /* calls under way */
    int clashes;
    int calls;
};

static void listen_alone(void *context, const struct seqb_event *event)
{
    struct crowd *crowd = context;

    (void)event;
    crowd->clashes += atomic_fetch_add(&crowd->inside, 1) > 0;
    crowd->calls++;
    sched_yield(); /* to let another one in, if it may */
    atomic_fetch_sub(&crowd->inside, 1);
}

static void *tell_on(void *argument)
{
    struct crowd *crowd = argument;
    const struct seqb_event event = event_of(SEQB_EVENT_STATE);

    for (int i = 0; i < TOLD; i++)
        events_emit(&crowd->events, &event);
    return NULL;
}

TEST(who_listens_is_called_by_one_thread_at_a_time)
{
    struct crowd crowd = {.calls = 0};
    pthread_t threads[TELLERS];

    events_init(&crowd.events);
    events_listen(&crowd.events, listen_alone, &crowd);
    for (int i = 0; i < TELLERS; i++)
        assert_ok(thread_start(&threads[i], "teller", tell_on, &crowd, NULL));
    for (int i = 0; i < TELLERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crowd.calls, TELLERS * TOLD);
    assert_int_equal(crowd.clashes, 0);
    events_fini(&crowd.events);
}
