/* SPDX-License-Identifier: Apache-2.0 */
/* Takes numbers from the queue, and writes them as the sequence's template
 * says. */
#include "number/number.h"

#include "number/fields/fields.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "queue/queue.h"

/* Numbers taken in one step, on the stack. */
#define AT_ONCE SEQB_TEXTS_TRY_MAX

/* A call in progress. */
struct writer {
    struct seqb_sequence *sequence;
    const struct template *template;
    const struct number_order *order;
    struct facts facts;
    size_t have;      /* finished texts; the facts have the last one's stamp */
    int64_t until_ms; /* 0: the sequence's deadline */
};

/* --- dates --- */

static void set_moment(struct writer *writer, int64_t ms)
{
    struct period_span span;

    period_span_at(&writer->template->moment, ms, &span);
    date_fields_of(writer->template->unit, span.stamp, &writer->facts.date);
}

/* Sets the date of numbers that were taken together and have no stamp. */
static void set_date(struct writer *writer)
{
    const struct template *template = writer->template;

    if (template->rules.period == NULL && template->has_date)
        set_moment(writer, clock_wall_ms());
}

/* Sets the number, and what follows from it: an id's number is its counter, and
 * a snowflake's date is its time. */
static void set_value(struct writer *writer, int64_t value)
{
    const struct template *template = writer->template;
    struct seqb_decoded decoded;

    writer->facts.number = value;
    if (template->rules.ids != NULL) {
        struct bits_parts parts;

        bits_take_apart(template->rules.ids, value, &parts);
        writer->facts.number = parts.counter;
    } else if (template->rules.period == NULL && template->has_date) {
        queue_decode(writer->sequence, value, &decoded);
        if (decoded.time_ms >= 0)
            set_moment(writer, decoded.time_ms);
    }
}

/* --- taking --- */

/* Whether to wait for a number if none is in the ring. */
static bool waits(const struct writer *writer)
{
    return writer->order->waits &&
           !(writer->order->is_some && writer->have > 0);
}

/* Without waiting: all that were ordered, or none. */
static bool is_whole(const struct number_order *order)
{
    return !order->waits && !order->is_some;
}

static enum seqb_status try_take(const struct writer *writer,
                                 const struct queue_take *wanted,
                                 struct seqb_error *err)
{
    struct queue_take all = *wanted;
    enum seqb_status status;

    if (!is_whole(writer->order))
        return queue_try_take(writer->sequence, wanted, err);
    all.taken = NULL;
    status = queue_try_take(writer->sequence, &all, err);
    *wanted->taken = status == SEQB_OK ? wanted->count : 0;
    return status;
}

/* Takes up to `count` numbers of one stamp that are in the ring. If there is
 * none and the order waits, it waits for one number. It does not wait for all
 * of them, since one stamp may never have so many. `*taken` is valid whatever
 * is returned. */
static enum seqb_status take(struct writer *writer, size_t count, int64_t *out,
                             size_t *taken, struct seqb_stamp *stamp,
                             struct seqb_error *err)
{
    struct queue_take wanted = {
        .out = out,
        .count = count,
        .taken = taken,
        .shard = writer->facts.shard,
        .is_sharded =
            writer->template->rules.ids != NULL || writer->order->is_sharded,
        .stamp = stamp,
        .until_ms = writer->until_ms,
    };
    enum seqb_status status = SEQB_AGAIN;

    *taken = 0;
    if (!waits(writer) || count > 1)
        status = try_take(writer, &wanted, err);
    if (!waits(writer))
        return status;
    if (*taken > 0)
        return SEQB_OK;
    wanted.count = 1;
    wanted.taken = NULL;
    status = queue_take(writer->sequence, &wanted, err);
    *taken = status == SEQB_OK;
    return status;
}

/* If all texts need the same stamp, those of an earlier stamp are dropped. */
static void keep_stamp(struct writer *writer, const struct seqb_stamp *stamp)
{
    if (!writer->order->any_stamp &&
        writer->facts.stamp.begins_ms != stamp->begins_ms)
        writer->have = 0;
    writer->facts.stamp = *stamp;
}

static enum seqb_status write_all(struct writer *writer, const int64_t *values,
                                  size_t count, struct seqb_error *err)
{
    const struct number_order *order = writer->order;
    struct draft draft;
    enum seqb_status status;

    set_date(writer);
    status = template_begin(writer->template, &writer->facts, &draft, err);
    for (size_t i = 0; i < count && status == SEQB_OK; i++) {
        set_value(writer, values[i]);
        status = template_write(&draft, order->out + writer->have * order->size,
                                err);
        if (status == SEQB_OK)
            writer->have++;
    }
    return status;
}

