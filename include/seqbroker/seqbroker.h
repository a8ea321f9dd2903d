/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client API of seqbroker: open a broker, take numbers, close it.
 *
 * Any number of threads may use a handle at the same time, except that
 * seqb_close must be the last call on a broker. The library installs no signal
 * handler. Values are int64_t, at least 1. After fork() the handles answer
 * SEQB_FORKED in the child: open another broker there. With SQLite backends,
 * fork before the first seqb_open, or exec in the child: the child inherits
 * SQLite's locks as they were, and seqb_open may wait for them for ever.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEQB_VERSION "0.1.0"

/* The longest sequence key; keys match [A-Za-z0-9._:-]{1,64}. */
#define SEQB_KEY_MAX 64

struct seqb_broker;
struct seqb_sequence;

/* What the bits of a value say. */
struct seqb_decoded {
    int64_t counter; /* the backend's counter value */
    int32_t partition;
    int32_t memory_bits;
    int64_t memory; /* 0 ... 2^memory_bits - 1 */
    /* For a sequence with `ids` or `snowflake`: the begin of the id's time, ms
     * since 1970. An id of `ids` has a shard. A snowflake has a worker id and,
     * with `datacenter_bits`, a datacenter; it has no counter in a backend, so
     * that counter, partition and memory are 0. A member that does not apply is
     * -1. */
    int64_t time_ms;
    int64_t shard;
    int64_t datacenter;
    int64_t worker;
    int64_t number; /* the number within that time: with `ids` the sequence's
                       number, of a snowflake its lowest bits; otherwise the
                       value */
};

/*
 * One span of a sequence's period. A number is unique only together with its
 * stamp: a sequence with period = "day" starts again at 1 each day. Number and
 * stamp always belong to the same take, whatever the clock does in between.
 */
struct seqb_stamp {
    int64_t digits;    /* the date in the sequence's zone: 20261121 for a day,
                          20261121235959 for a second, 202647 for ISO week 47,
                          20264 for a quarter; 0: the sequence has no period */
    int64_t begins_ms; /* ms since 1970 */
    int64_t ends_ms;   /* when the next stamp begins */
};

/*
 * Opens a broker over the backends of a topology file, or over the embedded
 * default (four SQLite partitions under the state directory) if `topology` is
 * NULL. Returns when every backend has answered or its open time-out passed.
 * Partitions that cannot be reached are quarantined and rescued later, as long
 * as the layout is known: the very first start needs all direct backends. If a
 * store has no claim of a pool that is in use, only its partition is lost. If a
 * store knows a sequence with other settings, seqb_get_sequence refuses that
 * sequence. Everything else is served.
 *
 * Errors: SEQB_CONFIG (every error in the file, a line each), SEQB_STATE_DIR,
 * SEQB_LAYOUT (the text says what differs; nothing was changed),
 * SEQB_UNAVAILABLE (no backend knows the pool and not all direct backends
 * answer, which a first start needs; or no backend at all answers),
 * SEQB_INVALID (no backend knows the pool, and the options of a direct backend
 * are wrong), SEQB_CLOCK (a sequence has a period or is of kind snowflake, and
 * the machine's clock is far from the stores' clocks or is not set),
 * SEQB_CORRUPT, SEQB_NO_MEMORY.
 * `*out` is changed only on success; free it with seqb_close.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status seqb_open(const char *topology,
                                                    struct seqb_broker **out,
                                                    struct seqb_error *err);

/*
 * The sequence of a key: the same handle each time, owned by the broker, valid
 * until seqb_close. The call takes no number and waits for no backend. If
 * auto_sequences creates the sequence, in a pool that was migrated, of kind
 * snowflake or with a template that shuffles, its first number waits until the
 * stores have answered whether they know it with other settings. If one does,
 * calls that take numbers return SEQB_LAYOUT, and so does this one from then
 * on.
 *
 * Errors: SEQB_INVALID (not a legal key), SEQB_UNKNOWN_KEY (neither in the
 * topology nor allowed by auto_sequences), SEQB_LAYOUT (the sequence was used
 * with other settings, with another shuffle key, or in another pool),
 * SEQB_UNAVAILABLE (the limit of auto_sequences is reached, and the stores are
 * asked whether they know the key: try again), SEQB_NO_MEMORY, SEQB_FORKED.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_get_sequence(struct seqb_broker *broker, const char *key,
                  struct seqb_sequence **out, struct seqb_error *err);

/*
 * Takes one number. While the ring holds a number, this is a single atomic
 * step. Otherwise the call waits for the backends, at most until the sequence's
 * `deadline`.
 *
 * Errors: SEQB_TIMEOUT (backends are up but did not answer in time),
 * SEQB_UNAVAILABLE (no backend is usable; the text has the reason of each),
 * SEQB_EXHAUSTED (every partition's counter is at its end), SEQB_LAYOUT,
 * SEQB_CLOSED, SEQB_FORKED. A failed call uses up no number.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_next(struct seqb_sequence *sequence, int64_t *out, struct seqb_error *err);

/*
 * As seqb_next, without waiting: SEQB_AGAIN if the ring is empty (err->text is
 * then empty), SEQB_UNAVAILABLE if in addition no backend is usable. In both
 * cases the backends are asked and the ready callback is armed.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_try_next(struct seqb_sequence *sequence, int64_t *out,
              struct seqb_error *err);

#define SEQB_PARAM_MAX       8  /* parameters in a template ... */
#define SEQB_PARAM_NAME_MAX  32 /* ... the longest name of a parameter ... */
#define SEQB_PARAM_VALUE_MAX 64 /* ... and the longest value */

