/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a text: it splits the text, reads each piece, and checks them together:
 * whether the date exists, and whether the number is possible. */
#include <string.h>

#include "number/fields/fields.h"
#include "platform/error.h"
#include "platform/text.h"
#include "queue/queue.h"

static enum seqb_status read_pieces(const struct spread *spread,
                                    enum read_turn turn, struct facts *facts,
                                    struct seqb_error *err)
{
    const struct template *template = spread->template;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < template->piece_count && status == SEQB_OK; i++) {
        const struct field *field = template->pieces[i].field;

        if (field->turn == turn)
            status = field->read(spread, i, facts, err);
    }
    return status;
}

static enum seqb_status no_date(struct seqb_error *err)
{
    return error_set(err, SEQB_FOREIGN, "there is no such date");
}

/* Without a period, the date only has to exist, as far as the text has it. */
static enum seqb_status check_moment(const struct template *template,
                                     const struct date_seen *seen,
                                     struct seqb_error *err)
{
    static const enum period_unit units[] = {PERIOD_DAY, PERIOD_WEEK};
    int64_t stamp;

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (date_missing(template->tells, units[i]) == NULL &&
            !date_stamp_of(seen, units[i], &stamp))
            return no_date(err);
    }
    return SEQB_OK;
}

static enum seqb_status find_stamp(const struct template *template,
                                   struct facts *facts, struct seqb_error *err)
{
    struct period_span span;
    int64_t stamp = 0;

    facts->stamp = (struct seqb_stamp){.ends_ms = INT64_MAX};
    if (template->rules.period == NULL)
        return check_moment(template, &facts->seen, err);
    if (!date_stamp_of(&facts->seen, template->unit, &stamp) ||
        !period_span_of(template->rules.period, stamp, &span))
        return no_date(err);
    facts->stamp = (struct seqb_stamp){span.stamp, span.begin_ms, span.end_ms};
    return SEQB_OK;
}

enum seqb_status template_read(const struct template *template,
                               const char *text, size_t length,
                               struct facts *facts, struct seqb_error *err)
{
    /* The text is not written to: the type is shared with writing. */
    struct spread spread; /* not initialized; shape_split sets the starts */
    char copy[SEQB_TEXT_MAX];
    enum seqb_status status;

    if (length > template->length)
        return error_set(err, SEQB_FOREIGN,
                         "%zu characters, but no text is longer than %zu",
                         length, template->length);
    memcpy(copy, text, length);
    spread.template = template;
    spread.facts = facts;
    spread.text = copy;
    if (!shape_split(template, length, &spread))
        return error_set(err, SEQB_FOREIGN,
                         "it has not the template's form: a part of it is too "
                         "long, too short or missing");
    status = read_pieces(&spread, READ_FIRST, facts, err);
    if (status == SEQB_OK)
        status = find_stamp(template, facts, err);
    if (status == SEQB_OK && template->rules.ids != NULL && facts->shard < 0)
        facts->shard = 0; /* the ids have no bits for a shard */
    if (status == SEQB_OK)
        status = read_pieces(&spread, READ_STAMPED, facts, err);
    if (status == SEQB_OK)
        status = read_pieces(&spread, READ_LAST, facts, err);
    /* Parameters point to the caller's text: the copy ends here. */
    for (size_t i = 0; i < template->param_count && status == SEQB_OK; i++)
        facts->params[i] = text + (facts->params[i] - copy);
    return status;
}

/* --- results --- */

static enum seqb_status find_value(const struct template *template,
                                   const struct facts *facts, int64_t *out,
                                   struct seqb_error *err)
{
    const struct bits_layout *ids = template->rules.ids;
    struct seqb_error why;

    *out = facts->number;
    if (ids == NULL)
        return SEQB_OK;
    if (bits_compose(ids,
                     &(struct bits_parts){facts->stamp.begins_ms, facts->shard,
                                          facts->number},
                     out, &why) == SEQB_OK)
        return SEQB_OK;
    return error_set(err, SEQB_FOREIGN, "no id has these parts: %s", why.text);
}

static void report_params(const struct template *template,
                          const struct facts *facts, struct seqb_parsed *out)
{
    out->param_count = template->param_count;
    for (size_t i = 0; i < template->param_count; i++) {
        struct seqb_parsed_param *to = &out->params[i];

        (void)text_copy(to->name, sizeof to->name,
                        template->params[i]->param.name);
        memcpy(to->value, facts->params[i], facts->lengths[i]);
        to->value[facts->lengths[i]] = '\0';
    }
}

static enum seqb_status parse(const struct template *template, const char *key,
                              const char *text, struct seqb_parsed *out,
                              struct seqb_error *err)
{
    struct facts facts; /* not initialized; reading sets the rest */
    int64_t value = 0;
    enum seqb_status status;

    facts.key = key;
    facts.number = 0;
    facts.seen = (struct date_seen){.tells = 0};
    facts.shard = -1;
    status = template_read(template, text, strnlen(text, SEQB_TEXT_MAX + 1),
                           &facts, err);
    if (status == SEQB_OK)
        status = find_value(template, &facts, &value, err);
    if (status != SEQB_OK)
        return status;
    out->value = value;
    out->number = facts.number;
    out->stamp = facts.stamp;
    out->shard = facts.shard;
    report_params(template, &facts, out);
    return SEQB_OK;
}

enum seqb_status number_parse_as(const struct template *template,
                                 const char *key, const char *text,
                                 struct seqb_parsed *out,
                                 struct seqb_error *err)
{
    struct seqb_error why;
    enum seqb_status status;

    if (template == NULL)
        return error_set(err, SEQB_INVALID,
                         "sequence %s has no template: its numbers are no "
                         "texts",
                         key);
    status = parse(template, key, text, out, &why);
    if (status == SEQB_OK)
        return SEQB_OK;
    return error_set(err, status, "'%.80s' is no number of sequence %s: %s",
                     text, key, why.text);
}

enum seqb_status number_parse(const struct seqb_sequence *sequence,
                              const char *text, struct seqb_parsed *out,
                              struct seqb_error *err)
{
    return number_parse_as(queue_template(sequence), queue_key(sequence), text,
                           out, err);
}
