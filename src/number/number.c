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

/* What texts are made with. */
struct writer {
    struct seqb_sequence *sequence;
    const struct template *template;
    struct facts facts;
    struct draft draft;
};

/* A call in progress, for several texts or for one without waiting. */
struct call {
    struct writer writer;
    const struct seqb_take_options *options;
    char *out;
    size_t have;      /* finished texts; the facts have the last one's stamp */
    int64_t until_ms; /* 0: the sequence's deadline */
};

static bool has(const struct seqb_take_options *options, uint32_t flags)
{
    return (options->flags & flags) == flags;
}

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

/* An id's number is its counter. This and the next are functions of their own,
 * so that a plain number needs no room for parts. */
static __attribute__((noinline)) int64_t
number_of(const struct bits_layout *ids, int64_t value)
{
    struct bits_parts parts;

    bits_take_apart(ids, value, &parts);
    return parts.counter;
}

/* A snowflake's date is its time. */
static __attribute__((noinline)) void set_own_moment(struct writer *writer,
                                                     int64_t value)
{
    struct seqb_decoded decoded;

    queue_decode(writer->sequence, value, &decoded);
    if (decoded.time_ms >= 0)
        set_moment(writer, decoded.time_ms);
}

/* Sets the number, and what follows from it. */
static void set_value(struct writer *writer, int64_t value)
{
    const struct template *template = writer->template;

    writer->facts.number = value;
    if (template->rules.ids != NULL)
        writer->facts.number = number_of(template->rules.ids, value);
    else if (template->rules.period == NULL && template->has_date)
        set_own_moment(writer, value);
}

/* Begins texts of the stamp in the facts. */
static enum seqb_status writer_begin(struct writer *writer,
                                     struct seqb_error *err)
{
    set_date(writer);
    return template_begin(writer->template, &writer->facts, &writer->draft,
                          err);
}

static enum seqb_status writer_write(struct writer *writer, int64_t value,
                                     char *out, struct seqb_error *err)
{
    enum seqb_status status;

    set_value(writer, value);
    status = template_write(&writer->draft, out, err);
    if (status == SEQB_EXHAUSTED)
        queue_refused_text(writer->sequence, writer->facts.number,
                           &writer->facts.stamp);
    return status;
}

/* --- taking --- */

/* Whether to wait for a number if none is in the ring. */
static bool waits(const struct call *call)
{
    return !has(call->options, SEQB_TRY) &&
           !(has(call->options, SEQB_SOME) && call->have > 0);
}

/* Without waiting: all that are wanted, or none. */
static bool is_whole(const struct seqb_take_options *options)
{
    return has(options, SEQB_TRY) && !has(options, SEQB_SOME);
}

static enum seqb_status try_take(const struct call *call,
                                 const struct queue_take *wanted,
                                 struct seqb_error *err)
{
    struct queue_take all = *wanted;
    enum seqb_status status;

    if (!is_whole(call->options))
        return queue_try_take(call->writer.sequence, wanted, err);
    all.taken = NULL;
    status = queue_try_take(call->writer.sequence, &all, err);
    *wanted->taken = status == SEQB_OK ? wanted->count : 0;
    return status;
}

static bool is_sharded(const struct writer *writer,
                       const struct seqb_take_options *options)
{
    return writer->template->rules.ids != NULL || has(options, SEQB_SHARD);
}

/* Takes up to `count` numbers of one stamp that are in the ring. If there is
 * none and the call waits, it waits for one number. It does not wait for all of
 * them, since one stamp may never have so many. `*taken` is valid whatever is
 * returned. */
static enum seqb_status take(struct call *call, size_t count, int64_t *out,
                             size_t *taken, struct seqb_stamp *stamp,
                             struct seqb_error *err)
{
    struct queue_take wanted = {
        .out = out,
        .count = count,
        .taken = taken,
        .shard = call->writer.facts.shard,
        .is_sharded = is_sharded(&call->writer, call->options),
        .stamp = stamp,
        .until_ms = call->until_ms,
    };
    enum seqb_status status = SEQB_AGAIN;

    *taken = 0;
    if (!waits(call) || count > 1)
        status = try_take(call, &wanted, err);
    if (!waits(call))
        return status;
    if (*taken > 0)
        return SEQB_OK;
    wanted.count = 1;
    wanted.taken = NULL;
    status = queue_take(call->writer.sequence, &wanted, err);
    *taken = status == SEQB_OK;
    return status;
}

/* If all texts need the same stamp, those of an earlier stamp are dropped. If
 * making them takes longer than a stamp lasts, that would go on for ever though
 * no take waits: SEQB_TIMEOUT after the deadline. */
static enum seqb_status keep_stamp(struct call *call,
                                   const struct seqb_stamp *stamp,
                                   struct seqb_error *err)
{
    struct facts *facts = &call->writer.facts;
    const size_t had = call->have;

    if (!has(call->options, SEQB_ANY_STAMP) &&
        facts->stamp.begins_ms != stamp->begins_ms)
        call->have = 0;
    facts->stamp = *stamp;
    if (call->have == had || clock_now_ms() < call->until_ms)
        return SEQB_OK;
    return error_set(err, SEQB_TIMEOUT,
                     "sequence %s: no %zu texts of one stamp by the deadline "
                     "(its own is %d ms): a stamp was over after %zu of them; "
                     "ask for fewer, or for texts of any stamp",
                     queue_key(call->writer.sequence), call->options->count,
                     (int)queue_deadline_ms(call->writer.sequence), had);
}

