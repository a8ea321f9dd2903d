/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client API of seqbroker: open a broker, take numbers, close it.
 *
 * Every handle may be used by every thread at once, except that seqb_close
 * must be the last call on a broker. No signal handler is touched. Values are
 * int64_t, at least 1. After fork() the child's handles answer SEQB_FORKED:
 * open a broker of its own there.
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
    /* Of a sequence with `ids` or `snowflake`: the begin of the id's time, ms
     * since 1970. `ids` have a shard. A snowflake has a worker id and, with
     * `datacenter_bits`, a datacenter; it has no counter in a backend: counter,
     * partition and memory are 0. What does not apply is -1. */
    int64_t time_ms;
    int64_t shard;
    int64_t datacenter;
    int64_t worker;
    int64_t number; /* what counts within that time: of `ids` the sequence's
                       number, of a snowflake the lowest bits; else the value */
};

/*
 * One span of a sequence's period. Its numbers are unique together with it: a
 * sequence with period = "day" begins afresh each day. Number and stamp are
 * always of one take, whatever the clock does in between.
 */
struct seqb_stamp {
    int64_t digits;    /* the date in the sequence's zone: 20261121 of a day,
                          20261121235959 of a second, 202647 of ISO week 47,
                          20264 of a quarter; 0: the sequence has no period */
    int64_t begins_ms; /* ms since 1970 */
    int64_t ends_ms;   /* when the next one begins */
};

/*
 * Opens a broker over the backends of a topology file, or over the embedded
 * default (four SQLite partitions under the state directory) if `topology` is
 * NULL. Returns when every backend has answered or its open time-out passed:
 * partitions that cannot be reached are quarantined and rescued later, as
 * long as the layout is known (the very first start needs all direct ones). A
 * store that knows nothing of a pool in use costs its partition, and a sequence
 * that a store knows by other settings is refused by seqb_get_sequence; the
 * rest is served.
 *
 * Errors: SEQB_CONFIG (every error in the file, a line each),
 * SEQB_STATE_DIR, SEQB_LAYOUT (says what differs; nothing was changed),
 * SEQB_UNAVAILABLE (no backend knows the pool, and not all direct ones answer,
 * as a first start needs; or no backend at all answers), SEQB_INVALID (no
 * backend knows it, and the options of a direct one are wrong), SEQB_CLOCK
 * (sequences with a period, and the machine's clock is far from the stores' or
 * is not set), SEQB_CORRUPT, SEQB_NO_MEMORY. `*out` is touched only on success;
 * free it with seqb_close.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status seqb_open(const char *topology,
                                                    struct seqb_broker **out,
                                                    struct seqb_error *err);

/*
 * The sequence of a key: the same handle each time, owned by the broker, valid
 * until seqb_close. Takes no number and asks no backend. There is one
 * exception: a sequence that auto_sequences makes, in a pool that was migrated
 * or with a template that shuffles, waits once for the stores' answer.
 *
 * Errors: SEQB_INVALID (not a legal key), SEQB_UNKNOWN_KEY (neither in the
 * topology nor allowed by auto_sequences), SEQB_LAYOUT (it was used with other
 * settings, another key, or in another pool), SEQB_NO_MEMORY, SEQB_FORKED.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_get_sequence(struct seqb_broker *broker, const char *key,
                  struct seqb_sequence **out, struct seqb_error *err);

/*
 * Takes one number. While the ring holds one this is a single atomic step;
 * else it waits for the backends, at most until the sequence's `deadline`.
 *
 * Errors: SEQB_TIMEOUT (backends are up but did not answer in time),
 * SEQB_UNAVAILABLE (none is usable; the text has each one's reason),
 * SEQB_EXHAUSTED (every partition's counter is at its end), SEQB_LAYOUT,
 * SEQB_CLOSED, SEQB_FORKED. No number is used up by a failure.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_next(struct seqb_sequence *sequence, int64_t *out, struct seqb_error *err);

/*
 * The same without waiting: SEQB_AGAIN if the ring is empty (err->text is then
 * empty), SEQB_UNAVAILABLE if in addition no backend is usable. In both cases
 * the backends are asked and the ready callback is armed.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_try_next(struct seqb_sequence *sequence, int64_t *out,
              struct seqb_error *err);

#define SEQB_PARAM_MAX       8  /* parameters in a template ... */
#define SEQB_PARAM_NAME_MAX  32 /* ... the longest name of one ... */
#define SEQB_PARAM_VALUE_MAX 64 /* ... and the longest value */

/* The value of a template's parameter. The parameter "shard" is the shard of
 * ids, in decimal. */
