/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts, timed as a whole, of fewer texts than the ring holds: a store's
 * commits are not what is measured here. */
#include "bench/texts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/by_hand.h"
#include "bench/die.h"
#include "bench/now.h"
#include "bench/sorted.h"
#include "support/race.h"
#include "support/take.h"

#define BURST       50   /* thousands of texts, of each thread */
#define WARM        1    /* thousands before it, that are not timed */
#define WARMS       4000 /* thousands of texts, before the first burst */
#define BURSTS_MAX  512
#define THREADS_MAX 8
#define STATUSES    8
#define WAIT_S      0.001
#define WAITS_MAX   20000 /* for the ring to be full */

struct crowd {
    const struct text_source *source;
    enum text_way way;
    int threads;
    int bursts;
};

struct taker {
    const struct crowd *crowd;
    bool leads;
    int64_t numbers[TEXTS_AT_ONCE];
    char texts[TEXTS_AT_ONCE][BY_HAND_SIZE];
    unsigned used; /* of the texts: so that none is left out by a compiler */
    double ns[BURSTS_MAX];
};

/* --- each way, a thousand texts --- */

static void take_many(struct taker *taker)
{
    struct seqb_error err;

    must(take_texts(taker->crowd->source->sequence, TEXTS_AT_ONCE,
                    taker->texts[0], BY_HAND_SIZE, &err),
         &err);
}

static void take_one(struct taker *taker)
{
    struct seqb_sequence *const sequence = taker->crowd->source->sequence;
    struct seqb_error err;

    for (int i = 0; i < TEXTS_AT_ONCE; i++)
        must(take_text(sequence, NULL, 0, taker->texts[i], BY_HAND_SIZE, &err),
             &err);
}

static void write_by_hand(const struct seqb_stamp *stamp, int64_t number,
                          char *out)
{
    char date[BY_HAND_DATE];

    by_hand_date(stamp->begins_ms, date);
    by_hand_write(date, number, out);
}

static void take_hand_many(struct taker *taker)
{
    struct seqb_stamp stamp;
    struct seqb_error err;

    must(take_stamped(taker->crowd->source->sequence, TEXTS_AT_ONCE,
                      taker->numbers, &stamp, &err),
         &err);
    for (int i = 0; i < TEXTS_AT_ONCE; i++)
        write_by_hand(&stamp, taker->numbers[i], taker->texts[i]);
}

static void take_hand_one(struct taker *taker)
{
    struct seqb_sequence *const sequence = taker->crowd->source->sequence;
    struct seqb_stamp stamp;
    struct seqb_error err;
    int64_t number;

    for (int i = 0; i < TEXTS_AT_ONCE; i++) {
        must(take_stamped(sequence, 1, &number, &stamp, &err), &err);
        write_by_hand(&stamp, number, taker->texts[i]);
    }
}

/* --- bursts --- */

static int64_t stock_of(const struct text_source *source)
{
    struct seqb_sequence_status all[STATUSES];
    struct seqb_error err;
    size_t count = 0;

    must(seqb_sequences(source->broker, all, sizeof all[0], STATUSES, &count,
                        &err),
         &err);
    for (size_t i = 0; i < count && i < STATUSES; i++) {
        if (strcmp(all[i].key, source->key) == 0)
            return all[i].stock;
    }
    return 0;
}

static void wait_until_full(const struct crowd *crowd)
{
    const int64_t wanted =
        (int64_t)2 * crowd->threads * (WARM + BURST) * TEXTS_AT_ONCE;

    for (int i = 0; stock_of(crowd->source) < wanted; i++) {
        if (i == WAITS_MAX)
            die("the ring does not get full");
        pause_s(WAIT_S);
    }
}

static void crowd_meet(const struct taker *taker)
{
    race_meet(); /* none takes any more */
    if (taker->leads)
        wait_until_full(taker->crowd);
    race_meet_closely();
}

static void taker_run(void *racer)
{
    static void (*const ways[])(struct taker *) = {
        [TEXTS_MANY] = take_many,
        [TEXTS_ONE] = take_one,
        [TEXTS_HAND_MANY] = take_hand_many,
        [TEXTS_HAND_ONE] = take_hand_one,
    };
    struct taker *taker = racer;
    const struct crowd *crowd = taker->crowd;
    void (*const take)(struct taker *) = ways[crowd->way];

    for (int i = 0; i < crowd->bursts; i++) {
        int64_t start_ns;

        crowd_meet(taker);
        for (int j = 0; j < WARM; j++)
            take(taker);
        start_ns = now_ns();
        for (int j = 0; j < BURST; j++) {
            take(taker);
            taker->used += (unsigned char)taker->texts[j][0];
        }
        taker->ns[i] = (double)(now_ns() - start_ns) / (BURST * TEXTS_AT_ONCE);
    }
}

double texts_ns(const struct text_source *source, enum text_way way,
                int threads, double seconds)
{
    static struct taker takers[THREADS_MAX];
    static double all[THREADS_MAX * BURSTS_MAX];
    struct crowd crowd = {.source = source,
                          .way = way,
                          .threads = threads,
                          .bursts = 1 + (int)(seconds / 0.02)};
    size_t each;

    if (threads > THREADS_MAX || crowd.bursts > BURSTS_MAX)
        die("too many threads, or too long");
    for (int i = 0; i < threads; i++) {
        takers[i].crowd = &crowd;
        takers[i].leads = i == 0;
    }
    each = (size_t)crowd.bursts;
    race_run(takers, (size_t)threads, sizeof takers[0], taker_run);
    for (int i = 0; i < threads; i++)
        memcpy(&all[(size_t)i * each], takers[i].ns, each * sizeof all[0]);
    return samples_median(all, (size_t)threads * each);
}

void texts_warm(const struct text_source *source)
{
    static struct taker taker;
    struct crowd crowd = {.source = source};

    taker.crowd = &crowd;
    for (int i = 0; i < WARMS; i++)
        take_many(&taker);
}

void texts_compare(const struct text_source *source)
{
    static char texts[TEXTS_AT_ONCE][BY_HAND_SIZE];
    struct seqb_error err;

    must(take_texts(source->sequence, TEXTS_AT_ONCE, texts[0], BY_HAND_SIZE,
                    &err),
         &err);
    for (int i = 0; i < TEXTS_AT_ONCE; i++) {
        struct seqb_parsed parsed;
        char text[BY_HAND_SIZE];

        must(seqb_parse(source->sequence, texts[i], &parsed, &err), &err);
        write_by_hand(&parsed.stamp, parsed.number, text);
        if (strcmp(text, texts[i]) != 0)
            die("a text is not what is written by hand");
    }
}
