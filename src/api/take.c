/* SPDX-License-Identifier: Apache-2.0 */
/* Takes numbers and texts. The caller's options are checked before any number
 * is used up, and become an order of the queue or of the templates. */
#include <seqbroker/seqbroker.h>

#include "api/broker.h"
#include "api/sized.h"
#include "number/number.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "queue/queue.h"

#define FLAGS_KNOWN                                                            \
    (SEQB_TRY | SEQB_SOME | SEQB_CONTIGUOUS | SEQB_SHARD | SEQB_ANY_STAMP)

/* In place of options that could not be read. */
static const struct seqb_take_options nothing;

static bool has(const struct seqb_take_options *options, uint32_t flags)
{
    return (options->flags & flags) == flags;
}

/* --- the options --- */

static enum seqb_status refuse(struct seqb_error *err, const char *why)
{
    return error_set(err, SEQB_INVALID, "%s", why);
}

static enum seqb_status check_flags(const struct seqb_take_options *options,
                                    struct seqb_error *err)
{
    if ((options->flags & ~FLAGS_KNOWN) != 0)
        return error_set(err, SEQB_INVALID,
                         "flags %#x of a take are not known to this library",
                         options->flags & ~FLAGS_KNOWN);
    if (has(options, SEQB_CONTIGUOUS | SEQB_SOME))
        return refuse(err, "SEQB_CONTIGUOUS and SEQB_SOME: a run of numbers "
                           "is taken as a whole or not at all");
    if (has(options, SEQB_TRY) && options->deadline_ms != 0)
        return refuse(err, "SEQB_TRY does not wait: deadline_ms must be 0");
    if (!has(options, SEQB_SHARD) && options->shard != 0)
        return error_set(err, SEQB_INVALID,
                         "shard %lld needs SEQB_SHARD in the flags",
                         (long long)options->shard);
    if (options->deadline_ms < 0 || options->deadline_ms > SEQB_DEADLINE_MAX)
        return error_set(err, SEQB_INVALID,
                         "deadline_ms %lld is not in 0 ... %d",
                         (long long)options->deadline_ms, SEQB_DEADLINE_MAX);
    return SEQB_OK;
}

/* Reads the caller's structs. `*wanted` points to the options as read, which
 * may be `*copy`. */
static enum seqb_status take_begin(const struct seqb_take_options *options,
                                   const struct seqb_taken *taken,
                                   struct seqb_take_options *copy,
                                   const struct seqb_take_options **wanted,
                                   struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (taken != NULL)
        status = sized_check(taken, "seqb_taken", err);
    if (status != SEQB_OK)
        return status;
    options = sized_read(options, copy, sizeof *copy, "seqb_take_options", err);
    if (options == NULL)
        return SEQB_INVALID;
    *wanted = options;
    status = check_flags(options, err);
    if (status == SEQB_OK && has(options, SEQB_SOME) && taken == NULL)
        return refuse(err, "SEQB_SOME needs a struct seqb_taken, which says "
                           "how many there are");
    return status;
}

static int64_t until_of(const struct seqb_take_options *options)
{
    return options->deadline_ms == 0 ? 0
                                     : clock_now_ms() + options->deadline_ms;
}

/* Writes to the caller's struct what was taken, unless that struct has no
 * size. */
static enum seqb_status take_end(enum seqb_status status,
                                 const struct seqb_take_options *wanted,
                                 struct seqb_taken *given,
                                 struct seqb_taken *taken)
{
    if (status != SEQB_OK && !has(wanted, SEQB_SOME))
        given->count = 0;
    if (given->count == 0 || has(wanted, SEQB_ANY_STAMP))
        given->stamp = (struct seqb_stamp){.digits = 0};
    if (taken != NULL && sized_check(taken, "seqb_taken", NULL) == SEQB_OK)
        sized_write(given, sizeof *given, taken);
    return status;
}

/* The most frequent case: one number, with the usual wait. No struct has to be
 * filled. */
static inline bool is_one(const struct seqb_take_options *options,
                          const struct seqb_taken *taken)
{
    return options->size == sizeof *options && options->count == 1 &&
           (options->flags & ~(uint32_t)(SEQB_SHARD | SEQB_ANY_STAMP)) == 0 &&
           (options->shard == 0 || has(options, SEQB_SHARD)) &&
           options->deadline_ms == 0 && taken == NULL;
}

/* --- numbers --- */

/* Takes the numbers that are in the ring. If there are none, it waits for
 * one. */
static enum seqb_status take_some(struct seqb_sequence *sequence,
                                  const struct queue_take *take,
                                  struct seqb_error *err)
{
    struct queue_take one = *take;
    enum seqb_status status = queue_try_take(sequence, take, err);

    if (*take->taken > 0 ||
        (status != SEQB_AGAIN && status != SEQB_UNAVAILABLE))
        return status;
    one.count = 1;
    one.taken = NULL;
    status = queue_take(sequence, &one, err);
    if (status != SEQB_OK)
        return status;
    *take->taken = 1;
    return take->count == 1 ? SEQB_OK : error_set(err, SEQB_AGAIN, "%s", "");
}

static enum seqb_status take_numbers(struct seqb_sequence *sequence,
                                     const struct seqb_take_options *wanted,
                                     int64_t *out, struct seqb_taken *given,
                                     struct seqb_error *err)
{
    const struct queue_take take = {
        .out = out,
        .count = wanted->count,
        .taken = has(wanted, SEQB_SOME) ? &given->count : NULL,
        .shard = wanted->shard,
        .is_sharded = has(wanted, SEQB_SHARD),
        .is_contiguous = has(wanted, SEQB_CONTIGUOUS),
        .stamp = has(wanted, SEQB_ANY_STAMP) ? NULL : &given->stamp,
        .until_ms = until_of(wanted),
    };
    enum seqb_status status;