struct seqb_param {
    const char *name;
    const char *value;
};

#define SEQB_TAKE_MAX     10000000 /* numbers, or texts, of one call */
#define SEQB_DEADLINE_MAX 600000   /* ms */

/* The call does not wait: SEQB_AGAIN if not enough is at hand. */
#define SEQB_TRY        1U
/* Fewer numbers are enough: those at hand. The call waits for the first one,
 * unless SEQB_TRY is set. Without SEQB_SOME all of them come, or none. */
#define SEQB_SOME       2U
/* The numbers are n, n + 1, ... and `out` gets only the first of them. Not for
 * a sequence with a period, and not with SEQB_SOME. */
#define SEQB_CONTIGUOUS 4U
/* `shard` is given, for a sequence with `ids`; else it is 0. */
#define SEQB_SHARD      8U
/* The numbers may be of several stamps: for ids, which contain their time, and
 * for texts, which contain their date. Else all are of one stamp. */
#define SEQB_ANY_STAMP  16U

/* What is to be taken. Every member but the first two may be 0. */
struct seqb_take_options {
    size_t size;         /* sizeof(struct seqb_take_options) */
    size_t count;        /* 1 ... SEQB_TAKE_MAX */
    uint32_t flags;      /* SEQB_TRY, ... */
    int64_t shard;       /* if flags have SEQB_SHARD; else it must be 0 */
    int64_t deadline_ms; /* waits so many ms from now at most, up to
                            SEQB_DEADLINE_MAX; 0: the sequence's `deadline` */
    /* These are for seqb_take_texts, and must be 0 for seqb_take. */
    const struct seqb_param *params; /* read in the call */
    size_t param_count;
    size_t text_size; /* bytes of `out` for each text, its final 0 included */
};

/* What was taken. */
struct seqb_taken {
    size_t size;  /* sizeof(struct seqb_taken), set before the call */
    size_t count; /* of those in `out`; 0 after a failure without SEQB_SOME */
    /* Of all of them. Its digits are 0 if the sequence has no period; all of it
     * is 0 with SEQB_ANY_STAMP, and if none was taken. */
    struct seqb_stamp stamp;
};

/*
 * Takes as many numbers as `options` say into `out`, which has room for all of
 * them (with SEQB_CONTIGUOUS, for one). They increase within each block, but
 * have gaps. `taken` may be NULL without SEQB_SOME.
 *
 * SEQB_OK: all of them are in `out`. Any other status says, with SEQB_SOME, why
 * there are not more, SEQB_AGAIN mostly: `taken->count` of them are in `out`,
 * and are the caller's. Without SEQB_SOME nothing in `out` is of use then:
 * numbers that were taken while it waited for others are lost (a gap), none is
 * with SEQB_TRY.
 *
 * The structs begin with their size, so that they may grow: members that an
 * older program does not know count as 0. A newer one's that this library does
 * not know must be 0 in `options`, and are made 0 in `taken`.
 *
 * Errors: SEQB_INVALID (an option is out of its range, or has no effect
 * together with another: the text says which; a count that the sequence can
 * never have at once; a shard of a sequence without `ids`). With SEQB_TRY:
 * SEQB_AGAIN (not so many are at hand; err->text is then empty),
 * SEQB_UNAVAILABLE (and no backend is usable); in both cases the backends are
 * asked and the ready callback is armed. Else: those of seqb_next.
 * SEQB_EXHAUSTED, of ids: no more fit into this stamp (`when_full = "refuse"`),
 * or the last time that fits is over. SEQB_CLOCK, with a period: the clock went
 * back further than `max_rollback`, or too far ahead, by what the text says.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_take(struct seqb_sequence *sequence,
          const struct seqb_take_options *options, int64_t *out,
          struct seqb_taken *taken, struct seqb_error *err);

/*
 * One thread's own slice of a sequence, for callers that want the last
 * nanoseconds: a number costs an addition, and one step on what threads share
 * is for a slice of them. The members are for seqb_cursor_next alone.
 */
struct seqb_cursor {
    int64_t next; /* the number that comes next ... */
    int64_t end;  /* ... unless it is this one */
};