static enum seqb_status write_all(struct call *call, const int64_t *values,
                                  size_t count, struct seqb_error *err)
{
    const size_t size = call->options->text_size;
    enum seqb_status status = writer_begin(&call->writer, err);

    for (size_t i = 0; i < count && status == SEQB_OK; i++) {
        status = writer_write(&call->writer, values[i],
                              call->out + call->have * size, err);
        if (status == SEQB_OK)
            call->have++;
    }
    return status;
}

static enum seqb_status take_and_write(struct call *call,
                                       struct seqb_error *err)
{
    const size_t count = call->options->count;
    enum seqb_status status = SEQB_OK;

    call->until_ms =
        clock_now_ms() + (call->options->deadline_ms != 0
                              ? call->options->deadline_ms
                              : queue_deadline_ms(call->writer.sequence));
    while (call->have < count && status == SEQB_OK) {
        const size_t left = count - call->have;
        int64_t values[AT_ONCE];
        size_t taken = 0;
        struct seqb_stamp stamp;
        enum seqb_status written = SEQB_OK;

        status = take(call, left < AT_ONCE ? left : AT_ONCE, values, &taken,
                      &stamp, err);
        if (taken > 0)
            written = keep_stamp(call, &stamp, err);
        if (taken > 0 && written == SEQB_OK)
            written = write_all(call, values, taken, err);
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

static enum seqb_status refuse_texts(const char *key, struct seqb_error *err)
{
    return error_set(err, SEQB_INVALID,
                     "sequence %s has no template: its numbers are no texts",
                     key);
}

/* Sets the facts that all texts of these options share, and no others. */
static enum seqb_status facts_begin(const struct template *template,
                                    const char *key,
                                    const struct seqb_take_options *options,
                                    struct facts *facts, struct seqb_error *err)
{
    enum seqb_status status;

    if (template == NULL)
        return refuse_texts(key, err);
    facts->key = key;
    facts->shard = -1; /* none is given */
    if (has(options, SEQB_SHARD)) {
        facts->shard = options->shard;
        if (facts->shard < 0)
            return error_set(err, SEQB_INVALID,
                             "sequence %s: shard %lld is below 0", key,
                             (long long)facts->shard);
    }
    status = check_size(template, key, options->text_size, err);
    if (status != SEQB_OK || (template->is_bare && options->param_count == 0))
        return status;
    return params_resolve(template, options->params, options->param_count,
                          facts, err);
}

/* Checks the options before any number is used up. `writer` need not be
 * initialized. */
static enum seqb_status writer_init(struct writer *writer,
                                    struct seqb_sequence *sequence,
                                    const struct seqb_take_options *options,
                                    struct seqb_error *err)
{
    writer->sequence = sequence;
    writer->template = queue_template(sequence);
    return facts_begin(writer->template, queue_key(sequence), options,
                       &writer->facts, err);
}

static enum seqb_status check_count(struct seqb_sequence *sequence,
                                    const struct seqb_take_options *options,
                                    struct seqb_error *err)
{
    if (options->count >= 1 && options->count <= SEQB_TAKE_MAX)
        return has(options, SEQB_SOME) || has(options, SEQB_ANY_STAMP)
                   ? SEQB_OK
                   : queue_check_stamp(sequence, options->count, err);
    return error_set(err, SEQB_INVALID, "sequence %s: %zu texts, not 1 ... %d",
                     queue_key(sequence), options->count, SEQB_TAKE_MAX);
}

enum seqb_status number_check(const struct template *template, const char *key,
                              const struct seqb_take_options *options,
                              struct seqb_error *err)
{
    struct facts facts;

    return facts_begin(template, key, options, &facts, err);
}

enum seqb_status number_take(struct seqb_sequence *sequence,
                             const struct seqb_take_options *options, char *out,
                             struct seqb_taken *taken, struct seqb_error *err)
{
    struct call call; /* not initialized; every field that is used gets set */
    enum seqb_status status = writer_init(&call.writer, sequence, options, err);

    if (status == SEQB_OK)
        status = check_count(sequence, options, err);
    if (status != SEQB_OK)
        return status;
    call.options = options;
    call.out = out;
    call.have = 0;
    call.until_ms = 0;
    call.writer.facts.stamp = (struct seqb_stamp){.digits = 0};
    status = take_and_write(&call, err);
    taken->stamp = call.writer.facts.stamp;
    taken->count = call.have;
    return status;
}

/* Takes the number, after all else of the text is known. */
static enum seqb_status take_one(struct writer *writer,
                                 const struct seqb_take_options *options,
                                 char *out, struct seqb_error *err)
{
    int64_t value;
    const struct queue_take wanted = {
        .out = &value,
        .count = 1,
        .shard = writer->facts.shard,
        .is_sharded = is_sharded(writer, options),
        .stamp = &writer->facts.stamp,
    };
    enum seqb_status status = queue_take(writer->sequence, &wanted, err);

    if (status == SEQB_OK)
        status = writer_begin(writer, err);
    return status == SEQB_OK ? writer_write(writer, value, out, err) : status;
}

enum seqb_status number_take_one(struct seqb_sequence *sequence,
                                 const struct seqb_take_options *options,
                                 char *out, struct seqb_error *err)
{
    struct writer writer; /* as above */
    const enum seqb_status status =
        writer_init(&writer, sequence, options, err);

    return status == SEQB_OK ? take_one(&writer, options, out, err) : status;
}
