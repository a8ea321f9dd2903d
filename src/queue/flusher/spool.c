/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exchange: read the file, decide, write a new file, get a ticket, rename.
 * The ticket alone takes the numbers of the old file, for good, whatever the
 * disk does. The rename only replaces the file.
 */
#include "queue/flusher/spool.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/chance.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/log.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/flusher/merge.h"
#include "queue/flusher/text.h"

#define FRESH       ".new-" /* before the id of an exchange */
#define FRESH_AGE_S 3600    /* far longer than an exchange takes */
#define LOOK_MS     50      /* between two looks at whether the broker closes */
#define AGAIN_US    20000   /* the rest before an exchange is repeated */

/* How long a store is waited for while another one can be asked. Afterwards all
 * of them are waited for longer. */
#define SOON_MS 250

/* The path with the longest name that is made of it. */
#define PATH_MOST (PATH_MAX - strlen(FRESH) - SPOOL_ID_SIZE)

struct spool {
    struct ha *ha;
    char path[PATH_MAX];
    char lock[PATH_MAX];    /* locked during an exchange; never removed */
    char refused[PATH_MAX]; /* a file that must not be used, for the operator */
};

struct exchange {
    struct spool *spool;
    char fresh[PATH_MAX]; /* the new file. Its name is used by this exchange
                             only, because the lock may not work */
    int64_t until_ms;
    struct merge merge;
    char *bytes; /* contents of the file; `found` points into them */
    struct spool_text found;
    struct spool_text *present; /* `found`; NULL: no file that may be used */
    struct ha_ticket ticket;    /* `next` may point into it */
    struct spool_text next;
};

enum seqb_status spool_open(const char *path, struct ha *ha, struct spool **out,
                            struct seqb_error *err)
{
    struct spool *spool;

    if (strlen(path) > PATH_MOST)
        return error_set(err, SEQB_INVALID, "spool: the path is too long");
    spool = calloc(1, sizeof *spool);
    if (spool == NULL)
        return error_set(err, SEQB_NO_MEMORY, "spool: out of memory");
    spool->ha = ha;
    (void)text_copy(spool->path, PATH_MAX, path);
    (void)text_format(spool->lock, PATH_MAX, "%s.lock", path);
    (void)text_format(spool->refused, PATH_MAX, "%s.refused", path);
    *out = spool;
    return SEQB_OK;
}

void spool_close(struct spool *spool)
{
    free(spool);
}

/* --- the file that is there --- */

static void refuse(struct exchange *exchange, enum seqb_log_level level,
                   const char *why)
{
    const struct spool *spool = exchange->spool;
    struct seqb_error err;
    const bool is_aside =
        file_move(spool->path, spool->refused, &err) == SEQB_OK;
    char file[LOG_VALUE_SIZE];
    char aside[LOG_VALUE_SIZE];

    log_reason(
        level, why, "event=spool_refused file=%s aside=%s",
        log_value(file, sizeof file, spool->path),
        log_value(aside, sizeof aside, is_aside ? spool->refused : "no"));
    exchange->present = NULL;
}

/* A migration gives the pool other numbers. Those from before are a gap. */
static void refuse_found(struct exchange *exchange,
                         const struct seqb_error *why)
{
    if (why->status == SEQB_LAYOUT &&
        merge_is_migrated(&exchange->merge, &exchange->found))
        refuse(
            exchange, SEQB_LOG_INFO,
            "it is of an earlier generation of its pool, before a migration");
    else
        refuse(exchange, SEQB_LOG_WARN, why->text);
}

static enum seqb_status present_load(struct exchange *exchange,
                                     struct seqb_error *err)
{
    const struct spool *spool = exchange->spool;
    struct seqb_error why;
    size_t size;
    enum seqb_status status =
        file_load(spool->path, SPOOL_SIZE_MAX, &exchange->bytes, &size, err);

    if (status != SEQB_OK || exchange->bytes == NULL)
        return status;
    status = spool_text_read(exchange->bytes, size, &exchange->found, &why);
    if (status == SEQB_OK)
        status = merge_adopt(&exchange->merge, &exchange->found, &why);
    if (status == SEQB_NO_MEMORY)
        return error_copy(err, &why);
    if (status == SEQB_OK)
        exchange->present = &exchange->found;
    else
        refuse_found(exchange, &why);
    return SEQB_OK;
}

/* --- the file that is to be --- */

