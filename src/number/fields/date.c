/* SPDX-License-Identifier: Apache-2.0 */
/* The field date: the number's stamp, or the time at which the number was
 * taken. */
#include <string.h>

#include "number/fields/fields.h"
#include "platform/error.h"

static bool make_date(struct compile *compile, struct piece *piece)
{
    struct template *template = compile->template;
    const struct option *option = compile_option(compile, "format");
    const struct word format = option == NULL ? compile->field : option->value;
    struct seqb_error why = {.text = ""};
    size_t at = 0;

    if (date_format_make(option == NULL ? NULL : format.text, format.length,
                         template->unit, &piece->date, &at, &why) != SEQB_OK)
        return compile_fail(compile, format.column + at, "%s", why.text);
    template->tells |= piece->date.tells;
    template->has_date = true;
    piece->min = piece->max = piece->date.length;
    letters_add(&piece->letters, LETTERS_DIGITS, strlen(LETTERS_DIGITS));
    for (size_t i = 0; i < piece->date.count; i++) {
        if (piece->date.steps[i].conversion == 0)
            letters_add(&piece->letters, &piece->date.steps[i].character, 1);
    }
    return true;
}

/* With a period, the date is the stamp's, so that texts of two stamps
 * differ. */
static struct date_fields date_of(const struct spread *spread)
{
    const struct template *template = spread->template;
    struct date_fields date = spread->facts->date;

    if (template->rules.period != NULL)
        date_fields_of(template->unit, spread->facts->stamp.digits, &date);
    return date;
}

static enum seqb_status write_date(const struct piece *piece,
                                   const struct spread *spread, char *out,
                                   size_t *length, struct seqb_error *err)
{
    const struct date_fields date = date_of(spread);

    *length = piece->max;
    if (date_write(&piece->date, &date, spread->template->unit, out))
        return SEQB_OK;
    return error_set(err, SEQB_EXHAUSTED,
                     "sequence %s: the year %d does not fit the two digits "
                     "that its template has for it: use %%Y, or %%G",
                     spread->facts->key, (int)date.year);
}

static enum seqb_status read_date(const struct spread *spread, size_t i,
                                  struct facts *facts, struct seqb_error *err)
{
    const struct piece *piece = &spread->template->pieces[i];
    const char *text = spread->text + spread->starts[i];

    if (date_read(&piece->date, text, &facts->seen))
        return SEQB_OK;
    return read_fail(spread, i, err, "'%.*s' is no such date", (int)piece->max,
                     text);
}

static const char *const date_options[] = {"format", NULL};

const struct field field_date = {"date",    date_options, READ_FIRST, true,
                                 make_date, write_date,   read_date};
