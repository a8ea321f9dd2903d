/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A day of all the codes that its digits have, taken by four brokers at once,
 * while the store dies, and a standby that is behind takes its place: no code
 * comes twice, and at the end everybody is told that there are no more.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chaos.h"
#include "platform/text.h"
#include "support/server_postgres.h"
#include "support/take.h"
#include "support/test.h"

#define BROKERS   4
#define WIDTH     (SEQB_TEST_SCALE > 1 ? 4 : 5)
#define CODES     (SEQB_TEST_SCALE > 1 ? 10000 : 100000)
#define LEAST     (CODES - 5000) /* gap, and what was in flight, far exceeded */
#define BATCH     200
#define BATCH_LAG 150 /* more than a broker holds, and less than the gap */
#define BATCH_FEW 10
#define CODE_SIZE 16
#define TEXT_SIZE 2048
#define GATE_NAME ".s.PGSQL.5432" /* as by default */
#define REFUSALS  3               /* in a row, of each broker */

#define TOPOLOGY                                                               \
    "broker = { name = \"%s\"; state_dir = \"%s/%s\"; interval = \"2ms\";"     \
    "           open_timeout = \"30s\"; };" /* the machine may be busy */      \
    "backends = ("                                                             \
    "  { name = \"pg-a\"; engine = \"postgres\"; socket = \"%s\";"             \
    "    user = \"postgres\"; database = \"postgres\";"                        \
    "    connect_timeout = \"10s\"; }"                                         \
    ");"                                                                       \
    "pools = ( { name = \"main\"; partitions = [ \"pg-a\" ];"                  \
    "            timeout = \"2s\"; rescue_after = \"100ms\";"                  \
    "            failover_gap = 2000; } );"                                    \
    "sequences = ( { key = \"code\"; max_unused = 100; memory_bits = 0;"       \
    "                period = \"day\"; time_zone = \"%s\";"                    \
    "                shuffle_key_file = \"codes.key\"; deadline = \"1s\";"     \
    "                template = \"@{date, format=%%y%%m%%d}@{shuffle, "        \
    "width=%d, overflow=refuse}\"; } );"

/* What a broker's process answers to the number of codes that it is to take. */
struct answer {
    int32_t count;
    bool is_exhausted; /* after those */
    char why[SEQB_ERROR_TEXT_SIZE];
    char codes[BATCH][CODE_SIZE];
};

struct process {
    pid_t pid;
    int fd;
    int refusals; /* in a row */
};

/* A day as its codes are heard. */
struct day {
    struct chaos *chaos;
    char zone[16];
    struct server *primary;
    struct server *standby;
    struct gate gate;
    struct process processes[BROKERS];
    char (*codes)[CODE_SIZE];
    size_t count;
};

/* One in which it is some hours after midnight: the day lasts. */
static void choose_zone(char out[16])
{
    const int hour = (int)(time(NULL) / 3600 % 24);
    int east = 6 - hour;

    if (east < -12)
        east += 24;
    /* They are named by what has to be added to get UTC. */
    (void)text_format(out, 16, "Etc/GMT%+d", -east);
}

static const char *write_topology(const struct day *day, const char *name)
{
    const struct scene *scene = day->chaos->scene;
    char text[TEXT_SIZE];
    char file[32];

    assert_true(text_format(text, sizeof text, TOPOLOGY, name, scene->folder,
                            name, scene->folder, day->zone, WIDTH));
    (void)text_format(file, sizeof file, "%s.conf", name);
    return scene_write(scene, file, text);
}

/* --- a broker's process --- */

/* A store that went back is noticed by the broker, which trusts it no more. */
static bool is_refused(struct seqb_broker *broker)
{
    struct seqb_partition_status partition;
    size_t count = 0;

    if (seqb_partitions(broker, &partition, sizeof partition, 1, &count,
                        NULL) != SEQB_OK ||
        (partition.state != SEQB_PARTITION_REFUSED &&
         partition.state != SEQB_PARTITION_POISONED))
        return false;
    print_error("a partition is refused for good: %s\n", partition.reason);
    return true;
}

