/* SPDX-License-Identifier: Apache-2.0 */
/* A registered field in a template: it passes the field a view of the text, and
 * checks that the field's result is as declared. */
#include <string.h>

#include "number/fields/fields.h"
#include "platform/error.h"

/* What a view points to: strings that end with a 0. */
struct shown {
    struct seqb_field_view view;
    struct seqb_field_text fields[PIECES_MAX];
    struct seqb_param params[SEQB_PARAM_MAX];
    char values[SEQB_PARAM_MAX][SEQB_PARAM_VALUE_MAX + 1];
};

static bool make_custom(struct compile *compile, struct piece *piece)
{
    const struct seqb_field *own = custom_find(compile->field);

    piece->own = own;
    piece->phase = own->phase;
    piece->min = own->min_length;
    piece->max = own->max_length;
    letters_add(&piece->letters, own->alphabet, strlen(own->alphabet));
    return true;
}

static void show_params(const struct template *template,
                        const struct facts *facts, struct shown *shown)
{
    for (size_t i = 0; i < template->param_count; i++) {
        memcpy(shown->values[i], facts->params[i], facts->lengths[i]);
        shown->values[i][facts->lengths[i]] = '\0';
        shown->params[i].name = template->params[i]->param.name;
        shown->params[i].value = shown->values[i];
    }
    shown->view.params = shown->params;
    shown->view.param_count = template->param_count;
}

static const char *name_of(const struct piece *piece)
{
    if (piece->field == &field_param)
        return piece->param.name;
    return piece->field == &field_custom ? piece->own->name
                                         : piece->field->name;
}

/* Adds the fields of the phases below `phase`. */
static void show_fields(const struct spread *spread, int32_t phase,
                        struct shown *shown)
{
    const struct template *template = spread->template;
    size_t count = 0;

    for (size_t i = 0; i < template->piece_count; i++) {
        const struct piece *piece = &template->pieces[i];

        if (piece->field == &field_text || piece->phase >= phase)
            continue;
        shown->fields[count++] = (struct seqb_field_text){
            .name = name_of(piece),
            .text = spread->text + spread->starts[i],
            .length = spread->starts[i + 1] - spread->starts[i],
        };
    }
    shown->view.fields = shown->fields;
    shown->view.field_count = count;
}

static void show(const struct spread *spread, int32_t phase,
                 struct shown *shown)
{
    const struct facts *facts = spread->facts;

    *shown = (struct shown){.view = {.key = facts->key,
                                     .number = facts->number,
                                     .stamp = facts->stamp,
                                     .shard = facts->shard}};
    show_params(spread->template, facts, shown);
    show_fields(spread, phase, shown);
}

static enum seqb_status write_custom(const struct piece *piece,
                                     const struct spread *spread, char *out,
                                     size_t *length, struct seqb_error *err)
{
    const struct seqb_field *own = piece->own;
    struct shown shown;
    char text[SEQB_PARAM_VALUE_MAX + 1] = "";
    struct seqb_error why = {.text = ""};
    enum seqb_status status;

    show(spread, piece->phase, &shown);
    status = own->evaluate(own->context, &shown.view, text, own->max_length + 1,
                           &why);
    if (status != SEQB_OK)
        return error_set(err, status, "sequence %s: field %s: %s",
                         spread->facts->key, own->name, why.text);
    *length = strnlen(text, own->max_length + 1);
    text[own->max_length] = '\0';
    if (!param_fits(piece, text, *length))
        return error_set(err, SEQB_INVALID,
                         "sequence %s: field %s wrote '%s', which is not of "
                         "%zu ... %zu characters of its alphabet",
                         spread->facts->key, own->name, text, piece->min,
                         piece->max);
    memcpy(out, text, *length);
    return SEQB_OK;
}

static enum seqb_status read_custom(const struct spread *spread, size_t i,
                                    struct facts *facts, struct seqb_error *err)
{
    const struct piece *piece = &spread->template->pieces[i];
    const struct seqb_field *own = piece->own;
    const char *text = spread->text + spread->starts[i];
    const size_t length = spread->starts[i + 1] - spread->starts[i];
    struct seqb_error why = {.text = ""};
    enum seqb_status status;
    struct shown shown;

    (void)facts; /* the spread points to them already */
    if (!param_fits(piece, text, length))
        return read_fail(spread, i, err, "'%.*s' is no %s", (int)length, text,
                         own->name);
    if (own->parse == NULL)
        return SEQB_OK;
    show(spread, SEQB_PHASE_MAX + 1, &shown);
    status = own->parse(own->context, &shown.view, text, length, &why);
    return status == SEQB_OK
               ? SEQB_OK
               : read_fail(spread, i, err, "field %s: %s", own->name, why.text);
}

static const char *const no_options[] = {NULL};

const struct field field_custom = {"own",       no_options,   READ_LAST,  false,
                                   make_custom, write_custom, read_custom};