static enum seqb_status id_make(char id[static SPOOL_ID_SIZE],
                                struct seqb_error *err)
{
    return chance_id(id)
               ? SEQB_OK
               : error_set(err, SEQB_NO_MEMORY, "spool: no random bytes");
}

/* Removes files that a killed broker left. If the lock does not work, such a
 * file may still be in use by another broker, whose exchange then fails. */
static enum seqb_status fresh_name(struct exchange *exchange,
                                   struct seqb_error *err)
{
    char *fresh = exchange->fresh;
    char id[SPOOL_ID_SIZE];

    if (id_make(id, err) != SEQB_OK)
        return SEQB_NO_MEMORY;
    (void)text_format(fresh, PATH_MAX, "%s" FRESH, exchange->spool->path);
    file_remove_old(fresh, FRESH_AGE_S);
    (void)text_append(fresh, PATH_MAX, "%s", id);
    return SEQB_OK;
}

static enum seqb_status next_save(const struct exchange *exchange,
                                  struct seqb_error *err)
{
    char *bytes;
    size_t size;
    enum seqb_status status =
        spool_text_write(&exchange->next, &bytes, &size, err);

    if (status != SEQB_OK)
        return status;
    status = file_save(exchange->fresh, bytes, size, err);
    free(bytes);
    return status;
}

static enum seqb_status next_move(const struct exchange *exchange,
                                  struct seqb_error *err)
{
    return file_move(exchange->fresh, exchange->spool->path, err);
}

/* Whether the ticket is the one after the present file's. */
static bool is_next_ticket(const struct spool_text *next,
                           const struct ha_ticket *ticket)
{
    return ticket->value == next->ticket &&
           strcmp(ticket->origin, next->origin) == 0;
}

/* When the first of `count` equal parts of the rest of the time is over, or
 * `most_ms`. Several stores can be asked, and one that hangs must not use up
 * the time of the others. */
static int64_t exchange_part(const struct exchange *exchange, size_t count,
                             int64_t most_ms)
{
    const int64_t now_ms = clock_now_ms();

    assert(count > 0);
    return now_ms +
           min_of((exchange->until_ms - now_ms) / (int64_t)count, most_ms);
}

/*
 * Replaces a file that exists. The new file carries the ticket after the old
 * one's. It is written before that ticket is asked for, so that a full disk
 * loses nothing. The ticket is granted once, and the broker that gets it owns
 * the numbers of the old file. SEQB_AGAIN: the old file is not used, for
 * example because another broker had got the ticket.
 */
static enum seqb_status exchange_over(struct exchange *exchange,
                                      struct seqb_error *err)
{
    const struct spool_text *present = exchange->present;
    struct spool_text *next = &exchange->next;
    const bool is_needed = present->block_count > 0;
    enum seqb_status status;

    (void)text_copy(next->id, sizeof next->id, present->id);
    next->ticket = present->ticket + 1;
    next->place = present->place;
    next->origin = present->origin;
    status = next_save(exchange, err);
    if (status != SEQB_OK)
        return status;
    status = ha_ticket(exchange->spool->ha, next->place, next->id,
                       is_needed ? exchange->until_ms
                                 : exchange_part(exchange, 2, SOON_MS),
                       &exchange->ticket, err);
    if (status == SEQB_OK && is_next_ticket(next, &exchange->ticket))
        return next_move(exchange, err);
    (void)unlink(exchange->fresh);
    if (!is_needed) { /* nothing to lose: start a new file */
        exchange->present = NULL;
        return SEQB_AGAIN;
    }
    if (status != SEQB_OK && status != SEQB_LAYOUT)
        return status;
    refuse(exchange, SEQB_LOG_WARN,
           "its numbers are not to be had, or were before: it is a "
           "copy or an older state, its store changed, or an "
           "exchange was broken off");
    return SEQB_AGAIN;
}

static size_t places_count(const struct ha *ha)
{
    struct ha_place place;
    size_t count = 0;

    while (ha_place_at(ha, count, &place))
        count++;
    return count;
}

/* Gets a ticket from the first direct store that grants one, and waits for each
 * of them for `most_ms`. */
static enum seqb_status ticket_within(struct exchange *exchange,
                                      int64_t most_ms, struct seqb_error *err)
{
    struct spool_text *next = &exchange->next;
    enum seqb_status status =
        error_set(err, SEQB_UNAVAILABLE, "spool: there is no direct store");
    size_t left = places_count(exchange->spool->ha);

    for (size_t i = 0; ha_place_at(exchange->spool->ha, i, &next->place); i++) {
        status = ha_ticket(exchange->spool->ha, next->place, next->id,
                           exchange_part(exchange, left--, most_ms),
                           &exchange->ticket, err);
        if (status == SEQB_OK)
            break;
    }
    return status;
}

