/* SPDX-License-Identifier: Apache-2.0 */
/* Writes texts: first the values from left to right; then, phase by phase, the
 * pieces computed from them, each inserted at its place. */
#include <string.h>

#include "number/fields/fields.h"

#define SHORT_PREFIX 16

/* It is mostly one character, for which a call of memcpy would take longer. */
static size_t copy_text(const struct template *template,
                        const struct text_piece *text, char *out)
{
    for (size_t i = 0; i < text->length; i++)
        out[i] = template->text[text->at + i];
    return text->length;
}

/* Writes the values of some pieces. Pieces of later phases stay empty. */
static enum seqb_status write_values(struct spread *spread, size_t from,
                                     size_t to, struct seqb_error *err)
{
    const struct template *template = spread->template;
    size_t at = spread->starts[from];

    for (size_t i = from; i < to; i++) {
        const struct piece *piece = &template->pieces[i];
        size_t length = 0;
        enum seqb_status status = SEQB_OK;

        if (piece->field == &field_text)
            length = copy_text(template, &piece->text, spread->text + at);
        else if (piece->phase == 0)
            status = piece->field->write(piece, spread, spread->text + at,
                                         &length, err);
        if (status != SEQB_OK)
            return status;
        at += length;
        spread->starts[i + 1] = at;
    }
    return SEQB_OK;
}

static enum seqb_status write_late(const struct draft *draft, size_t i,
                                   char *out, size_t *length,
                                   struct seqb_error *err)
{
    const struct template *template = draft->spread.template;
    const struct piece *piece = &template->pieces[i];

    if (i != template->running)
        return piece->field->write(piece, &draft->spread, out, length, err);
    check_run(draft, out);
    *length = piece->max;
    return SEQB_OK;
}

/* Inserts a piece of a later phase, and moves what stands behind it. */
static enum seqb_status put_in(struct draft *draft, size_t i,
                               struct seqb_error *err)
{
    struct spread *spread = &draft->spread;
    const size_t last = spread->template->piece_count;
    const size_t behind = spread->starts[last] - spread->starts[i];
    char *place = spread->text + spread->starts[i];
    char text[SEQB_PARAM_VALUE_MAX];
    size_t length = 0;
    const enum seqb_status status =
        write_late(draft, i, behind == 0 ? place : text, &length, err);

    if (status != SEQB_OK)
        return status;
    if (behind > 0) {
        memmove(place + length, place, behind);
        memcpy(place, text, length);
    }
    for (size_t j = i + 1; j <= last; j++)
        spread->starts[j] += length;
    return SEQB_OK;
}

/* --- the begin --- */

static void running_begin(struct draft *draft)
{
    const struct template *template = draft->spread.template;

    draft->check = (struct check){.a = 0};
    if (template->running < template->piece_count)
        check_begin(&draft->check,
                    template->pieces[template->running].check.algorithm);
}

static void running_feed(struct draft *draft, size_t from, size_t to)
{
    const struct template *template = draft->spread.template;
    const size_t *starts = draft->spread.starts;

    if (template->running < template->piece_count)
        check_feed_covered(
            &draft->check, &template->pieces[template->running].check,
            draft->prefix + starts[from], starts[to] - starts[from]);
}

static enum seqb_status write_begin(struct draft *draft, size_t from, size_t to,
                                    struct seqb_error *err)
{
    const enum seqb_status status = write_values(&draft->spread, from, to, err);

    if (status == SEQB_OK)
        running_feed(draft, from, to);
    return status;
}

static enum seqb_status begin_stamped(struct draft *draft, int64_t stamp,
                                      struct seqb_error *err)
{
    const struct template *template = draft->spread.template;
    struct stamped *stamped = template->stamped;
    enum seqb_status status;

    if (stamped != NULL && stamped_read(stamped, stamp, &draft->begin)) {
        memcpy(draft->spread.starts, template->stamped_starts,
               sizeof template->stamped_starts);
        return SEQB_OK;
    }
    running_begin(draft);
    status = write_begin(draft, 0, template->stamped_count, err);
    if (status == SEQB_OK && stamped != NULL)
        stamped_write(stamped, stamp, &draft->begin);
    return status;
}

enum seqb_status template_begin(const struct template *template,
                                const struct facts *facts, struct draft *out,
                                struct seqb_error *err)
{
    struct spread *spread = &out->spread;
    enum seqb_status status;

    spread->template = template;
    spread->facts = facts;
    spread->text = out->prefix;
    spread->starts[0] = 0;
    status = begin_stamped(out, facts->stamp.digits, err);
    if (status != SEQB_OK || template->stamped_count == template->prefix_count)
        return status;
    return write_begin(out, template->stamped_count, template->prefix_count,
                       err);
}

/* --- each text --- */

/* Most prefixes are short: they are copied in one step of a fixed size. The
 * rest of the step is overwritten; every text has room for it. */
static void put_prefix(const struct draft *draft, char *out)
{
    const struct template *template = draft->spread.template;
    const size_t length = draft->spread.starts[template->prefix_count];

    if (length <= SHORT_PREFIX && template->length >= SHORT_PREFIX)
        memcpy(out, draft->prefix, SHORT_PREFIX);
    else
        memcpy(out, draft->prefix, length);
}

/* The values, and whatever is computed from them. A function of its own, so
 * that write_checked needs no room for a piece. */
static __attribute__((noinline)) enum seqb_status
write_pieces(struct draft *draft, struct seqb_error *err)
{
    struct spread *spread = &draft->spread;
    const struct template *template = spread->template;
    enum seqb_status status = write_values(spread, template->prefix_count,
                                           template->piece_count, err);

    for (size_t i = 0; i < template->late_count && status == SEQB_OK; i++)
        status = put_in(draft, template->late[i], err);
    return status;
}

/* Mostly only the running check is computed, and it ends the text. */
static enum seqb_status write_checked(const struct template *template,
                                      struct draft *draft,
                                      struct seqb_error *err)
{
    struct spread *spread = &draft->spread;
    const size_t i = template->running;
    const size_t from = spread->starts[template->prefix_count];
    const enum seqb_status status =
        write_values(spread, template->prefix_count, i, err);
    struct check check = draft->check;

    if (status != SEQB_OK)
        return status;
    check_feed_covered(&check, &template->pieces[i].check, spread->text + from,
                       spread->starts[i] - from);
    check_end(&check, spread->text + spread->starts[i]);
    spread->starts[i + 1] = spread->starts[i] + template->pieces[i].max;
    return SEQB_OK;
}

enum seqb_status template_write(struct draft *draft, char *out,
                                struct seqb_error *err)
{
    struct spread *spread = &draft->spread;
    const struct template *template = spread->template;
    enum seqb_status status;

    spread->text = out;
    put_prefix(draft, out);
    status = template->ends_in_check ? write_checked(template, draft, err)
                                     : write_pieces(draft, err);
    if (status == SEQB_OK)
        out[spread->starts[template->piece_count]] = '\0';
    return status;
}
