/* SPDX-License-Identifier: Apache-2.0 */
/* Each call is the engine's own; then it counts. */
#include "mortal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "backends/backends.h"

static _Atomic int64_t left; /* 0: for ever */

void mortal_set(int64_t calls)
{
    atomic_store(&left, calls);
}

static enum seqb_status spend(enum seqb_status status)
{
    if (atomic_load(&left) > 0 && atomic_fetch_sub(&left, 1) == 1)
        (void)raise(SIGKILL);
    return status;
}

/* What an inner engine opens goes by the mortal one's calls. */
#define MORTAL(place, inner, word, class)                                      \
    static enum seqb_status inner##_open(                                      \
        const struct seqb_backend_options *options, struct seqb_backend **out, \
        struct seqb_error *err)                                                \
    {                                                                          \
        const enum seqb_status status =                                        \
            backend_##inner.open(options, out, err);                           \
                                                                               \
        if (status == SEQB_OK)                                                 \
            (*out)->ops = mortal_engines[place];                               \
        return spend(status);                                                  \
    }                                                                          \
    static enum seqb_status inner##_reserve(struct seqb_backend *backend,      \
                                            struct seqb_request *requests,     \
                                            size_t n, struct seqb_error *err)  \
    {                                                                          \
        return spend(backend_##inner.reserve(backend, requests, n, err));      \
    }                                                                          \
    static enum seqb_status inner##_raise(                                     \
        struct seqb_backend *backend, const struct seqb_raise *about,          \
        int64_t *out, struct seqb_error *err)                                  \
    {                                                                          \
        return spend(backend_##inner.raise(backend, about, out, err));         \
    }                                                                          \
    static enum seqb_status inner##_install(                                   \
        struct seqb_backend *backend, const struct seqb_window *window,        \
        int64_t *standing, struct seqb_error *err)                             \
    {                                                                          \
        return spend(backend_##inner.install(backend, window, standing, err)); \
    }                                                                          \
    static enum seqb_status inner##_claim(                                     \
        struct seqb_backend *backend, const char *name, const char *text,      \
        char *standing, size_t size, struct seqb_error *err)                   \
    {                                                                          \
        return spend(                                                          \
            backend_##inner.claim(backend, name, text, standing, size, err));  \
    }                                                                          \
    static enum seqb_status inner##_swap(                                      \
        struct seqb_backend *backend, const struct seqb_swap *about,           \
        char *standing, size_t size, struct seqb_error *err)                   \
    {                                                                          \
        return spend(                                                          \
            backend_##inner.swap(backend, about, standing, size, err));        \
    }                                                                          \
    static enum seqb_status inner##_purge(                                     \
        struct seqb_backend *backend, const struct seqb_purge *about,          \
        int32_t *deleted, struct seqb_error *err)                              \
    {                                                                          \
        return spend(backend_##inner.purge(backend, about, deleted, err));     \
    }                                                                          \
    static enum seqb_status inner##_clock(                                     \
        struct seqb_backend *backend, int64_t *out_ms, struct seqb_error *err) \
    {                                                                          \
        return backend_##inner.clock(backend, out_ms, err);                    \
    }                                                                          \
    static const char *inner##_library(void)                                   \
    {                                                                          \
        return backend_##inner.library();                                      \
    }                                                                          \
    static void inner##_close(struct seqb_backend *backend)                    \
    {                                                                          \
        backend_##inner.close(backend);                                        \
    }                                                                          \
    static const struct seqb_backend_ops mortal_##inner = {                    \
        .engine = "mortal-" word,                                              \
        .guarantee = (class),                                                  \
        .library = inner##_library,                                            \
        .open = inner##_open,                                                  \
        .reserve = inner##_reserve,                                            \
        .raise = inner##_raise,                                                \
        .install = inner##_install,                                            \
        .claim = inner##_claim,                                                \
        .swap = inner##_swap,                                                  \
        .purge = inner##_purge,                                                \
        .clock = inner##_clock,                                                \
        .close = inner##_close,                                                \
    }

MORTAL(0, sqlite, "sqlite", SEQB_DIRECT);
MORTAL(1, redis, "redis", SEQB_WINDOWED);

const struct seqb_backend_ops *const mortal_engines[] = {&mortal_sqlite,
                                                         &mortal_redis, NULL};