/* False if no code will ever come. */
static bool take(struct seqb_broker *broker, struct seqb_sequence *sequence,
                 int32_t wanted, struct answer *answer)
{
    struct seqb_error err;

    *answer = (struct answer){.count = 0};
    while (answer->count < wanted && !answer->is_exhausted) {
        const enum seqb_status status = take_text(
            sequence, NULL, 0, answer->codes[answer->count], CODE_SIZE, &err);

        answer->count += status == SEQB_OK;
        answer->is_exhausted = status == SEQB_EXHAUSTED;
        if (status != SEQB_OK && is_refused(broker))
            return false;
    }
    if (answer->is_exhausted)
        (void)text_copy(answer->why, sizeof answer->why, err.text);
    return true;
}

static int process_run(const char *topology, int fd)
{
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err;
    struct answer answer;
    int32_t wanted;

    if (seqb_open(topology, &broker, &err) != SEQB_OK ||
        seqb_get_sequence(broker, "code", &sequence, &err) != SEQB_OK) {
        print_error("a broker process cannot begin: %s\n", err.text);
        return 1;
    }
    while (read(fd, &wanted, sizeof wanted) == sizeof wanted) {
        if (!take(broker, sequence, wanted, &answer) ||
            write(fd, &answer, sizeof answer) != sizeof answer)
            return 1;
    }
    seqb_close(broker);
    return 0;
}

static void process_start(struct day *day, size_t i)
{
    struct process *process = &day->processes[i];
    const char *topology;
    char name[8];
    int fds[2];

    (void)text_format(name, sizeof name, "b%zu", i);
    topology = write_topology(day, name);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
                     0);
    process->pid = fork();
    assert_true(process->pid >= 0);
    if (process->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (size_t j = 0; j < i; j++)
            close(day->processes[j].fd);
        close(fds[0]);
        _exit(process_run(topology, fds[1]));
    }
    close(fds[1]);
    process->fd = fds[0];
}

/* --- the day --- */

static void ask_all(struct day *day, int32_t count)
{
    for (size_t i = 0; i < BROKERS; i++)
        assert_int_equal(write(day->processes[i].fd, &count, sizeof count),
                         sizeof count);
}

static void hear_one(struct day *day, struct process *process)
{
    struct answer answer;
    size_t have = 0;

    while (have < sizeof answer) {
        const ssize_t n =
            read(process->fd, (char *)&answer + have, sizeof answer - have);

        assert_true(n > 0);
        have += (size_t)n;
    }
    assert_true(answer.count >= 0 &&
                day->count + (size_t)answer.count <= (size_t)CODES);
    memcpy(day->codes + day->count, answer.codes,
           (size_t)answer.count * CODE_SIZE);
    day->count += (size_t)answer.count;
    process->refusals =
        answer.is_exhausted && answer.count == 0 ? process->refusals + 1 : 0;
    if (answer.is_exhausted)
        scene_expect_words(answer.why, "sequence code: number ");
}

/* All have as many as were asked for, or as there are. */
static void hear_all(struct day *day)
{
    for (size_t i = 0; i < BROKERS; i++)
        hear_one(day, &day->processes[i]);
}

static void take_until(struct day *day, size_t count)
{
    while (day->count < count) {
        ask_all(day, BATCH);
        hear_all(day);
    }
}

static void take_to_the_end(struct day *day)
{
    size_t refused = 0;

    while (refused < BROKERS) {
        ask_all(day, BATCH);
        hear_all(day);
        refused = 0;
        for (size_t i = 0; i < BROKERS; i++)
            refused += day->processes[i].refusals >= REFUSALS;
    }
}

static void lead_to(struct day *day, const struct server *server)
{
    char socket[128];

    (void)text_format(socket, sizeof socket, "%s/.s.PGSQL.%d",
                      server_folder(server), (int)server_port(server));
    gate_lead(&day->gate, day->chaos, GATE_NAME, socket);
}

