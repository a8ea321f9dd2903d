/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a topology again while the broker serves. A part of the operator
 * API, see admin.h.
 */
#pragma once

#include <seqbroker/admin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a change of a setting needs. */
enum seqb_reload_need {
    SEQB_RELOAD_RESTART, /* a new start of the broker: what it has stays */
    SEQB_RELOAD_NOTHING, /* it is applied by a reload */
    SEQB_RELOAD_REFUSED  /* it would change what numbers mean: a migration, or
                            a new sequence */
};

/* "restart", "nothing", "refused". Never NULL. */
SEQB_API const char *seqb_reload_need_name(enum seqb_reload_need need);

/* What a change of that setting needs, by its row in the table of settings. A
 * setting that the table does not have needs a restart. */
SEQB_API enum seqb_reload_need seqb_setting_need(const char *section,
                                                 const char *name);

/* A difference between what the broker runs with and the file. The texts live
 * for the call that they are told in. The struct may get more members at its
 * end. */
struct seqb_reload_change {
    enum seqb_reload_need need;
    const char *path;   /* as in seqb_visit_settings, "pools.main.timeout"; or
                           of a whole group, "sequences.order" */
    const char *before; /* as there; "": it was not set, or not there */
    const char *after;  /* the same; of a group that is there "present" */
    const char *advice; /* what to do; "" if nothing */
};

/* How to reload; zeroed but for the size is a reload of which nobody is told.
 * All calls are on the caller's thread. Each function may be NULL. */
struct seqb_reload_options {
    size_t size;  /* sizeof(struct seqb_reload_options) */
    bool dry_run; /* compare and tell only */

    /* Told each mistake of the file, as of seqb_check_topology. */
    void (*diagnostic)(void *context, const char *line);

    /* Told each difference, before anything is applied. */
    void (*change)(void *context, const struct seqb_reload_change *change);

    /* Told the file's section `daemon`, as of seqb_daemon_settings. */
    void (*setting)(void *context, const char *setting, const char *value);

    /* Called last before the changes are applied, with no lock held: what the
     * program has to apply itself is made ready. Anything but SEQB_OK refuses
     * the reload, with the error, which is never NULL. Not called in a dry
     * run. */
    enum seqb_status (*prepare)(void *context, struct seqb_error *err);
    void *context;
};

/*
 * Reads the topology file that the broker was opened with (NULL: the embedded
 * default), checks all of it, compares it with what the broker runs with, and
 * applies the differences that need neither a restart nor a migration. On
 * failure nothing is applied. Those that need a restart are told, and the
 * broker goes on with what it had; the next reload tells them again.
 *
 * Callers of the broker go on taking numbers, and none of them waits for it.
 * It waits itself for the stores to compare what they know of new sequences,
 * at most for some seconds where a store hangs. A backend whose settings
 * changed is connected again by its own thread, after this returns; one that
 * cannot be reached with the new ones is quarantined and probed as any other.
 *
 * A sequence that is not listed any more refuses calls with SEQB_UNKNOWN_KEY.
 * Its handle stays valid, and serves again if a later reload lists the sequence
 * again. Its unused numbers go to the spool, or become a gap without one.
 *
 * One reload of a broker at a time: others wait for it. Errors: SEQB_CONFIG
 * (the file has mistakes), SEQB_LAYOUT (a change needs a migration, or a store
 * knows a new sequence by other settings), SEQB_STATE_DIR, SEQB_INVALID (the
 * options' size), SEQB_FORKED, SEQB_NO_MEMORY, that of `prepare`.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_reload(struct seqb_broker *broker, const char *topology,
            const struct seqb_reload_options *options, struct seqb_error *err);

#ifdef __cplusplus
}
#endif
