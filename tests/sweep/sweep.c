/* SPDX-License-Identifier: Apache-2.0 */
/* Lives in processes, one for each call that fails. */
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "platform/text.h"
#include "support/folder.h"
#include "support/test.h"

#define HANG_S         120 /* a life ends, or never will */
#define CALLS_MAX      100000
#define AT_ONCE        4
#define THREADS_END_MS 10000
#define PLACES_MAX     40 /* of one sweep, unless every call is to fail */
#define SHOWN_MAX      5  /* lives that went wrong, of one sweep */
#define LONG_TIME      "1m"
#define SHORT_TIME     "50ms"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#define leaks_are_left() (__lsan_do_recoverable_leak_check() != 0)
#else
#define leaks_are_left() false
#endif

_Noreturn void sweep_fail(const char *format, ...)
{
    va_list rest;

    faults_disarm();
    va_start(rest, format);
    fputs("    ", stderr);
    vfprintf(stderr, format, rest);
    va_end(rest);
    fputc('\n', stderr);
    _exit(1);
}

/* The program's first byte, by the linker. */
extern const char __executable_start[];

/* --- what a life may use --- */

/* A failure of memory or of a call is never the caller's mistake, but for
 * files that the caller names, and no store has another layout for it. What a
 * call's failure means to SQLite depends on the call: a file that is damaged,
 * read-only, or locked by other rules. */
static bool is_right(enum faults_kind kind, enum seqb_status status)
{
    switch (status) {
    case SEQB_NO_MEMORY:
    case SEQB_UNAVAILABLE:
    case SEQB_TIMEOUT:
    case SEQB_STATE_DIR:
    case SEQB_UNREACHABLE:
    case SEQB_UNCERTAIN:
    case SEQB_AGAIN:
        return true;
    case SEQB_CONFIG:
    case SEQB_REFUSED:
        return kind == FAULTS_CALLS || kind == FAULTS_SQLITE_CALLS;
    case SEQB_CORRUPT:
    case SEQB_PROTOCOL:
        return kind == FAULTS_SQLITE_CALLS;
    default:
        return false;
    }
}

bool sweep_expect(struct sweep *sweep, enum seqb_status status,
                  const struct seqb_error *err, const char *what)
{
    if (status == SEQB_OK)
        return true;
    if (err->status != status)
        sweep_fail("%s: answers %s, the error says %s: %s", what,
                   seqb_status_name(status), seqb_status_name(err->status),
                   err->text);
    if (!sweep->is_faulty || !is_right(sweep->kind, status) ||
        err->text[0] == '\0')
        sweep_fail("%s, %s: %s: %s", sweep->is_faulty ? "during" : "after",
                   what, seqb_status_name(status), err->text);
    return false;
}

static struct numbers *numbers_of(struct sweep *sweep, const char *key)
{
    size_t i = 0;

    while (i < SWEEP_KEYS && sweep->keys[i].key != NULL &&
           strcmp(sweep->keys[i].key, key) != 0)
        i++;
    if (i == SWEEP_KEYS)
        sweep_fail("%s is one key too many", key);
    if (sweep->keys[i].key == NULL)
        numbers_init(&sweep->keys[i].numbers);
    sweep->keys[i].key = key;
    return &sweep->keys[i].numbers;
}

void sweep_note(struct sweep *sweep, const char *key, const int64_t *numbers,
                size_t n)
{
    const bool was_suspended = faults_suspend(true);

    numbers_add(numbers_of(sweep, key), numbers, n);
    faults_suspend(was_suspended);
}

const char *sweep_topology(const struct sweep *sweep, const char *name,
                           const char *text)
{
    static char path[128];
    const bool was_suspended = faults_suspend(true);
    FILE *file;

    (void)text_format(path, sizeof path, "%s/%s", sweep->folder, name);
    file = fopen(path, "w");
    if (file == NULL)
        sweep_fail("cannot write %s", path);
    for (; *text != '\0'; text++) {
        if (text[0] == '$' && text[1] == '$')
            fputc(*text++, file);
        else if (*text == '$')
            fprintf(file, "\"%s\"", sweep->is_faulty ? SHORT_TIME : LONG_TIME);
        else
            fputc(*text, file);
    }
    (void)fclose(file);
    faults_suspend(was_suspended);
    return path;
}

struct seqb_broker *sweep_open(struct sweep *sweep, const char *topology)
{
    struct seqb_broker *broker = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    const enum seqb_status status = seqb_open(topology, &broker, &err);

    return sweep_expect(sweep, status, &err, "open") ? broker : NULL;
}