/* The value of a template's parameter. For a sequence with `ids`, the parameter
 * "shard" is the shard in decimal. */
struct seqb_param {
    const char *name;
    const char *value;
};

#define SEQB_TAKE_MAX     10000000 /* numbers or texts per call */
#define SEQB_DEADLINE_MAX 600000   /* ms */

/* The call does not wait: SEQB_AGAIN if there are not enough numbers in
 * memory. */
#define SEQB_TRY        1U
/* Fewer numbers are enough: those at hand. The call waits for the first one,
 * unless SEQB_TRY is set. Without SEQB_SOME the call gives all numbers or
 * none. */
#define SEQB_SOME       2U
/* The numbers are n, n + 1, ... and `out` gets only the first of them. Not for
 * a sequence with a period, and not with SEQB_SOME. */
#define SEQB_CONTIGUOUS 4U
/* `shard` is given. Only for a sequence with `ids`. */
#define SEQB_SHARD      8U
/* The numbers may be of several stamps: meant for ids, which contain their
 * time, and for texts, which contain their date. Without it all numbers are of
 * one stamp. */
#define SEQB_ANY_STAMP  16U

/* What to take. Every member but the first two may be 0. */
struct seqb_take_options {
    size_t size;         /* sizeof(struct seqb_take_options) */
    size_t count;        /* 1 ... SEQB_TAKE_MAX */
    uint32_t flags;      /* SEQB_TRY, ... */
    int64_t shard;       /* if flags have SEQB_SHARD; else it must be 0 */
    int64_t deadline_ms; /* the call waits for at most this many ms from now, up
                            to SEQB_DEADLINE_MAX; 0: the sequence's
                            `deadline` */
    /* These are for seqb_take_texts, and must be 0 for seqb_take. */
    const struct seqb_param *params; /* read during the call only */
    size_t param_count;
    size_t text_size; /* bytes of `out` for each text, its final 0 included */
};

/* What was taken. */
struct seqb_taken {
    size_t size;  /* sizeof(struct seqb_taken), set before the call */
    size_t count; /* numbers in `out`; 0 after a failure without SEQB_SOME */
    /* The stamp of all of them. `digits` is 0 if the sequence has no period.
     * All members are 0 with SEQB_ANY_STAMP, and if nothing was taken. */
    struct seqb_stamp stamp;
};

