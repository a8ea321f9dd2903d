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
    SEQB_RELOAD_RESTART, /* a restart: until then the broker keeps the old
                            value */
    SEQB_RELOAD_NOTHING, /* a reload applies it */
    SEQB_RELOAD_REFUSED  /* it would change what numbers mean: use a migration
                            or a new sequence */
};

/* "restart", "nothing", "refused". Never NULL. */
SEQB_API const char *seqb_reload_need_name(enum seqb_reload_need need);

/* What a change of that setting needs, according to the table of settings. A
 * setting that is not in the table needs a restart. */
SEQB_API enum seqb_reload_need seqb_setting_need(const char *section,
                                                 const char *name);

/* A difference between the running settings and the file. The texts are valid
 * during the callback only. Later versions may add members at the end of the
 * struct. */
struct seqb_reload_change {
    enum seqb_reload_need need;
    const char *path;   /* as in seqb_visit_settings, "pools.main.timeout"; for
                           a whole group, "sequences.order" */
    const char *before; /* as there; "": it was not set, or the group did not
                           exist */
    const char *after;  /* the same; "present" for a group that exists */
    const char *advice; /* what to do; "" if nothing */
};

/* How to reload. With all members but `size` zeroed, nothing is reported. All
 * callbacks run on the caller's thread. Each may be NULL. */
struct seqb_reload_options {
    size_t size; /* sizeof(struct seqb_reload_options) */
    /* Only reports, and refuses all that a reload would, except what a store
     * knows of a new sequence: no store is asked. */
    bool dry_run;

    /* Called for each mistake in the file, as in seqb_check_topology, and for
     * each sequence that cannot get the settings of a file without mistakes.
     * Must not call the broker. */
    void (*diagnostic)(void *context, const char *line);

    /* Called for each difference, before anything is applied. */
    void (*change)(void *context, const struct seqb_reload_change *change);

    /* Called with the file's section `daemon`, as in seqb_daemon_settings. */
    void (*setting)(void *context, const char *setting, const char *value);

    /* Called last before the changes are applied, with no lock held: the
     * program prepares what it has to apply itself. Any status but SEQB_OK
     * refuses the reload, with the text in `err`, which is never NULL. In a
     * dry run it is the last call: nothing is applied after it. It is called
     * also if the reload is refused already for SEQB_LAYOUT, so that the
     * program names its own reasons with the others: nothing is applied then.
     */
    enum seqb_status (*prepare)(void *context, struct seqb_error *err);
    void *context;
};

/*
 * Reads the topology file that the broker was opened with (NULL: the embedded
 * default), checks all of it, compares it with the running settings, and
 * applies the differences that need neither a restart nor a migration. On
 * failure nothing is applied. Differences that need a restart are reported, and
 * the broker keeps the old settings; the next reload reports them again.
 *
 * Callers continue to take numbers, and none of them waits for the reload. The
 * reload itself waits for the stores to compare their claims of new sequences,
 * at most for some seconds if a store hangs. A backend whose settings changed
 * is reconnected by its own thread, after this call returns. If it cannot be
 * reached with the new settings, it is quarantined and probed like any other.
 *
 * A sequence that is not listed any more refuses calls with SEQB_UNKNOWN_KEY.
 * An open cursor still gives the rest of its slice. Numbers that a cursor gives
 * back after the reload may still be handed out. The handle of the sequence
 * stays valid, and works again if a later reload lists the sequence again. Its
 * unused numbers go to the spool, or become a gap without one.
 *
 * A broker runs one reload at a time: other calls wait for it. Errors:
 * SEQB_CONFIG (the file has mistakes), SEQB_LAYOUT (a change needs a migration,
 * or a store knows a new sequence with other settings), SEQB_STATE_DIR,
 * SEQB_INVALID (the options' size), SEQB_FORKED, SEQB_NO_MEMORY, and the status
 * of `prepare`.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_reload(struct seqb_broker *broker, const char *topology,
            const struct seqb_reload_options *options, struct seqb_error *err);

#ifdef __cplusplus
}
#endif