void sweep_take(struct sweep *sweep, struct seqb_broker *broker,
                const char *key, size_t count)
{
    struct seqb_sequence *sequence;
    struct seqb_error err = {SEQB_OK, ""};
    enum seqb_status status = seqb_get_sequence(broker, key, &sequence, &err);
    int64_t number;

    if (!sweep_expect(sweep, status, &err, key))
        return;
    for (size_t i = 0; i < count; i++) {
        status = seqb_next(sequence, &number, &err);
        if (!sweep_expect(sweep, status, &err, key))
            return;
        sweep_note(sweep, key, &number, 1);
    }
}

/* --- a life --- */

static int entries_of(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;

    if (folder == NULL)
        sweep_fail("%s: %s", path, strerror(errno));
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count;
}

/* What stands behind the descriptors. */
static _Noreturn void fail_open(void)
{
    char path[64];
    char what[256];

    for (int fd = STDERR_FILENO + 1; fd < 64; fd++) {
        ssize_t n;

        (void)text_format(path, sizeof path, "/proc/self/fd/%d", fd);
        n = readlink(path, what, sizeof what - 1);
        if (n > 0)
            fprintf(stderr, "    %d: %.*s\n", fd, (int)n, what);
    }
    sweep_fail("a descriptor is left open");
}

/* A thread that was joined is listed until the kernel has taken it away. */
static bool threads_go_on(void)
{
    for (int i = 0; i < THREADS_END_MS; i++) {
        if (entries_of("/proc/self/task") == 2 + 1)
            return false;
        (void)usleep(1000);
    }
    return true;
}

static void fail_during(struct sweep *sweep, const struct faults_plan *plan,
                        struct faults_record *record)
{
    const int open_before = entries_of("/proc/self/fd");

    sweep->is_faulty = true;
    faults_arm(plan, record);
    sweep->scene->during(sweep);
    faults_disarm();
    sweep->is_faulty = false;
    if (entries_of("/proc/self/fd") != open_before)
        fail_open();
    if (threads_go_on())
        sweep_fail("threads go on");
    if (leaks_are_left())
        sweep_fail("memory is left");
}

static void expect_no_repeats(struct sweep *sweep)
{
    for (size_t i = 0; i < SWEEP_KEYS && sweep->keys[i].key != NULL; i++) {
        struct numbers *numbers = &sweep->keys[i].numbers;
        const size_t repeats = numbers_repeats(numbers);

        if (repeats > 0)
            sweep_fail("%s: %zu numbers came twice", sweep->keys[i].key,
                       repeats);
        numbers_fini(numbers);
    }
}

/* cmocka goes on with its next test after a signal; who started it may ignore
 * SIGALRM. */
static void be_alone(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS,  SIGFPE,
                                  SIGILL,  SIGABRT, SIGALRM};

    for (size_t i = 0; i < COUNT_OF(signals); i++)
        (void)signal(signals[i], SIG_DFL);
    (void)alarm(HANG_S);
}

static _Noreturn void live(struct sweep *sweep, const struct faults_plan *plan,
                           struct faults_record *record)
{
    be_alone();
    if (setenv("SEQBROKER_STATE_DIR", sweep->folder, 1) != 0)
        sweep_fail("no environment");
    if (sweep->scene->before != NULL)
        sweep->scene->before(sweep);
    fail_during(sweep, plan, record);
    sweep->scene->after(sweep);
    expect_no_repeats(sweep);
    _exit(0);
}

/* --- all of them --- */

/* Where a call was, as addr2line says it. */
static void show_place(const struct faults_record *record)
{
    char command[512];
    char exe[128];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    int depth = 0;

    if (n <= 0)
        return;
    exe[n] = '\0';
    (void)text_format(command, sizeof command, "addr2line -pfs -e %s", exe);
    for (; depth < FAULTS_DEPTH && record->stack[depth] != NULL; depth++)
        (void)text_append(command, sizeof command, " %#" PRIxPTR,
                          (uintptr_t)record->stack[depth] -
                              (uintptr_t)__executable_start - 1);
    (void)fflush(stderr);
    backtrace_symbols_fd(record->stack, depth, STDERR_FILENO);
    (void)!system(command);
}

static void show(const struct faults_plan *plan,
                 const struct faults_record *record, int status)
{
    fprintf(stderr, "    %s: call %" PRId64 "%s%s failed (%s): ",
            faults_kind_name(plan->kind), plan->at,
            plan->place == 0 ? "" : " of its place",
            plan->goes_on ? " and all after it" : "",
            record->call == NULL ? "none" : record->call);
    if (WIFSIGNALED(status))
        fprintf(stderr, "signal %d\n", WTERMSIG(status));
    else
        fprintf(stderr, "exit code %d\n", WEXITSTATUS(status));
    show_place(record);
}