/*
 * Takes as many numbers as `options` say into `out`, which has room for all of
 * them (with SEQB_CONTIGUOUS, for one). The numbers increase within each block,
 * and have gaps. `taken` may be NULL without SEQB_SOME.
 *
 * SEQB_OK: all numbers are in `out`. With SEQB_SOME, any other status says why
 * there are not more (mostly SEQB_AGAIN): the first `taken->count` numbers in
 * `out` belong to the caller. Without SEQB_SOME, nothing in `out` may be used
 * after a failure: numbers that the call took before it had to wait for more
 * are lost (a gap). With SEQB_TRY few are lost: those that the call took while
 * other threads took the rest; with SEQB_CONTIGUOUS, those in memory that are
 * too few for the run; and ids of a snowflake.
 *
 * The structs begin with their size, so that later versions can add members.
 * Members that an older program does not know count as 0. Members that this
 * library does not know must be 0 in `options`, and are set to 0 in `taken`.
 *
 * Errors: SEQB_INVALID (an option is out of its range, or has no effect
 * together with another: the text says which; a count that the sequence can
 * never have at once; a shard of a sequence without `ids`). With SEQB_TRY:
 * SEQB_AGAIN (there are not that many numbers in memory; err->text is then
 * empty), SEQB_UNAVAILABLE (and in addition no backend is usable); in both
 * cases the backends are asked and the ready callback is armed. Otherwise the
 * errors of seqb_next. With `ids`, SEQB_EXHAUSTED: no more numbers fit into
 * this stamp (`when_full = "refuse"`), or the last time that fits is over. With
 * a period, SEQB_CLOCK: the clock went back further than `max_rollback`, or too
 * far ahead; the text says by how much.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_take(struct seqb_sequence *sequence,
          const struct seqb_take_options *options, int64_t *out,
          struct seqb_taken *taken, struct seqb_error *err);

/*
 * A slice of a sequence that one thread owns, for callers that need the last
 * nanoseconds: a number costs an addition, and threads share state only once
 * per slice. Only seqb_cursor_next may use the members.
 */
struct seqb_cursor {
    int64_t next; /* the number that comes next ... */
    int64_t end;  /* ... unless it equals this one: the slice is used up */
};

/*
 * Makes a cursor that takes `slice` numbers at once: 1 ... 2^20; 0 is the
 * default of 1024. This call takes no number. Only one thread at a time may use
 * a cursor. A sequence may have any number of cursors, and seqb_next may be
 * called meanwhile.
 *
 * A cursor's numbers are unique like all others. They increase within each
 * block. Other threads may get newer numbers before the cursor's slice is used
 * up, and numbers that seqb_cursor_close gives back are handed out after newer
 * ones. seqb_advance does not affect what a cursor holds: at most one slice of
 * numbers at or below `to` may come from it afterwards. Numbers that a cursor
 * holds when the process is killed are lost (a gap).
 *
 * Errors: SEQB_INVALID (also for a sequence with a period: its numbers must not
 * outlive the period), SEQB_NO_MEMORY, SEQB_FORKED. Release `*out` with
 * seqb_cursor_close, before seqb_close.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_cursor_open(struct seqb_sequence *sequence, size_t slice,
                 struct seqb_cursor **out, struct seqb_error *err);

/* Part of seqb_cursor_next: fetches the next slice and takes a number of it. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_cursor_refill(struct seqb_cursor *cursor, int64_t *out,
                   struct seqb_error *err);

/* Takes one number. Waits, and fails, as seqb_next does. */
static inline SEQB_MUST_CHECK enum seqb_status
seqb_cursor_next(struct seqb_cursor *cursor, int64_t *out,
                 struct seqb_error *err)
{
    if (cursor->next == cursor->end)
        return seqb_cursor_refill(cursor, out, err);
    *out = cursor->next++;
    return SEQB_OK;
}

/* Gives the unused numbers back to the sequence, and frees the cursor. NULL is
 * allowed. In a forked child it does nothing. */
SEQB_API void seqb_cursor_close(struct seqb_cursor *cursor);

/*
 * Decodes the bits of a value. It does not say whether the value was ever
 * issued. Errors: SEQB_INVALID (not positive).
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_decode(const struct seqb_sequence *sequence, int64_t value,
            struct seqb_decoded *out, struct seqb_error *err);

/* As seqb_decode, by the sequence's key. A sequence that auto_sequences would
 * create is not created, and does not count towards its limit. Also
 * SEQB_UNKNOWN_KEY; SEQB_INVALID if the key is not legal; SEQB_FORKED. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_decode_key(struct seqb_broker *broker, const char *key, int64_t value,
                struct seqb_decoded *out, struct seqb_error *err);

/*
 * Numbers for people: texts that the sequence's template makes from its
 * numbers. See docs/numbers.md for templates.
 */