/* The most frequent case: one text, and the order waits. */
static enum seqb_status write_one(struct writer *writer, struct seqb_error *err)
{
    int64_t value;
    const struct queue_take wanted = {
        .out = &value,
        .count = 1,
        .shard = writer->facts.shard,
        .is_sharded =
            writer->template->rules.ids != NULL || writer->order->is_sharded,
        .stamp = &writer->facts.stamp,
        .until_ms = writer->until_ms,
    };
    const enum seqb_status status = queue_take(writer->sequence, &wanted, err);

    return status == SEQB_OK ? write_all(writer, &value, 1, err) : status;
}

static enum seqb_status take_and_write(struct writer *writer,
                                       struct seqb_error *err)
{
    const struct number_order *order = writer->order;
    enum seqb_status status = SEQB_OK;

    if (order->waits && order->count == 1)
        return write_one(writer, err);
    if (writer->until_ms == 0 && order->waits)
        writer->until_ms = clock_now_ms() + queue_deadline_ms(writer->sequence);
    while (writer->have < order->count && status == SEQB_OK) {
        const size_t left = order->count - writer->have;
        int64_t values[AT_ONCE];
        size_t taken = 0;
        struct seqb_stamp stamp;
        enum seqb_status written = SEQB_OK;

        status = take(writer, left < AT_ONCE ? left : AT_ONCE, values, &taken,
                      &stamp, err);
        if (taken > 0) {
            keep_stamp(writer, &stamp);
            written = write_all(writer, values, taken, err);
        }
        if (written != SEQB_OK)
            status = written;
    }
    return status;
}

static enum seqb_status check_size(const struct template *template,
                                   const char *key, size_t size,
                                   struct seqb_error *err)
{
    const size_t needed = template->length + 1;

    return size >= needed ? SEQB_OK
                          : error_set(err, SEQB_INVALID,
                                      "sequence %s: a text needs %zu bytes, "
                                      "its final 0 included, and has %zu",
                                      key, needed, size);
}

/* Checks the order before any number is used up. */
static enum seqb_status check_order(const struct writer *writer,
                                    struct seqb_error *err)
{
    const struct number_order *order = writer->order;
    const enum seqb_status status =
        check_size(writer->template, writer->facts.key, order->size, err);

    if (status != SEQB_OK)
        return status;
    if (order->count >= 1 && order->count <= SEQB_TAKE_MAX)
        return order->is_some || order->any_stamp
                   ? SEQB_OK
                   : queue_check_stamp(writer->sequence, order->count, err);
    return error_set(err, SEQB_INVALID, "sequence %s: %zu texts, not 1 ... %d",
                     writer->facts.key, order->count, SEQB_TAKE_MAX);
}

static void writer_init(struct writer *writer, struct seqb_sequence *sequence,
                        const struct number_order *order)
{
    writer->sequence = sequence;
    writer->template = queue_template(sequence);
    writer->order = order;
    writer->facts.key = queue_key(sequence);
    writer->facts.shard = order->is_sharded ? order->shard : -1;
    writer->have = 0;
    writer->facts.stamp = (struct seqb_stamp){.digits = 0};
    writer->until_ms = order->until_ms;
}

static enum seqb_status refuse_texts(const char *key, struct seqb_error *err)
{
    return error_set(err, SEQB_INVALID,
                     "sequence %s has no template: its numbers are no texts",
                     key);
}

enum seqb_status number_check(const struct template *template, const char *key,
                              const struct number_order *order,
                              struct seqb_error *err)
{
    struct facts facts; /* not initialized; every field that is used gets set */
    enum seqb_status status;

    if (template == NULL)
        return refuse_texts(key, err);
    facts.key = key;
    facts.shard = order->is_sharded ? order->shard : -1;
    status = check_size(template, key, order->size, err);
    return status == SEQB_OK ? params_resolve(template, order->params,
                                              order->param_count, &facts, err)
                             : status;
}

enum seqb_status number_take(struct seqb_sequence *sequence,
                             const struct number_order *order,
                             struct seqb_error *err)
{
    struct writer writer; /* not initialized; every field that is used gets
                             set */
    enum seqb_status status;

    if (order->taken != NULL)
        *order->taken = 0;
    writer_init(&writer, sequence, order);
    if (writer.template == NULL)
        return refuse_texts(writer.facts.key, err);
    status = check_order(&writer, err);
    if (status == SEQB_OK)
        status = params_resolve(writer.template, order->params,
                                order->param_count, &writer.facts, err);
    if (status == SEQB_OK)
        status = take_and_write(&writer, err);
    if (order->stamp != NULL)
        *order->stamp = writer.facts.stamp;
    if (order->taken != NULL)
        *order->taken = writer.have;
    return status;
}