/* A life that goes on. */
struct run {
    pid_t pid; /* 0: none does */
    struct faults_plan plan;
    struct sweep sweep;
    struct faults_record *record; /* shared with the process */
};

struct series {
    const struct sweep_scene *scene;
    enum faults_kind kind;
    struct run runs[AT_ONCE];
    int64_t lives;
    int64_t wrong;
    int64_t last_come; /* highest `at` of a call that came */
};

static void run_end(struct series *series, struct run *run, int status)
{
    run->pid = 0;
    folder_remove(run->sweep.folder);
    series->lives++;
    if (run->record->has_come && run->plan.at > series->last_come)
        series->last_come = run->plan.at;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    series->wrong++;
    if (series->wrong <= SHOWN_MAX)
        show(&run->plan, run->record, status);
}

/* Waits for one of them; NULL if none goes on. The test may have other
 * children, which are servers. */
static struct run *run_await(struct series *series)
{
    bool goes_on = false;
    int status;
    pid_t pid;

    for (size_t i = 0; i < AT_ONCE; i++)
        goes_on |= series->runs[i].pid != 0;
    if (!goes_on)
        return NULL;
    do {
        pid = waitpid(-1, &status, 0);
    } while (pid < 0 && errno == EINTR);
    for (size_t i = 0; i < AT_ONCE && pid > 0; i++) {
        if (series->runs[i].pid == pid) {
            run_end(series, &series->runs[i], status);
            return &series->runs[i];
        }
    }
    return NULL;
}

static struct run *run_free(struct series *series)
{
    for (size_t i = 0; i < AT_ONCE; i++) {
        if (series->runs[i].pid == 0)
            return &series->runs[i];
    }
    return run_await(series);
}

/* Lives wait more than they work: some go on at once. */
static struct run *run_begin(struct series *series, struct faults_plan plan)
{
    struct run *run = run_free(series);

    assert_non_null(run);
    plan.kind = series->kind;
    memset(run->record, 0, sizeof *run->record);
    run->plan = plan;
    run->sweep = (struct sweep){.kind = plan.kind, .scene = series->scene};
    assert_true(folder_make(run->sweep.folder, sizeof run->sweep.folder));
    run->pid = fork();
    assert_true(run->pid >= 0);
    if (run->pid == 0)
        live(&run->sweep, &plan, run->record);
    return run;
}

/* The first call of each place, or of some that lie evenly among them. */
static void run_places(struct series *series)
{
    struct run *run = run_begin(series, (struct faults_plan){.at = 0});
    struct faults_record *seen = calloc(1, sizeof *seen);
    const size_t most =
        series->scene->places > 0 ? series->scene->places : PLACES_MAX;
    size_t stride;

    assert_non_null(seen);
    (void)run_await(series);
    memcpy(seen, run->record, sizeof *seen);
    stride = seen->count / most + 1;
    print_message("  %s: %" PRId64 " calls in %zu places\n",
                  faults_kind_name(series->kind), seen->calls, seen->count);
    for (size_t i = 0; i < seen->count; i += stride) {
        (void)run_begin(
            series, (struct faults_plan){.place = seen->places[i], .at = 1});
        if (i / stride % 2 == 0)
            (void)run_begin(series,
                            (struct faults_plan){.place = seen->places[i],
                                                 .at = 1,
                                                 .goes_on = true});
    }
    free(seen);
}

/* Until calls do not come any more; a few are more or less each time. */
static void run_all(struct series *series)
{
    for (int64_t at = 1; at < series->last_come + 10 && at < CALLS_MAX; at++) {
        (void)run_begin(series, (struct faults_plan){.at = at});
        (void)run_begin(series,
                        (struct faults_plan){.at = at, .goes_on = true});
    }
}

void sweep_run(const struct sweep_scene *scene, enum faults_kind kind)
{
    const char *much = getenv("SEQB_SWEEP");
    struct series series = {.scene = scene, .kind = kind};
    struct faults_record *records =
        mmap(NULL, AT_ONCE * sizeof *records, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(records != MAP_FAILED);
    for (size_t i = 0; i < AT_ONCE; i++)
        series.runs[i].record = &records[i];
    if (much != NULL && strcmp(much, "all") == 0)
        run_all(&series);
    else
        run_places(&series);
    while (run_await(&series) != NULL)
        continue;
    (void)munmap(records, AT_ONCE * sizeof *records);
    print_message("  %s: %" PRId64 " lives\n", faults_kind_name(kind),
                  series.lives);
    if (series.wrong > 0)
        fail_msg("%" PRId64 " of %" PRId64 " lives went wrong", series.wrong,
                 series.lives);
}

static int prepare(void **state)
{
    (void)state;
    faults_prepare();
    return 0;
}

TEST_BEFORE_ALL(prepare);
