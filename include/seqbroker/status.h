/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every status that a call of seqbroker may answer, each with whose fault it
 * is, and the flat error struct that the caller owns. The other public headers
 * include it; there is no need to include it alone.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SEQB_API        __attribute__((visibility("default")))
#define SEQB_MUST_CHECK __attribute__((warn_unused_result))
#else
#define SEQB_API
#define SEQB_MUST_CHECK
#endif

/*
 * X(name, blame, text). The blame alone decides what the pool does:
 *   NOBODY   nothing is wrong with the partition
 *   CALLER   the caller's mistake: never counts against a backend
 *   BACKEND  the partition is quarantined, probed, and rescued by itself
 *   LAYOUT   going on could repeat a number: refused until an operator acts
 */
#define SEQB_STATUS_LIST(X)                                                    \
    X(OK, NOBODY, "ok")                                                        \
    X(AGAIN, NOBODY, "no number at hand, try again")                           \
    X(TIMEOUT, NOBODY, "the deadline passed")                                  \
    X(INVALID, CALLER, "invalid argument")                                     \
    X(UNKNOWN_KEY, CALLER, "unknown sequence key")                             \
    X(FOREIGN, CALLER, "the text is none of the sequence's numbers")           \
    X(CONFIG, CALLER, "invalid topology")                                      \
    X(STATE_DIR, CALLER, "the state directory cannot be used")                 \
    X(FORKED, CALLER, "the broker was opened before fork()")                   \
    X(CLOSED, CALLER, "the broker is closing")                                 \
    X(NO_MEMORY, NOBODY, "out of memory")                                      \
    X(UNAVAILABLE, NOBODY, "no partition is usable")                           \
    X(EXHAUSTED, NOBODY, "no value is left")                                   \
    X(CLOCK, NOBODY, "the machine's clock is not to be trusted")               \
    X(FENCED, NOBODY, "the counter is not bound to the store's origin")        \
    X(UNREACHABLE, BACKEND, "the backend cannot be reached")                   \
    X(UNCERTAIN, BACKEND, "no answer: the block may be spent")                 \
    X(ROLE, BACKEND, "the backend is not a primary")                           \
    X(REFUSED, BACKEND, "the backend refused")                                 \
    X(UNSAFE, BACKEND, "the backend's settings lose commits")                  \
    X(PROTOCOL, BACKEND, "the backend's answer makes no sense")                \
    X(CORRUPT, BACKEND, "the store is damaged or is none of ours")             \
    X(LAYOUT, LAYOUT, "the store was used with another layout")                \
    X(POISONED, LAYOUT, "the counter went back")

enum seqb_status {
#define SEQB_STATUS_ENUM(name, blame, text) SEQB_##name,
    SEQB_STATUS_LIST(SEQB_STATUS_ENUM)
#undef SEQB_STATUS_ENUM
};

#define SEQB_ERROR_TEXT_SIZE 1024

/*
 * Filled by every call that fails, unchanged by a call that succeeds. It is in
 * the caller's memory, holds no pointer, and may be copied. Wherever a function
 * takes one, NULL is allowed and means that the text is not wanted.
 */
struct seqb_error {
    enum seqb_status status;
    char text[SEQB_ERROR_TEXT_SIZE]; /* what failed, where, what to do next */
};

/* The status's name without its prefix, "UNKNOWN_KEY". Never NULL. */
SEQB_API const char *seqb_status_name(enum seqb_status status);

/* The status in words, "unknown sequence key". Never NULL. */
SEQB_API const char *seqb_status_text(enum seqb_status status);

#ifdef __cplusplus
}
#endif
