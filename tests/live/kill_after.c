/* SPDX-License-Identifier: Apache-2.0 */
/* Each call is the engine's own; then it counts, unless it only looks. One at a
 * time: a process that is stopped holds no lock of a store. */
#include "kill_after.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "backends/backends.h"
#include "support/test.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t left; /* 0: for ever; guarded by the lock, as the next one */
static int end = SIGKILL;

void kill_after(int64_t calls)
{
    left = calls;
    end = SIGKILL;
}

void stop_after(int64_t calls)
{
    left = calls;
    end = SIGSTOP;
}

static void begin(void)
{
    pthread_mutex_lock(&lock);
}

static enum seqb_status look(enum seqb_status status)
{
    pthread_mutex_unlock(&lock);
    return status;
}

static enum seqb_status spend(enum seqb_status status)
{
    if (left > 0 && --left == 0)
        (void)raise(end);
    return look(status);
}

/* Of one class alone. */

static enum seqb_status redis_install(struct seqb_backend *backend,
                                      const struct seqb_window *window,
                                      int64_t *standing, struct seqb_error *err)
{
    begin();
    return spend(backend_redis.install(backend, window, standing, err));
}

static enum seqb_status redis_clock(struct seqb_backend *backend,
                                    int64_t *out_ms, struct seqb_error *err)
{
    begin();
    return look(backend_redis.clock(backend, out_ms, err));
}

static enum seqb_status sqlite_install(struct seqb_backend *backend,
                                       const struct seqb_window *window,
                                       int64_t *standing,
                                       struct seqb_error *err)
{
    begin();
    return spend(backend_sqlite.install(backend, window, standing, err));
}

static enum seqb_status sqlite_list(struct seqb_backend *backend,
                                    struct seqb_page *page,
                                    struct seqb_error *err)
{
    begin();
    return look(backend_sqlite.list(backend, page, err));
}

static enum seqb_status sqlite_swap(struct seqb_backend *backend,
                                    const struct seqb_swap *swap,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    begin();
    return spend(backend_sqlite.swap(backend, swap, standing, size, err));
}

static enum seqb_status sqlite_purge(struct seqb_backend *backend,
                                     const struct seqb_purge *purge,
                                     int32_t *deleted, struct seqb_error *err)
{
    begin();
    return spend(backend_sqlite.purge(backend, purge, deleted, err));
}

/* What an inner engine opens goes by the calls of the killable one. The members
 * that only its class has follow the class. */
#define KILLABLE(place, inner, word, class, ...)                               \
    static enum seqb_status inner##_open(                                      \
        const struct seqb_backend_options *options, struct seqb_backend **out, \
        struct seqb_error *err)                                                \
    {                                                                          \
        enum seqb_status status;                                               \
                                                                               \
        begin();                                                               \
        status = backend_##inner.open(options, out, err);                      \
        if (status == SEQB_OK)                                                 \
            (*out)->ops = killable_engines[place];                             \
        return spend(status);                                                  \
    }                                                                          \
    static enum seqb_status inner##_reserve(struct seqb_backend *backend,      \
                                            struct seqb_request *requests,     \
                                            size_t n, struct seqb_error *err)  \
    {                                                                          \
        begin();                                                               \
        return spend(backend_##inner.reserve(backend, requests, n, err));      \
    }                                                                          \
    static enum seqb_status inner##_raise(                                     \
        struct seqb_backend *backend, const struct seqb_raise *about,          \
        int64_t *out, struct seqb_error *err)                                  \
    {                                                                          \
        begin();                                                               \
        return spend(backend_##inner.raise(backend, about, out, err));         \
    }                                                                          \
    static enum seqb_status inner##_claim(                                     \
        struct seqb_backend *backend, const char *name, const char *text,      \
        char *standing, size_t size, struct seqb_error *err)                   \
    {                                                                          \
        enum seqb_status status;                                               \
                                                                               \
        begin();                                                               \
        status =                                                               \
            backend_##inner.claim(backend, name, text, standing, size, err);   \
        return text == NULL ? look(status) : spend(status);                    \
    }                                                                          \
    static const char *inner##_library(void)                                   \
    {                                                                          \
        return backend_##inner.library();                                      \
    }                                                                          \
    static void inner##_close(struct seqb_backend *backend)                    \
    {                                                                          \
        backend_##inner.close(backend);                                        \
    }                                                                          \
    static const struct seqb_backend_ops killable_##inner = {                  \
        .engine = "killable-" word,                                            \
        .library = inner##_library,                                            \
        .open = inner##_open,                                                  \
        .reserve = inner##_reserve,                                            \
        .raise = inner##_raise,                                                \
        .claim = inner##_claim,                                                \
        .close = inner##_close,                                                \
        .guarantee = (class),                                                  \
        __VA_ARGS__}

KILLABLE(0, sqlite, "sqlite", SEQB_DIRECT, .install = sqlite_install,
         .swap = sqlite_swap, .purge = sqlite_purge, .list = sqlite_list);
KILLABLE(1, redis, "redis", SEQB_WINDOWED, .install = redis_install,
         .clock = redis_clock);

const struct seqb_backend_ops *const killable_engines[] = {
    &killable_sqlite, &killable_redis, NULL};

bool migrate_killed_after(int64_t calls, const char *from, const char *to,
                          const char *without)
{
    const struct seqb_migrate_options options = {.engines = killable_engines,
                                                 .without = without};
    const pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        struct seqb_error err;

        kill_after(calls);
        if (seqb_migrate(from, to, &options, &err) == SEQB_OK)
            _exit(0);
        print_error("%s\n", err.text);
        _exit(1);
    }
    while (waitpid(pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("after %lld calls: status %d", (long long)calls, status);
    return true;
}
