/* SPDX-License-Identifier: Apache-2.0 */
/* Which call fails. What is wrapped is in faults_calls.c and faults_sqlite.c.
 */
#include "support/faults.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>

#define OWN_FRAMES  3 /* of faults_come, its helper, and what wraps a call */
#define FRAMES      (OWN_FRAMES + FAULTS_DEPTH)
#define HASH_FACTOR 1099511628211 /* that of FNV-1a */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct faults_plan plan; /* guarded by the lock, as the next ones */
static struct faults_record *record;
static int64_t counted; /* calls of the plan's place */
static _Atomic bool is_armed;
static _Atomic bool is_paused;
static _Thread_local bool is_suspended; /* also while a call is evaluated */

const char *faults_kind_name(enum faults_kind kind)
{
    static const char *const names[FAULTS_KINDS] = {"memory",
                                                    "calls",
                                                    "memory of SQLite",
                                                    "calls of SQLite",
                                                    "memory of the loop",
                                                    "memory of TLS"};

    return names[kind];
}

static int64_t place_of(void *const *stack, int depth)
{
    uint64_t hash = 14695981039346656037U;

    for (int i = 0; i < depth; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)stack[i]) * HASH_FACTOR;
    return (int64_t)(hash >> 1);
}

static void note_place(int64_t place)
{
    for (size_t i = 0; i < record->count; i++) {
        if (record->places[i] == place)
            return;
    }
    if (record->count < FAULTS_PLACES_MAX)
        record->places[record->count++] = place;
}

/* Under the lock. */
static bool is_due(int64_t place)
{
    if (plan.at == 0)
        return false;
    if (atomic_load(&record->has_come))
        return plan.goes_on;
    return (plan.place == 0 || plan.place == place) && ++counted == plan.at;
}

static bool evaluate(const char *call)
{
    void *frames[FRAMES] = {NULL};
    const int depth = backtrace(frames, FRAMES) - OWN_FRAMES;
    const int64_t place = place_of(frames + OWN_FRAMES, depth);
    bool fails;

    pthread_mutex_lock(&lock);
    note_place(place);
    atomic_fetch_add(&record->calls, 1);
    fails = is_due(place);
    if (fails && !atomic_exchange(&record->has_come, true)) {
        record->call = call;
        for (int i = 0; i < depth; i++)
            record->stack[i] = frames[OWN_FRAMES + i];
    }
    pthread_mutex_unlock(&lock);
    return fails;
}

bool faults_come(enum faults_kind kind, const char *call)
{
    bool fails;

    if (!atomic_load(&is_armed) || kind != plan.kind || is_suspended ||
        atomic_load(&is_paused))
        return false;
    is_suspended = true;
    fails = evaluate(call);
    is_suspended = false;
    return fails;
}

void faults_arm(const struct faults_plan *to, struct faults_record *into)
{
    plan = *to;
    record = into;
    counted = 0;
    atomic_store(&is_paused, false);
    atomic_store(&is_armed, true);
}

void faults_disarm(void)
{
    atomic_store(&is_armed, false);
}

bool faults_suspend(bool is_so)
{
    const bool was_so = is_suspended;

    is_suspended = is_so;
    return was_so;
}

void faults_pause(bool is_so)
{
    atomic_store(&is_paused, is_so);
}
