/* SPDX-License-Identifier: Apache-2.0 */
/* One thread that reads the pipes of all processes. */
#include "crowd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "platform/clock.h"
#include "platform/thread.h"
#include "support/take.h"
#include "support/test.h"

#define READ_MANY   4096
#define TAKE_MANY   37   /* no power of two */
#define LOOK_EVERY  1000 /* of such takes */
#define MEMBERS_MAX 16
#define PATIENCE_MS 120000 /* numbers come again, or never will */
#define HUNGER_MS   30000  /* without numbers: the process says why */
#define REST_EVERY  10     /* of such takes */
#define REST_US     5000   /* servers that start need the processor, too */

/* --- a process --- */

static void say(const char *what, const char *why)
{
    print_error("a broker process: %s: %s\n", what, why);
}

/* A file of which two times are mixed is not served until a person has put a
 * whole one there. */
static bool is_mixed(const struct seqb_partition_status *status)
{
    return strstr(status->reason, "was written over by an older one") != NULL;
}

/* A store that went back is noticed by the broker, which trusts it no more. */
static bool is_refused(const struct crowd *crowd, struct seqb_broker *broker)
{
    struct seqb_partition_status all[MEMBERS_MAX];
    size_t count = 0;

    if (seqb_partitions(broker, all, sizeof all[0], MEMBERS_MAX, &count,
                        NULL) != SEQB_OK)
        return false;
    for (size_t i = 0; i < count && i < MEMBERS_MAX; i++) {
        if (all[i].state != SEQB_PARTITION_REFUSED &&
            all[i].state != SEQB_PARTITION_POISONED &&
            !(crowd->expects_refusal && is_mixed(&all[i])))
            continue;
        say("a partition is refused for good", all[i].reason);
        return true;
    }
    return false;
}

/* As a service's supervisor would: where no backend answers in time, the
 * machine may only be busy. */
static bool process_begin(const char *topology, struct seqb_broker **out)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS / 2;
    struct seqb_error err = {SEQB_OK, ""};

    while (seqb_open(topology, out, &err) != SEQB_OK) {
        if (err.status == SEQB_UNAVAILABLE && clock_now_ms() < until_ms)
            continue;
        say("cannot begin", err.text);
        return false;
    }
    return true;
}

/* Counters of different keys give the same numbers. */
static void keys_add(int64_t *many, struct crowd_key key)
{
    for (size_t i = 0; i < TAKE_MANY; i++)
        many[i] |= (int64_t)key.index << CROWD_KEY_SHIFT;
}

/* After a take; partitions that are refused need not be missed. */
static bool must_end(const struct crowd *crowd, struct seqb_broker *broker,
                     bool was_taken)
{
    static int takes;

    return (!was_taken || ++takes % LOOK_EVERY == 0) &&
           is_refused(crowd, broker);
}

/* A pipe that is full makes it wait; one that is closed ends it. */
static int process_run(const struct crowd *crowd, const char *topology,
                       struct crowd_key key, int fd)
{
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err = {SEQB_OK, ""};
    int64_t many[TAKE_MANY];
    int64_t say_ms = clock_now_ms() + HUNGER_MS;
    unsigned takes = 0;

    if (!process_begin(topology, &broker))
        return 1;
    if (seqb_get_sequence(broker, key.name, &sequence, &err) != SEQB_OK) {
        say("no sequence", err.text);
        return 1;
    }
    for (;;) {
        const bool was_taken =
            take_numbers(sequence, TAKE_MANY, many, &err) == SEQB_OK;

        if (was_taken) {
            keys_add(many, key);
            if (write(fd, many, sizeof many) < 0)
                return 0;
            say_ms = clock_now_ms() + HUNGER_MS;
            if (++takes % REST_EVERY == 0)
                usleep(REST_US);
        }
        if (must_end(crowd, broker, was_taken))
            return 1;
        if (!was_taken && clock_now_ms() > say_ms) {
            say("no numbers", err.text);
            say_ms += HUNGER_MS;
        }
    }
}

/* False if it would be on the wrong side of a cut. */
static bool process_enter(int netns)
{
    if (netns < 0 || setns(netns, CLONE_NEWNET) == 0)
        return true;
    say("no network namespace", strerror(errno));
    return false;
}

static pid_t process_start(const struct crowd *crowd, size_t i,
                           const char *topology, struct crowd_key key, int *fd)
{
    int fds[2];
    pid_t pid;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* So that it ends with the test program, however that ends. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(fds[0]);
        _exit(process_enter(crowd->netns[i])
                  ? process_run(crowd, topology, key, fds[1])
                  : 1);
    }
    close(fds[1]);
    *fd = fds[0];
    return pid;
}

/* --- the listener --- */

/* What was read of one process: whole numbers, and the begin of one that the
 * next read completes. */
