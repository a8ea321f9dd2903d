/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases of worker ids: the rows that a store keeps, and what a row allows to a
 * broker that reads it. Pure: clocks are passed in. tick.c carries it out.
 *
 * A row is changed by compare-and-swap alone, and no two texts of a row are
 * ever alike. So a broker that finds a text unchanged has missed no change, and
 * a broker that replaces a text knows what it said.
 *
 * A lease ends in two ways. Either one is enough to keep a value from coming
 * twice. By the boot clock: the holder's lease ends `lease_ms` after the moment
 * before the holder sent its call; other brokers respect the row until they
 * have seen it unchanged for a lease and a quarter. By the time in the values:
 * a holder issues no value with a time after the row's `upto_ms`, and its
 * successor none with a time up to it.
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
    bool is_held;   /* false: it was given back */
    int64_t tenure; /* counts the holders of this id */
    int64_t count;  /* counts the texts within the tenure */
    uint64_t key;   /* random; a holder recognizes its rows by it */
    int64_t renewed_ms;
    int64_t upto_ms;  /* no value of this id has a time after it */
    int64_t lease_ms; /* how long it is leased */
    char holder[LEASE_HOLDER_SIZE];
    char origin[SEQB_ORIGIN_SIZE]; /* of the store, as the holder saw it */
};

/* The broker that wants, or has, a lease. */
struct lease_self {
    uint64_t key; /* never 0 */
    int64_t lease_ms;
    int64_t noted_ms; /* the longest lease that the pool's stores note; 0: they
                         note none */
    char holder[LEASE_HOLDER_SIZE]; /* without spaces */
    char origin[SEQB_ORIGIN_SIZE];  /* of the store now */
    bool is_founder; /* nobody can hold a lease: this broker has just made the
                        pool's claims */
    bool is_exact;   /* each ms of an id is leased once, and the times in a row
                        are not used again: see times.c */
};

/* The longest lease that the broker knows of. */
static inline int64_t lease_longest(const struct lease_self *self)
{
    return self->noted_ms > self->lease_ms ? self->noted_ms : self->lease_ms;
}

/* Since when a text is seen unchanged. {0}: no text was seen. */
struct observation {
    uint64_t checksum;
    int64_t since_ms; /* CLOCK_BOOTTIME */
    bool is_seen;
};

/* Returns false for any text that lease_write would not have written; the
 * content of `out` is then of no use. */
bool lease_read(const char *text, struct lease_row *out);
void lease_write(const struct lease_row *row, char *out, size_t size);

/* Notes the text that the store had at `boot_ms`. Returns for how many ms the
 * text is known to be unchanged. */
int64_t lease_watch(struct observation *observation, const char *text,
                    int64_t boot_ms);

enum lease_verdict {
    LEASE_TAKE,  /* the id is free: take it by a swap of exactly this text */
    LEASE_OURS,  /* this broker has it already */
    LEASE_WAIT,  /* another broker holds it, or may still hold it */
    LEASE_AHEAD, /* its times are ahead of the clock: take another id */
    LEASE_DAMAGED
};

/* Evaluates the text of a row ("": the store has none) that has not changed for
 * `unchanged_ms`. For LEASE_WAIT, `*left_ms` is the time until the id could be
 * taken; otherwise it is not positive. */
enum lease_verdict lease_evaluate(const char *text, int64_t unchanged_ms,
                                  const struct lease_self *self,
                                  int64_t wall_ms, int64_t *left_ms);

/* The row of a broker that takes an id, made of the row that the store has, or
 * of NULL. */
struct lease_row lease_taken(const struct lease_row *standing,
                             const struct lease_self *self, int64_t wall_ms);

/* The next row of the holder that renews its lease; and of the holder that
 * gives its id back, after it used no time later than `used_ms`. */
struct lease_row lease_renewed(const struct lease_row *row,
                               const struct lease_self *self, int64_t wall_ms);
struct lease_row lease_given_back(const struct lease_row *row, int64_t used_ms,
                                  int64_t wall_ms);

enum lease_origin_verdict {
    LEASE_ORIGIN_OPEN, /* ids may be taken */
    LEASE_ORIGIN_WAIT, /* leases of an earlier history may still be held */
    LEASE_ORIGIN_SWAP  /* first replace the text by `next` */
};

/*
 * Evaluates the text in which a pool keeps its store's origin ("": none yet),
 * and which has not changed for `unchanged_ms`. A store with another origin
 * knows nothing of the leases of its earlier history. So the text is first
 * bound to the new origin, and opened a lease and a quarter after that was
 * seen: the longest lease that is known. If there is no text, a founder opens
 * it at once. `next` has LEASE_TEXT_SIZE.
 */
enum lease_origin_verdict lease_check_origin(const char *text,
                                             int64_t unchanged_ms,
                                             const struct lease_self *self,
                                             int64_t *left_ms, char *next);