static void begin(struct day *day)
{
    choose_zone(day->zone);
    (void)scene_write(day->chaos->scene, "codes.key",
                      "correct horse battery staple");
    day->primary = server_postgres(NULL);
    lead_to(day, day->primary);
    day->standby = server_postgres_standby(day->primary);
    for (size_t i = 0; i < BROKERS; i++)
        process_start(day, i);
    day->codes = calloc(CODES, sizeof *day->codes);
    assert_non_null(day->codes);
}

/* While all of them take codes. */
static void kill_and_start(struct day *day)
{
    ask_all(day, BATCH);
    postgres_kill(day->primary);
    server_start(day->primary);
    hear_all(day);
}

static void fail_over(struct day *day)
{
    postgres_await(day->primary);
    postgres_catch_up(day->primary, day->standby);
    postgres_alter(day->standby, "primary_conninfo = ''");
    ask_all(day, BATCH_LAG);
    hear_all(day);
    ask_all(day, BATCH_FEW);
    postgres_kill(day->primary);
    server_free(day->primary);
    postgres_promote(day->standby);
    day->primary = day->standby;
    lead_to(day, day->primary);
    hear_all(day);
}

static void end(struct day *day)
{
    for (size_t i = 0; i < BROKERS; i++) {
        int status = -1;

        close(day->processes[i].fd);
        assert_int_equal(waitpid(day->processes[i].pid, &status, 0),
                         day->processes[i].pid);
        assert_int_equal(status, 0);
    }
}

/* --- what is left of it --- */

static int compare_codes(const void *a, const void *b)
{
    return memcmp(a, b, CODE_SIZE);
}

static void expect_no_repeats(struct day *day)
{
    qsort(day->codes, day->count, sizeof *day->codes, compare_codes);
    for (size_t i = 1; i < day->count; i++) {
        if (strcmp(day->codes[i], day->codes[i - 1]) == 0)
            fail_msg("%s came twice", day->codes[i]);
    }
}

/* However long a busy store takes to say so. */
static void expect_exhausted(struct seqb_sequence *sequence)
{
    char code[CODE_SIZE];
    struct seqb_error err;
    enum seqb_status status;

    do
        status = take_text(sequence, NULL, 0, code, sizeof code, &err);
    while (status == SEQB_TIMEOUT || status == SEQB_UNAVAILABLE);
    assert_int_equal(status, SEQB_EXHAUSTED);
    scene_expect_words(err.text, "sequence code: number ");
}

/* By a broker that has issued none of them, and gets none. */
static void expect_all_of_one_day(struct day *day)
{
    struct scene *scene = day->chaos->scene;
    struct seqb_sequence *sequence;
    struct seqb_parsed parsed = {.value = 0};
    struct seqb_error err;
    int64_t stamp = 0;

    scene_open(scene, write_topology(day, "late"));
    assert_ok(seqb_get_sequence(scene->broker, "code", &sequence, &err));
    for (size_t i = 0; i < day->count; i++) {
        if (seqb_parse(sequence, day->codes[i], &parsed, &err) != SEQB_OK)
            fail_msg("%s", err.text);
        assert_in_range(parsed.number, 1, CODES);
        assert_true(i == 0 || parsed.stamp.digits == stamp);
        stamp = parsed.stamp.digits;
    }
    assert_true(parsed.stamp.begins_ms <= (int64_t)time(NULL) * 1000);
    assert_true(parsed.stamp.ends_ms > (int64_t)time(NULL) * 1000);
    expect_exhausted(sequence);
}

TEST_WITH(CHAOS, day_of_codes_repeats_none_and_ends_clearly)
{
    struct day day = {.chaos = chaos};

    begin(&day);
    take_until(&day, CODES / 4);
    kill_and_start(&day);
    take_until(&day, CODES / 2);
    fail_over(&day);
    take_to_the_end(&day);
    end(&day);
    expect_no_repeats(&day);
    expect_all_of_one_day(&day);
    print_message("# %s: numbers=%zu faults=2 of %d codes\n", __func__,
                  day.count, CODES);
    assert_true(day.count >= LEAST);
    free(day.codes);
}