/*
 * Makes a cursor that takes `slice` numbers at once: 1 ... 2^20; 0 is the
 * usual 1024. It takes none yet. Not for two threads at a time; as many
 * cursors as you like beside each other and beside seqb_next.
 *
 * A cursor's numbers are unique as all are. They increase within each block;
 * against other threads' numbers they are older by what the cursor holds, and
 * what is given back by seqb_cursor_close is handed out after newer ones.
 * seqb_advance does not reach what a cursor holds: at most one slice of
 * numbers at or below `to` comes of it afterwards. What a cursor holds when
 * the process is killed is lost (a gap).
 *
 * Errors: SEQB_INVALID (also of a sequence with a period, whose numbers must
 * not outlive it), SEQB_NO_MEMORY, SEQB_FORKED. `*out` is for
 * seqb_cursor_close, before seqb_close.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_cursor_open(struct seqb_sequence *sequence, size_t slice,
                 struct seqb_cursor **out, struct seqb_error *err);

/* Of seqb_cursor_next: takes a number after having fetched more of them. */
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

/* Gives what the cursor holds back to the sequence, and frees it. Takes NULL.
 * In a forked child it does nothing. */
SEQB_API void seqb_cursor_close(struct seqb_cursor *cursor);

/*
 * Decodes a value: what its bits mean. It does not say whether the value was
 * ever issued. Errors: SEQB_INVALID (not positive).
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_decode(const struct seqb_sequence *sequence, int64_t value,
            struct seqb_decoded *out, struct seqb_error *err);

/* The same by its key. A sequence that would make itself is not made, and does
 * not count in the limit of auto_sequences. Also SEQB_UNKNOWN_KEY;
 * SEQB_INVALID, if it is no key; SEQB_FORKED. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_decode_key(struct seqb_broker *broker, const char *key, int64_t value,
                struct seqb_decoded *out, struct seqb_error *err);

/*
 * Numbers for people: texts that the sequence's template makes of its numbers.
 * See docs/numbers.md for templates.
 */

#define SEQB_TEXT_MAX      255 /* the longest text that a template may make */
/* Texts that seqb_take_texts takes without waiting, if all or none. */
#define SEQB_TEXTS_TRY_MAX 256

/*
 * Bytes that hold the longest text of the sequence's template, its final 0
 * among them; 0 if it has no template. seqb_reload may make it another one:
 * then a buffer that is too small is SEQB_INVALID, and uses up no number.
 */
SEQB_API size_t seqb_number_size(const struct seqb_sequence *sequence);

/*
 * Takes numbers as seqb_take does, and writes their texts one after another,
 * the i-th at out + i * text_size, each with a final 0. Number, date and shard
 * of a text are of one take. All texts of a call have the same parameters: each
 * that the template has without a default must be there, and none besides that
 * it has.
 *
 * Errors: as seqb_take. SEQB_INVALID also if the sequence has no template; a
 * parameter is missing, unknown, or does not fit; `text_size` is less than
 * seqb_number_size; of SEQB_CONTIGUOUS; and of SEQB_TRY without SEQB_SOME for
 * more than SEQB_TEXTS_TRY_MAX texts. Then no number was used up.
 * SEQB_EXHAUSTED also if the number does not fit the template's width any more
 * (`overflow = refuse`): the text says which; such a number is a gap, as is
 * that of a registered field that failed.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_take_texts(struct seqb_sequence *sequence,
                const struct seqb_take_options *options, char *out,
                struct seqb_taken *taken, struct seqb_error *err);

/*
 * Whether the sequence of that key ever gives what `options` ask for: as
 * seqb_take, or, if `text_size` is not 0, as seqb_take_texts. It takes nothing
 * and waits for nothing; a sequence that would make itself is not made. So a
 * request that is wrong uses up none of the limit of auto_sequences. Errors:
 * SEQB_INVALID, SEQB_UNKNOWN_KEY and SEQB_FORKED as of these functions.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_check_take(struct seqb_broker *broker, const char *key,
                const struct seqb_take_options *options,
                struct seqb_error *err);

/* A parameter as it was read from a text. */
struct seqb_parsed_param {
    char name[SEQB_PARAM_NAME_MAX + 1];
    char value[SEQB_PARAM_VALUE_MAX + 1];
};

/* What a text says. */
struct seqb_parsed {
    /* What seqb_next gives for it: of ids the id, with time and shard in it;
     * seqb_decode decodes it. */
    int64_t value;
    int64_t number;          /* what counts within the stamp; else the value */
    struct seqb_stamp stamp; /* 0, and INT64_MAX its end: it has no period */
    int64_t shard;           /* of ids, or -1 */
    size_t param_count;
    struct seqb_parsed_param
        params[SEQB_PARAM_MAX]; /* in the template's order */
};

