/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sweep lets a piece of a broker's life go by again and again, and each time
 * another call fails: one alone, or it and all after it. Each life is a process
 * of its own, in a folder of its own, and has three parts:
 *
 *   before   all goes well: it makes the stores
 *   during   calls fail; whatever else fails must say a right reason
 *   after    all goes well again, with what was left behind
 *
 * No number comes twice in the three together, no thread, descriptor or memory
 * is left behind by the second, and nothing crashes. By default the first call
 * of each place in the code fails; with SEQB_SWEEP=all in the environment every
 * call does, one after another.
 *
 * What must not fail in a life ends its process (sweep_fail).
 */
#pragma once

#include <seqbroker/seqbroker.h>

#include "support/faults.h"
#include "support/numbers.h"

#define SWEEP_KEYS 4

struct sweep {
    char folder[32];
    enum faults_kind kind;
    bool is_faulty; /* during */
    struct sweep_key {
        const char *key; /* NULL: not used */
        struct numbers numbers;
    } keys[SWEEP_KEYS];
    const struct sweep_scene *scene;
};

struct sweep_scene {
    void (*before)(struct sweep *sweep); /* NULL: there is nothing before */
    void (*during)(struct sweep *sweep);
    void (*after)(struct sweep *sweep);
    size_t places; /* of one sweep at most, unless every call is to fail; 0: as
                      many as are usual */
};

/* Runs a scene with every call of a kind failing. Fails the test if a life does
 * what it must not, and says with which call. */
void sweep_run(const struct sweep_scene *scene, enum faults_kind kind);

/* Says what went wrong and ends the process. */
_Noreturn void sweep_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* A call answered. True if that was SEQB_OK; else it is during, and the reason
 * is one that the kind of failures can have. */
bool sweep_expect(struct sweep *sweep, enum seqb_status status,
                  const struct seqb_error *err, const char *what);

/* Notes numbers that were given. `key` is a literal; SWEEP_KEYS of them. */
void sweep_note(struct sweep *sweep, const char *key, const int64_t *numbers,
                size_t n);

/* Writes a topology in the folder, whose path is good until the next call. Each
 * `$` in the text becomes a time-out, which is short during; `$$` is a `$`. */
const char *sweep_topology(const struct sweep *sweep, const char *name,
                           const char *text);

/* Opens, NULL if that failed. */
struct seqb_broker *sweep_open(struct sweep *sweep, const char *topology);

/* Takes numbers of a key, one at a time; after, all must come. */
void sweep_take(struct sweep *sweep, struct seqb_broker *broker,
                const char *key, size_t count);
