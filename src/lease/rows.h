/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases of worker ids: the rows that a store keeps of them, and what a
 * row that was seen allows. Pure: clocks are passed in; turn.c carries it
 * out.
 *
 * A row is changed by compare-and-swap alone, and no two of its texts are ever
 * alike. So who finds a text unchanged has not overlooked anything, and whoever
 * replaces it knows what it said last.
 *
 * A lease ends in two ways, either of which is enough to keep a value from
 * coming twice. By the boot clock: its holder ends it a lease after the moment
 * before he sent it, others let it stand until they have seen it unchanged for
 * a lease and a quarter. And by the time in the values: a holder gives none
 * after the row's `upto_ms`, his successor none up to that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define LEASE_HOLDER_SIZE 128
#define LEASE_TEXT_SIZE   (LEASE_HOLDER_SIZE + SEQB_ORIGIN_SIZE + 256)

/* The row of one worker id. Times in ms since 1970, by the holder's clock. */
struct lease_row {
    bool is_held;   /* else it was given back */
    int64_t tenure; /* counts the holders of this id */
    int64_t count;  /* of texts within the tenure */
    uint64_t key;   /* by chance; a holder knows his rows by it */
    int64_t renewed_ms;
    int64_t upto_ms;  /* no value of this id has a time after it */
    int64_t lease_ms; /* how long it is leased */
    char holder[LEASE_HOLDER_SIZE];
    char origin[SEQB_ORIGIN_SIZE]; /* of the store, as the holder saw it */
};

/* Who wants, or has, a lease. */
struct lease_self {
    uint64_t key; /* never 0 */
    int64_t lease_ms;
    char holder[LEASE_HOLDER_SIZE]; /* without blanks */
    char origin[SEQB_ORIGIN_SIZE];  /* of the store now */
    bool is_founder; /* nobody can hold a lease: the pool has just been made */
    bool is_exact;   /* times of an id are leased one by one, and none that
                        stand in a row are had again: see times.c */
};

/* A text that was seen unchanged for a while; {0} for none. */
struct observation {
    uint64_t checksum;
    int64_t since_ms; /* CLOCK_BOOTTIME */
    bool is_seen;
};

/* False, and `out` is as good as empty, for anything that lease_write would not
 * have written. */
bool lease_read(const char *text, struct lease_row *out);
void lease_write(const struct lease_row *row, char *out, size_t size);

/* What stood in the store when it answered, not after `boot_ms`: how long it
 * is known to have stood there. */
int64_t lease_watch(struct observation *observation, const char *text,
                    int64_t boot_ms);

enum lease_verdict {
    LEASE_TAKE,  /* the id may be had: by a swap of exactly this text */
    LEASE_OURS,  /* it is ours already */
    LEASE_WAIT,  /* somebody holds it, or did not long ago */
    LEASE_AHEAD, /* its times are ahead of the clock: another id will do */
    LEASE_DAMAGED
};

/* Evaluates the text of a row ("": there is none) that has not changed for
 * `unchanged_ms`. `*left_ms`, of LEASE_WAIT: when it could be taken. */
enum lease_verdict lease_evaluate(const char *text, int64_t unchanged_ms,
                                  const struct lease_self *self,
                                  int64_t wall_ms, int64_t *left_ms);

/* The row of who takes an id, given the one that stands, or NULL. */
struct lease_row lease_taken(const struct lease_row *standing,
                             const struct lease_self *self, int64_t wall_ms);

/* The row of who has it and goes on; and of who gives it back, having used no
 * time after `used_ms`. */
struct lease_row lease_renewed(const struct lease_row *row,
                               const struct lease_self *self, int64_t wall_ms);
struct lease_row lease_given_back(const struct lease_row *row, int64_t used_ms,
                                  int64_t wall_ms);

enum lease_origin_verdict {
    LEASE_ORIGIN_OPEN, /* ids may be had */
    LEASE_ORIGIN_WAIT, /* leases of an earlier history may still be held */
    LEASE_ORIGIN_SWAP  /* first replace the text by `next` */
};

/*
 * Evaluates the text that a pool keeps of its store's origin ("": none yet),
 * which has not changed for `unchanged_ms`. A store with another origin knows
 * nothing of the leases of its earlier history. It is bound first, and opened a
 * lease and a quarter after that was seen. A founder opens it at once where
 * there is no text. `next` has LEASE_TEXT_SIZE.
 */
enum lease_origin_verdict lease_check_origin(const char *text,
                                             int64_t unchanged_ms,
                                             const struct lease_self *self,
                                             int64_t *left_ms, char *next);
