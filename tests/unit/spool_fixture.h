/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spools in a temporary folder, over the stores of a rig, and brokers that give
 * and take blocks. A failure of these functions fails the test.
 */
#pragma once

#include "queue/flusher/spool.h"
#include "support/rig.h"

#define SPOOL_MEMORY_BITS 2  /* of the sequences used here */
#define SPOOL_TAKEN_MAX   64 /* blocks in one exchange */
#define SPOOL_SOON_MS     500

struct spool_case {
    struct rig *rig;
    char folder[32];
    char path[64];
    struct rig_broker *broker; /* NULL: not open */
    struct spool *spool;
    struct seqb_error err; /* of the last exchange */

    /* What the callback `choose` returns. */
    enum spool_choice choice;
    const char *wanted; /* NULL: all sequences */
    int32_t memory_bits;

    /* What the last exchange took. */
    struct spool_block taken[SPOOL_TAKEN_MAX];
    char keys[SPOOL_TAKEN_MAX][SEQB_KEY_MAX + 1];
    size_t taken_count;
    int64_t taken_numbers;
};

/* For cmocka: *state becomes a case over a rig of two direct partitions or two
 * neighbours, with an open broker and its spool. */
int spool_case_setup(void **state);
int spool_case_setup_neighbours(void **state);
int spool_case_teardown(void **state);

#define SPOOL                                                                  \
    FIXTURE(struct spool_case *c, spool_case_setup, spool_case_teardown)

/* _open opens a broker and its spool, _close closes them, _restart closes and
 * opens them. */
void spool_case_open(struct spool_case *c);
void spool_case_close(struct spool_case *c);
void spool_case_restart(struct spool_case *c);

/* A block with `runs` runs of a partition, from counter value `v` on. */
struct spool_block spool_case_block(const char *key, int32_t partition,
                                    int64_t v, int64_t runs);

/* Exchanges blocks. The result is also in c->err, whose status is set to
 * SEQB_OK on success. */
enum seqb_status spool_case_try(struct spool_case *c,
                                const struct spool_block *give, size_t count,
                                int64_t until_ms);

/* Exchanges that must succeed: _give gives a block and takes nothing; _take
 * gives nothing and takes what c->choice says. */
void spool_case_give(struct spool_case *c, struct spool_block block);
void spool_case_take(struct spool_case *c);

/* Takes, and expects that many numbers. */
void spool_case_expect(struct spool_case *c, int64_t numbers);

/* A path next to the file. Valid until the next call. */
const char *spool_case_beside(const struct spool_case *c, const char *suffix);
/* Whether such a file exists; `suffix` may be a pattern. */
bool spool_case_has(const struct spool_case *c, const char *suffix);

/* Copies a file's content, replacing what is there. */
void spool_case_copy(const char *from, const char *to);

/* Checks that the file was refused since events_start, with those words, that
 * nothing of it was taken, and that it was set aside. */
void spool_case_expect_refused(struct spool_case *c, const char *words);