/*
 * Parses a text: the reverse of seqb_take_texts. SEQB_FOREIGN, with the reason
 * in `err`, if the sequence's template does not make such a text: its form, a
 * letter, a check digit, a date that does not exist, a number out of its range.
 * It does not say whether the text was ever issued. SEQB_INVALID: the sequence
 * has no template.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_parse(const struct seqb_sequence *sequence, const char *text,
           struct seqb_parsed *out, struct seqb_error *err);

/* The same by its key; see seqb_decode_key. */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_parse_key(struct seqb_broker *broker, const char *key, const char *text,
               struct seqb_parsed *out, struct seqb_error *err);

/* A field of a template whose text is known: "seq", "date", a parameter's name,
 * a registered field's name. Not ended by 0. */
struct seqb_field_text {
    const char *name;
    const char *text;
    size_t length;
};

/* What a registered field may look at. All of it is valid in the call only. */
struct seqb_field_view {
    const char *key;                 /* the sequence's */
    int64_t number;                  /* what counts, as in struct seqb_parsed */
    struct seqb_stamp stamp;         /* the same */
    int64_t shard;                   /* the same */
    const struct seqb_param *params; /* the caller's, with the defaults that
                                        were used; of parse those read */
    size_t param_count;
    const struct seqb_field_text *fields; /* of earlier phases, as they stand
                                             in the template; of parse all */
    size_t field_count;
};

/* When fields are evaluated: 0 ... SEQB_PHASE_MAX. seq, date, param, key, shard
 * and shuffle are of phase 0, check is of phase 5. */
#define SEQB_PHASE_CHECK 5
#define SEQB_PHASE_MAX   9

/* A field of the service's own: @{name} in templates. */
struct seqb_field {
    const char *name;  /* [a-z][a-z0-9_-]{0,31}, none of the built-in ones */
    int32_t phase;     /* it sees the fields of lower ones */
    size_t min_length; /* of its text, in bytes; both alike: a fixed width */
    size_t max_length; /* 1 ... 64 */
    /* The characters that its text may have, printable ASCII; NULL: letters
     * and digits. Texts can be read back if a field that varies in length is
     * ended by what is not among them. */
    const char *alphabet;
    void *context; /* for the functions; must live as long as the process */
    /* Writes the text into `out`, `size` is max_length + 1, with a final 0. If
     * it fails the call fails with that status, and what `err`, which is never
     * NULL, says. On any thread, many at once. Must not wait, nor call
     * seqbroker. */
    enum seqb_status (*evaluate)(void *context,
                                 const struct seqb_field_view *view, char *out,
                                 size_t size, struct seqb_error *err);
    /* Whether a text that was read is right; NULL: any is. SEQB_OK, or
     * SEQB_FOREIGN with why not. On any thread, too. */
    enum seqb_status (*parse)(void *context, const struct seqb_field_view *view,
                              const char *text, size_t length,
                              struct seqb_error *err);
};

#define SEQB_FIELDS_MAX 64 /* that may be registered in a process */

/*
 * Makes a field known to all topologies that the process opens afterwards; it
 * stays so. The struct and its texts are copied. May be called while brokers
 * are at work. Errors: SEQB_INVALID (name, phase or lengths are not as said,
 * the name is taken, or there are SEQB_FIELDS_MAX already), SEQB_NO_MEMORY.
 */
SEQB_API SEQB_MUST_CHECK enum seqb_status
seqb_register_field(const struct seqb_field *field, struct seqb_error *err);

/*
 * For event loops: after seqb_try_next, or a call with SEQB_TRY, answered
 * SEQB_AGAIN or SEQB_UNAVAILABLE, `ready(context)` is called once when trying
 * again may succeed. It runs on a thread of the library, must not block and
 * must not call seqbroker: wake your loop (eventfd, pipe) and return. One
 * callback a sequence; NULL removes it, and returns only when no call is under
 * way.
 */
SEQB_API void seqb_on_ready(struct seqb_sequence *sequence,
                            void (*ready)(void *context), void *context);

/*
 * Stops the threads, closes the connections and frees everything; waits for a
 * backend call under way, at most its time-out. What is unused is kept in the
 * state directory for the next start, unless the topology says otherwise;
 * that waits for answers under way for half a second, and for a store for 2 s
 * at most. Callers waiting in seqb_next are answered SEQB_CLOSED; no other call
 * may be under way. Takes NULL. In a forked child it closes nothing of the
 * parent's.
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
 * one line of logfmt without a newline: `key=value` words, values in quotes
 * with JSON's escapes where they need them, no secrets. Called from any thread,
 * one call at a time. Set it before the first seqb_open; NULL removes it.
 */
SEQB_API void seqb_set_logger(void (*logger)(void *context,
                                             enum seqb_log_level level,
                                             const char *line),
                              void *context);

#ifdef __cplusplus
}
#endif