struct reader {
    union {
        int64_t numbers[READ_MANY];
        char bytes[READ_MANY * sizeof(int64_t)];
    };
    size_t have; /* bytes */
};

struct listener {
    struct crowd *crowd;
    struct reader readers[CROWD_SIZE];
    struct pollfd fds[CROWD_SIZE];
};

static void reader_count(const struct reader *reader, struct crowd *crowd,
                         size_t i, size_t n)
{
    const int64_t mask = ((int64_t)1 << crowd->bits) - 1;

    crowd->taken[i] += (int64_t)n;
    for (size_t k = 0; k < n; k++)
        crowd->granted[reader->numbers[k] >> crowd->memory_bits & mask][i]++;
}

static void reader_deliver(struct reader *reader, struct crowd *crowd, size_t i)
{
    const size_t n = reader->have / sizeof(int64_t);
    const size_t rest = reader->have % sizeof(int64_t);

    pthread_mutex_lock(&crowd->lock);
    oracle_add(&crowd->oracle, reader->numbers, n);
    if (crowd->expects_loss)
        oracle_add(&crowd->own[i], reader->numbers, n);
    reader_count(reader, crowd, i, n);
    pthread_cond_signal(&crowd->heard);
    pthread_mutex_unlock(&crowd->lock);
    for (size_t k = 0; k < rest; k++)
        reader->bytes[k] = reader->bytes[n * sizeof(int64_t) + k];
    reader->have = rest;
}

static void reader_end(struct crowd *crowd, size_t i)
{
    pthread_mutex_lock(&crowd->lock);
    crowd->has_ended[i] = true;
    pthread_cond_signal(&crowd->heard);
    pthread_mutex_unlock(&crowd->lock);
}

/* False at the end of the pipe. */
static bool reader_read(struct listener *listener, size_t i)
{
    struct reader *reader = &listener->readers[i];
    const ssize_t n = read(listener->fds[i].fd, reader->bytes + reader->have,
                           sizeof reader->bytes - reader->have);

    if (n <= 0)
        return false;
    reader->have += (size_t)n;
    reader_deliver(reader, listener->crowd, i);
    return true;
}

static void *listener_run(void *argument)
{
    struct crowd *crowd = argument;
    struct listener listener = {.crowd = crowd};
    size_t open = CROWD_SIZE;

    for (size_t i = 0; i < CROWD_SIZE; i++)
        listener.fds[i] =
            (struct pollfd){.fd = crowd->fds[i], .events = POLLIN};
    while (open > 0) {
        if (poll(listener.fds, CROWD_SIZE, -1) < 0)
            continue;
        for (size_t i = 0; i < CROWD_SIZE; i++) {
            if (listener.fds[i].revents == 0 || reader_read(&listener, i))
                continue;
            listener.fds[i].fd = -1; /* poll passes over it */
            reader_end(crowd, i);
            open--;
        }
    }
    return NULL;
}

/* --- the crowd --- */

void crowd_init(struct crowd *crowd)
{
    *crowd = (struct crowd){.is_listening = false};
    pthread_mutex_init(&crowd->lock, NULL);
    condition_init(&crowd->heard);
    oracle_init(&crowd->oracle);
    for (size_t i = 0; i < CROWD_SIZE; i++) {
        oracle_init(&crowd->own[i]);
        crowd->netns[i] = -1;
    }
}

void crowd_kill(struct crowd *crowd)
{
    for (size_t i = 0; i < CROWD_SIZE; i++) {
        if (crowd->pids[i] == 0)
            continue;
        kill(crowd->pids[i], SIGKILL);
        waitpid(crowd->pids[i], NULL, 0);
        crowd->pids[i] = 0;
    }
    if (crowd->is_listening)
        pthread_join(crowd->listener, NULL);
    for (size_t i = 0; i < CROWD_SIZE && crowd->is_listening; i++)
        close(crowd->fds[i]);
    crowd->is_listening = false;
}

/* A process that is told to stop may be in the midst of a call, which it
 * finishes. One that has ended is left to be reaped. */
static void await_stop(pid_t pid)
{
    siginfo_t how;

    while (waitid(P_PID, (id_t)pid, &how, WSTOPPED | WEXITED | WNOWAIT) != 0)
        assert_int_equal(errno, EINTR);
}

void crowd_signal(struct crowd *crowd, int signal)
{
    for (size_t i = 0; i < CROWD_SIZE; i++)
        assert_int_equal(kill(crowd->pids[i], signal), 0);
    for (size_t i = 0; i < CROWD_SIZE && signal == SIGSTOP; i++)
        await_stop(crowd->pids[i]);
}

void crowd_fini(struct crowd *crowd)
{
    crowd_kill(crowd);
    oracle_fini(&crowd->oracle);
    for (size_t i = 0; i < CROWD_SIZE; i++)
        oracle_fini(&crowd->own[i]);
    pthread_cond_destroy(&crowd->heard);
    pthread_mutex_destroy(&crowd->lock);
}