#define SEQB_TEXT_MAX      255 /* the longest text that a template may make */
/* The most texts that one seqb_take_texts takes with SEQB_TRY and without
 * SEQB_SOME. */
#define SEQB_TEXTS_TRY_MAX 256

/*
 * The bytes that the longest text of the sequence's template needs, its final 0
 * included; 0 if the sequence has no template. seqb_reload may change the size.
 * A buffer that has become too small is SEQB_INVALID, and uses up no number.
 */
SEQB_API size_t seqb_number_size(const struct seqb_sequence *sequence);

/*
 * Takes numbers as seqb_take does, and writes their texts one after another,
 * the i-th at out + i * text_size, each with a final 0. Number, date and shard
 * of a text belong to the same take. All texts of a call have the same
 * parameters: each parameter of the template that has no default must be given,
 * and a parameter that the template does not have must not.
 *
 * Errors: those of seqb_take. SEQB_INVALID also if the sequence has no
 * template; if a parameter is missing, unknown, or does not fit; if `text_size`
 * is less than seqb_number_size; with SEQB_CONTIGUOUS; and with SEQB_TRY
 * without SEQB_SOME for more than SEQB_TEXTS_TRY_MAX texts. SEQB_INVALID uses
 * up no number. SEQB_EXHAUSTED also if the number no longer fits the template's
 * width (`overflow = refuse`): the text says which number. That number is a
 * gap, as is the number of a registered field that failed. The numbers that
 * were taken in the same step after it, less than SEQB_TEXTS_TRY_MAX, are a
 * gap, too. SEQB_TIMEOUT also, and with SEQB_TRY, if the texts must be of one
 * stamp and take longer to make than a stamp lasts.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_take_texts(struct seqb_sequence *sequence,
                const struct seqb_take_options *options, char *out,
                struct seqb_taken *taken, struct seqb_error *err);

/*
 * Checks whether the sequence of that key can ever give what `options` ask for:
 * as seqb_take, or, if `text_size` is not 0, as seqb_take_texts. It takes
 * nothing, waits for nothing, and does not create a sequence that
 * auto_sequences would create. So a wrong request does not count towards the
 * limit of auto_sequences. Errors: SEQB_INVALID, SEQB_UNKNOWN_KEY and
 * SEQB_FORKED as these functions answer them.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_check_take(struct seqb_broker *broker, const char *key,
                const struct seqb_take_options *options,
                struct seqb_error *err);

/* A parameter as parsed from a text. */
struct seqb_parsed_param {
    char name[SEQB_PARAM_NAME_MAX + 1];
    char value[SEQB_PARAM_VALUE_MAX + 1];
};

/* What a text says. */
struct seqb_parsed {
    /* What seqb_next gives for it: with `ids` the id, with time and shard in
     * it; seqb_decode decodes it. */
    int64_t value;
    int64_t number;          /* the number within the stamp; without a period
                                the value */
    struct seqb_stamp stamp; /* without a period: 0, and `ends_ms` is
                                INT64_MAX */
    int64_t shard;           /* with `ids`, else -1 */
    size_t param_count;
    struct seqb_parsed_param
        params[SEQB_PARAM_MAX]; /* in the template's order */
};

/*
 * Parses a text: the reverse of seqb_take_texts. SEQB_FOREIGN, with the reason
 * in `err`, if the sequence's template cannot have made the text: its form, a
 * letter, a check digit, a date that does not exist, a number out of its range.
 * It does not say whether the text was ever issued. SEQB_INVALID: the sequence
 * has no template.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_parse(const struct seqb_sequence *sequence, const char *text,
           struct seqb_parsed *out, struct seqb_error *err);

/* As seqb_parse, by the sequence's key; see seqb_decode_key. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_parse_key(struct seqb_broker *broker, const char *key, const char *text,
               struct seqb_parsed *out, struct seqb_error *err);

/* A field of a template and its text. The name is "seq", "date", a parameter's
 * name, or a registered field's name. `text` has no final 0. */
struct seqb_field_text {
    const char *name;
    const char *text;
    size_t length;
};