static enum seqb_status ticket_anywhere(struct exchange *exchange,
                                        struct seqb_error *err)
{
    const enum seqb_status status = ticket_within(exchange, SOON_MS, err);

    return status == SEQB_UNAVAILABLE ? ticket_within(exchange, INT64_MAX, err)
                                      : status;
}

/* For no file, or none that may be used: writes one with a new id. */
static enum seqb_status exchange_new_file(struct exchange *exchange,
                                          struct seqb_error *err)
{
    struct spool_text *next = &exchange->next;
    enum seqb_status status = id_make(next->id, err);

    if (status == SEQB_OK)
        status = ticket_anywhere(exchange, err);
    if (status != SEQB_OK)
        return status;
    next->ticket = exchange->ticket.value;
    next->origin = exchange->ticket.origin;
    status = next_save(exchange, err);
    return status == SEQB_OK ? next_move(exchange, err) : status;
}

static enum seqb_status exchange_once(struct exchange *exchange,
                                      struct seqb_error *err)
{
    struct merge *merge = &exchange->merge;
    enum seqb_status status = merge_decide(merge, exchange->present, err);

    if (status == SEQB_CORRUPT) {
        refuse(exchange, SEQB_LOG_WARN, err->text);
        return SEQB_AGAIN;
    }
    if (status != SEQB_OK || !merge_is_worth_it(merge))
        return status;
    status = merge_compose(merge, exchange->present, &exchange->next, err);
    if (status != SEQB_OK)
        return status;
    return exchange->present != NULL ? exchange_over(exchange, err)
                                     : exchange_new_file(exchange, err);
}

static enum seqb_status
exchange_run(struct exchange *exchange,
             const struct spool_exchange_options *options,
             struct seqb_error *err)
{
    enum seqb_status status =
        merge_init(&exchange->merge, exchange->spool->ha, options, err);

    if (status == SEQB_OK)
        status = fresh_name(exchange, err);
    if (status == SEQB_OK)
        status = present_load(exchange, err);
    if (status == SEQB_OK)
        status = exchange_once(exchange, err);
    /* The second time without the file, so there is no third time. */
    return status == SEQB_AGAIN ? exchange_once(exchange, err) : status;
}

static void exchange_fini(struct exchange *exchange)
{
    merge_fini(&exchange->merge);
    spool_text_fini(&exchange->next);
    spool_text_fini(&exchange->found);
    free(exchange->bytes);
}

/* Waits for other brokers, but not after the time until which a broker that
 * closes waits. */
static enum seqb_status spool_lock(const struct spool *spool, int64_t until_ms,
                                   int *lock, struct seqb_error *err)
{
    enum seqb_status status;

    do {
        status = file_lock(
            spool->lock, min_of(until_ms, clock_now_ms() + LOOK_MS), lock, err);
    } while (status == SEQB_UNAVAILABLE &&
             clock_now_ms() < min_of(until_ms, ha_limit_ms(spool->ha)));
    return status;
}

static enum seqb_status spool_try(struct spool *spool,
                                  const struct spool_exchange_options *options,
                                  int64_t until_ms, struct seqb_error *err)
{
    struct exchange exchange = {.spool = spool, .until_ms = until_ms};
    struct seqb_error why;
    enum seqb_status status;
    int lock;

    status = spool_lock(spool, until_ms, &lock, err);
    if (status != SEQB_OK)
        return status;
    status = exchange_run(&exchange, options, &why);
    file_unlock(lock);
    if (status == SEQB_OK) {
        merge_log(&exchange.merge);
        merge_take(&exchange.merge);
    }
    exchange_fini(&exchange);
    return status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
}

enum seqb_status spool_exchange(struct spool *spool,
                                const struct spool_exchange_options *options,
                                int64_t until_ms, struct seqb_error *err)
{
    enum seqb_status status = spool_try(spool, options, until_ms, err);

    while (status == SEQB_UNAVAILABLE && options->is_repeated &&
           clock_now_ms() < until_ms) {
        thread_rest_us(AGAIN_US);
        status = spool_try(spool, options, until_ms, err);
    }
    return status;
}