void crowd_start(struct crowd *crowd, const char *const *topologies,
                 struct crowd_key key)
{
    assert_false(crowd->is_listening);
    for (size_t i = 0; i < CROWD_SIZE; i++) {
        crowd->pids[i] =
            process_start(crowd, i, topologies[i], key, &crowd->fds[i]);
        crowd->has_ended[i] = false;
        oracle_fini(&crowd->own[i]);
        oracle_init(&crowd->own[i]);
    }
    assert_int_equal(
        pthread_create(&crowd->listener, NULL, listener_run, crowd), 0);
    crowd->is_listening = true;
    crowd_await(crowd, 1);
}

/* With the lock held: whether any process lacks numbers. */
static bool crowd_lacks(const struct crowd *crowd, const int64_t *taken,
                        const int64_t *until)
{
    for (size_t i = 0; i < CROWD_SIZE; i++) {
        if (taken[i] < until[i] && !crowd->has_ended[i])
            return true;
    }
    return false;
}

/* With the lock held: what is wrong, NULL if nothing is. */
static const char *crowd_trouble(const struct crowd *crowd)
{
    if (crowd->oracle.repeats != 0 && !crowd->expects_loss)
        return "a number came twice";
    for (size_t i = 0; i < CROWD_SIZE; i++) {
        if (crowd->own[i].repeats != 0)
            return "a number came twice from the same process";
        if (crowd->has_ended[i] && !crowd->expects_loss &&
            !crowd->expects_refusal)
            return "a process ended by itself";
    }
    return NULL;
}

static void crowd_fail(struct crowd *crowd, const char *trouble)
{
    fail_msg("%s: %lld of %lld repeated, %lld the first", trouble,
             (long long)crowd->oracle.repeats, (long long)crowd->oracle.count,
             (long long)crowd->oracle.repeated);
}

/* `taken` is one of the counts that the lock guards, and `each` says how much
 * it has to grow for each process. False if `patience_ms` passed before. */
static bool crowd_await_counts(struct crowd *crowd, const int64_t *taken,
                               const int64_t *each, int32_t patience_ms)
{
    const int64_t give_up_ms = clock_now_ms() + patience_ms;
    bool is_late = false;
    const char *trouble;
    int64_t until[CROWD_SIZE];

    pthread_mutex_lock(&crowd->lock);
    for (size_t i = 0; i < CROWD_SIZE; i++)
        until[i] = taken[i] + each[i];
    trouble = crowd_trouble(crowd);
    while (trouble == NULL && !is_late && crowd_lacks(crowd, taken, until)) {
        is_late = !condition_wait(&crowd->heard, &crowd->lock, give_up_ms);
        trouble = crowd_trouble(crowd);
    }
    pthread_mutex_unlock(&crowd->lock);
    if (trouble != NULL)
        crowd_fail(crowd, trouble);
    return !is_late;
}

static bool crowd_await_count(struct crowd *crowd, const int64_t *taken,
                              int64_t each, int32_t patience_ms)
{
    int64_t counts[CROWD_SIZE];

    for (size_t i = 0; i < CROWD_SIZE; i++)
        counts[i] = each;
    return crowd_await_counts(crowd, taken, counts, patience_ms);
}

void crowd_await(struct crowd *crowd, int64_t each)
{
    if (!crowd_await_count(crowd, crowd->taken, each, PATIENCE_MS))
        crowd_fail(crowd, "no numbers come any more");
}

void crowd_await_granted(struct crowd *crowd, int32_t partition, int64_t each)
{
    if (!crowd_await_count(crowd, crowd->granted[partition], each, PATIENCE_MS))
        crowd_fail(crowd, "no numbers come any more");
}

void crowd_await_for(struct crowd *crowd, int64_t each, int32_t patience_ms)
{
    (void)crowd_await_count(crowd, crowd->taken, each, patience_ms);
}

void crowd_await_outside(struct crowd *crowd, int netns, int64_t each)
{
    int64_t counts[CROWD_SIZE];

    for (size_t i = 0; i < CROWD_SIZE; i++)
        counts[i] = crowd->netns[i] != netns ? each : 0;
    if (!crowd_await_counts(crowd, crowd->taken, counts, PATIENCE_MS))
        crowd_fail(crowd, "no numbers come any more");
}

int64_t crowd_repeats(struct crowd *crowd)
{
    int64_t repeats;

    pthread_mutex_lock(&crowd->lock);
    repeats = crowd->oracle.repeats;
    pthread_mutex_unlock(&crowd->lock);
    return repeats;
}

int64_t crowd_count(struct crowd *crowd)
{
    int64_t count;

    pthread_mutex_lock(&crowd->lock);
    count = crowd->oracle.count;
    pthread_mutex_unlock(&crowd->lock);
    return count;
}
