/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster of the tests, and taking numbers from it. */
#include "patroni_fixture.h"

#include <stdlib.h>
#include <time.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "support/server_postgres.h"
#include "support/take.h"

#define HELD 200 /* numbers that a broker may hold of a sequence */

struct patroni *patroni;

const char *const keys[KEYS] = {"main", "brief", "near"};

size_t cluster_require(void)
{
    size_t leader;

    patroni_require();
    if (patroni == NULL) {
        patroni = server_patroni();
        for (int i = 0; i < KEYS; i++)
            postgres_execute(patroni->nodes[0], "postgres",
                             "CREATE DATABASE %s", keys[i]);
    }
    leader = patroni_await_streaming(patroni);
    for (int i = 0; i < KEYS; i++)
        postgres_execute(patroni->nodes[leader], keys[i],
                         "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    return leader;
}

int cluster_end(void **state)
{
    (void)state;
    patroni_free(patroni);
    patroni = NULL;
    return 0;
}

/* --- brokers --- */

/* A database of the cluster, by the nodes in the order of the broker. */
static const char backend[] =
    "  { name = \"pg-%s\"; engine = \"postgres\"; connect_timeout = \"2s\";"
    "    conninfo = \"host=127.0.0.1,127.0.0.1 port=%d,%d user=postgres "
    "dbname=%s target_session_attrs=read-write\"; },";

/* `main` has the default gap, `brief` one that is soon used up, `near` windows
 * of neighbours, one of which is a file. */
static const char pools[] =
    "  { name = \"a\"; engine = \"sqlite\"; path = \"%s\"; } );"
    "pools = ("
    "  { name = \"main\"; partitions = [ \"pg-main\" ]; authority = \"none\";"
    "    timeout = \"1s\"; rescue_after = \"1s\"; },"
    "  { name = \"brief\"; partitions = [ \"pg-brief\" ]; failover_gap = %d;"
    "    authority = \"none\"; timeout = \"1s\"; rescue_after = \"1s\"; },"
    "  { name = \"near\"; partitions = [ \"pg-near\", \"a\" ];"
    "    authority = \"neighbours\"; timeout = \"1s\";"
    "    rescue_after = \"1s\"; } );"
    "sequences = ("
    "  { key = \"main\"; pool = \"main\"; max_unused = %d;"
    "    deadline = \"1m\"; },"
    "  { key = \"brief\"; pool = \"brief\"; max_unused = %d;"
    "    deadline = \"1m\"; template = \"@{seq, width=8}\"; },"
    "  { key = \"near\"; pool = \"near\"; max_unused = %d;"
    "    deadline = \"1m\"; } );";

static void topology_make(const struct scene *scene, size_t first,
                          size_t second, char out[static SCENE_TEXT_SIZE])
{
    (void)text_copy(out, SCENE_TEXT_SIZE,
                    "broker = { interval = \"5ms\"; }; backends = (");
    for (int i = 0; i < KEYS; i++)
        (void)text_append(out, SCENE_TEXT_SIZE, backend, keys[i],
                          (int)server_port(patroni->nodes[first]),
                          (int)server_port(patroni->nodes[second]), keys[i]);
    assert_true(text_append(out, SCENE_TEXT_SIZE, pools,
                            scene_path(scene, "a.db"), BRIEF_GAP, HELD, HELD,
                            HELD));
}

struct service service_open(const struct scene *scene, size_t first,
                            size_t second)
{
    struct service service = {.broker = NULL};
    struct seqb_error err;
    char text[SCENE_TEXT_SIZE];
    const char *path;
    char name[16];

    topology_make(scene, first, second, text);
    (void)text_format(name, sizeof name, "state-%zu", first);
    assert_int_equal(setenv("SEQBROKER_STATE_DIR", scene_path(scene, name), 1),
                     0);
    path = scene_write(scene, "patroni.conf", text);
    while (seqb_open(path, &service.broker, &err) == SEQB_UNAVAILABLE)
        continue; /* on a busy machine the leader may just be demoted */
    if (service.broker == NULL)
        fail_msg("cannot open: %s", err.text);
    for (int i = 0; i < KEYS; i++) {
        if (seqb_get_sequence(service.broker, keys[i], &service.sequences[i],
                              &err) != SEQB_OK)
            fail_msg("%s: %s", keys[i], err.text);
    }
    return service;
}

void service_take(const struct service *service, enum key key,
                  struct numbers *out, size_t count)
{
    int64_t many[1000];
    struct seqb_error err;

    while (count > 0) {
        const size_t n = count < 1000 ? count : 1000;

        if (take_numbers(service->sequences[key], n, many, &err) != SEQB_OK)
            fail_msg("%s: %s", keys[key], err.text);
        numbers_add(out, many, n);
        count -= n;
    }
}

/* --- a service that takes one number after the other --- */

static void *taking_run(void *argument)
{
    struct taking *taking = argument;
    int64_t last = 0;
    int64_t last_ms = clock_now_ms();

    while (!atomic_load(&taking->ends)) {
        int64_t number;
        int64_t now_ms;

        if (seqb_next(taking->sequence, &number, &taking->err) != SEQB_OK) {
            atomic_store(&taking->has_failed, true);
            return NULL;
        }
        numbers_add(taking->out, &number, 1);
        now_ms = clock_now_ms();
        if (now_ms - last_ms > taking->longest_ms)
            taking->longest_ms = now_ms - last_ms;
        if (last != 0 && (number >> 3) - (last >> 3) > taking->jump)
            taking->jump = (number >> 3) - (last >> 3);
        last = number;
        last_ms = now_ms;
        atomic_fetch_add(&taking->count, 1);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return taking;
}

void taking_await(struct taking *taking, long long more)
{
    const long long until = atomic_load(&taking->count) + more;

    while (atomic_load(&taking->count) < until &&
           !atomic_load(&taking->has_failed))
        nanosleep(&(struct timespec){0, 5000000}, NULL);
}

void taking_begin(struct taking *taking, const struct service *service,
                  struct numbers *out)
{
    *taking =
        (struct taking){.sequence = service->sequences[KEY_MAIN], .out = out};
    assert_status(
        thread_start(&taking->thread, "taking", taking_run, taking, NULL),
        SEQB_OK);
    taking_await(taking, PAST_HELD);
}

void taking_end(struct taking *taking, const char *what)
{
    void *is_well;

    taking_await(taking, PAST_HELD);
    atomic_store(&taking->ends, true);
    pthread_join(taking->thread, &is_well);
    if (is_well == NULL)
        fail_msg("%s: %s", what, taking->err.text);
    print_message("%s: no number for %lld ms, %lld values skipped\n", what,
                  (long long)taking->longest_ms, (long long)taking->jump);
}