    if (has(wanted, SEQB_TRY))
        status = queue_try_take(sequence, &take, err);
    else if (has(wanted, SEQB_SOME))
        status = take_some(sequence, &take, err);
    else
        status = queue_take(sequence, &take, err);
    if (status == SEQB_OK)
        given->count = wanted->count;
    return status;
}

static enum seqb_status check_numbers(const struct seqb_take_options *wanted,
                                      struct seqb_error *err)
{
    if (wanted->params == NULL && wanted->param_count == 0 &&
        wanted->text_size == 0)
        return SEQB_OK;
    return refuse(err, "params, param_count and text_size are for "
                       "seqb_take_texts: numbers have none");
}

static enum seqb_status take_one(struct seqb_sequence *sequence,
                                 const struct seqb_take_options *options,
                                 int64_t *out, struct seqb_error *err)
{
    const struct queue_take take = {.out = out,
                                    .count = 1,
                                    .shard = options->shard,
                                    .is_sharded = has(options, SEQB_SHARD)};
    const enum seqb_status status = check_numbers(options, err);

    return status == SEQB_OK ? queue_take(sequence, &take, err) : status;
}

static enum seqb_status take_any(struct seqb_sequence *sequence,
                                 const struct seqb_take_options *options,
                                 int64_t *out, struct seqb_taken *taken,
                                 struct seqb_error *err)
{
    const struct seqb_take_options *wanted = &nothing;
    struct seqb_take_options copy;
    struct seqb_taken given = {.size = sizeof given};
    enum seqb_status status = take_begin(options, taken, &copy, &wanted, err);

    if (status == SEQB_OK)
        status = check_numbers(wanted, err);
    if (status == SEQB_OK)
        status = take_numbers(sequence, wanted, out, &given, err);
    return take_end(status, wanted, &given, taken);
}

enum seqb_status seqb_take(struct seqb_sequence *sequence,
                           const struct seqb_take_options *options,
                           int64_t *out, struct seqb_taken *taken,
                           struct seqb_error *err)
{
    if (is_one(options, taken))
        return take_one(sequence, options, out, err);
    return take_any(sequence, options, out, taken, err);
}

/* --- texts --- */

static enum seqb_status check_texts(const struct seqb_take_options *wanted,
                                    struct seqb_error *err)
{
    if (has(wanted, SEQB_CONTIGUOUS))
        return refuse(err, "SEQB_CONTIGUOUS is for seqb_take: each text is "
                           "written, and its number is in it");
    if (has(wanted, SEQB_TRY) && !has(wanted, SEQB_SOME) &&
        wanted->count > SEQB_TEXTS_TRY_MAX)
        return error_set(err, SEQB_INVALID,
                         "SEQB_TRY takes at most %d texts, or with SEQB_SOME "
                         "as many of more as are at hand",
                         SEQB_TEXTS_TRY_MAX);
    return SEQB_OK;
}

static enum seqb_status take_texts(struct seqb_sequence *sequence,
                                   const struct seqb_take_options *options,
                                   char *out, struct seqb_taken *taken,
                                   struct seqb_error *err)
{
    const struct seqb_take_options *wanted = &nothing;
    struct seqb_take_options copy;
    struct seqb_taken given = {.size = sizeof given};
    enum seqb_status status = take_begin(options, taken, &copy, &wanted, err);

    if (status == SEQB_OK)
        status = check_texts(wanted, err);
    if (status == SEQB_OK)
        status = number_take(sequence, wanted, out, &given, err);
    return take_end(status, wanted, &given, taken);
}

enum seqb_status seqb_take_texts(struct seqb_sequence *sequence,
                                 const struct seqb_take_options *options,
                                 char *out, struct seqb_taken *taken,
                                 struct seqb_error *err)
{
    if (is_one(options, taken))
        return number_take_one(sequence, options, out, err);
    return take_texts(sequence, options, out, taken, err);
}

/* --- without a sequence --- */

static enum seqb_status check_as(void *context,
                                 const struct queue_meaning *meaning,
                                 struct seqb_error *err)
{
    const struct seqb_take_options *wanted = context;
    const struct queue_take take = {.count = wanted->count,
                                    .shard = wanted->shard,
                                    .is_sharded = has(wanted, SEQB_SHARD),
                                    .is_contiguous =
                                        has(wanted, SEQB_CONTIGUOUS)};
    const enum seqb_status status = queue_check_take(meaning, &take, err);

    if (status != SEQB_OK || wanted->text_size == 0)
        return status;
    return number_check(meaning->template, meaning->key, wanted, err);
}

enum seqb_status seqb_check_take(struct seqb_broker *broker, const char *key,
                                 const struct seqb_take_options *options,
                                 struct seqb_error *err)
{
    const struct seqb_take_options *wanted = &nothing;
    struct seqb_taken unused = {.size = sizeof unused};
    struct seqb_take_options copy;
    enum seqb_status status = take_begin(options, &unused, &copy, &wanted, err);

    if (status == SEQB_OK)
        status = wanted->text_size > 0 ? check_texts(wanted, err)
                                       : check_numbers(wanted, err);
    if (status != SEQB_OK)
        return status;
    copy = *wanted;
    return queue_look_up(broker->queue, key, check_as, &copy, err);
}