/* What a registered field may read. All of it is valid during the call only. */
struct seqb_field_view {
    const char *key;                 /* the sequence's */
    int64_t number;                  /* the number within the stamp, as in
                                        struct seqb_parsed */
    struct seqb_stamp stamp;         /* the same */
    int64_t shard;                   /* the same */
    const struct seqb_param *params; /* the caller's, and the defaults that were
                                        used; for `parse` those that were
                                        read */
    size_t param_count;
    const struct seqb_field_text *fields; /* of earlier phases, in the order of
                                             the template; for `parse` all */
    size_t field_count;
};

/* The phase in which a field is evaluated: 0 ... SEQB_PHASE_MAX. The fields
 * seq, date, param, key, shard and shuffle are of phase 0, check is of phase
 * 5. */
#define SEQB_PHASE_CHECK 5
#define SEQB_PHASE_MAX   9

/* A field that the service defines: @{name} in templates. */
struct seqb_field {
    const char *name;  /* [a-z][a-z0-9_-]{0,31}, not the name of a built-in
                          field */
    int32_t phase;     /* it sees the fields of lower phases */
    size_t min_length; /* of its text, in bytes; equal to max_length: a fixed
                          width */
    size_t max_length; /* 1 ... 64 */
    /* The characters that its text may have, printable ASCII; NULL: letters and
     * digits. A text can be parsed only if a field of variable length is
     * followed by a character that is not in its alphabet. */
    const char *alphabet;
    void *context; /* passed to the functions; must live as long as the
                      process */
    /* Writes the text into `out` with a final 0; `size` is max_length + 1. If
     * it fails, the call fails with that status and the text in `err`, which is
     * never NULL. Called on any thread, by many at once. Must not block or call
     * seqbroker. */
    enum seqb_status (*evaluate)(void *context,
                                 const struct seqb_field_view *view, char *out,
                                 size_t size, struct seqb_error *err);
    /* Checks a text that was read; NULL: every text is valid. SEQB_OK, or
     * SEQB_FOREIGN with the reason in `err`. Called on any thread, too. */
    enum seqb_status (*parse)(void *context, const struct seqb_field_view *view,
                              const char *text, size_t length,
                              struct seqb_error *err);
};

#define SEQB_FIELDS_MAX 64 /* per process */

/*
 * Registers a field for all topologies that the process opens afterwards. It
 * cannot be removed. The struct and its texts are copied. May be called while
 * brokers are running. Errors: SEQB_INVALID (name, phase or lengths are out of
 * range, the name is taken, or SEQB_FIELDS_MAX fields are registered already),
 * SEQB_NO_MEMORY.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_register_field(const struct seqb_field *field, struct seqb_error *err);

/*
 * For event loops: after seqb_try_next, or a call with SEQB_TRY, answered
 * SEQB_AGAIN or SEQB_UNAVAILABLE, `ready(context)` is called once when trying
 * again may succeed. It runs on a thread of the library, must not block and
 * must not call seqbroker: wake your event loop (eventfd, pipe) and return. A
 * sequence has one callback. NULL removes it, and returns only when the
 * callback is not running.
 */
SEQB_API void seqb_on_ready(struct seqb_sequence *sequence,
                            void (*ready)(void *context), void *context);

/*
 * Stops the threads, closes the connections and frees everything. It waits for
 * a backend call that is in progress, at most for its time-out. Unused numbers
 * are kept in the state directory for the next start, unless the topology says
 * otherwise. To keep them, the call waits for outstanding answers for half a
 * second, and for a store for at most 2 s, in which it asks again if all of
 * them fail. Callers waiting in seqb_next are
 * answered SEQB_CLOSED; no other call may be in progress. NULL is allowed. In a
 * forked child it closes nothing that belongs to the parent.
 */
SEQB_API void seqb_close(struct seqb_broker *broker);

enum seqb_log_level {
    SEQB_LOG_ERROR,
    SEQB_LOG_WARN,
    SEQB_LOG_INFO,
    SEQB_LOG_DEBUG
};

/*
 * Sets the process-wide logger; the library is silent without one. `line` is
 * one line of logfmt without a newline: `key=value` words, quoted with JSON's
 * escapes where necessary. It contains no secrets. The logger is called on any
 * thread, one call at a time. Set it before the first seqb_open; NULL removes
 * it.
 */
SEQB_API void seqb_set_logger(void (*logger)(void *context,
                                             enum seqb_log_level level,
                                             const char *line),
                              void *context);

#ifdef __cplusplus
}
#endif
