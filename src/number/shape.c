/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the pieces of a text. A piece of varying length ends before a certain
 * character, or before the end of the text; pieces of fixed width may stand in
 * between. That character is one which neither the piece nor these pieces can
 * contain. So each text is split in only one way, or the template is refused.
 */
#include <string.h>

#include "number/fields/fields.h"

/* Searches the static text behind a piece for a character that ends it. True if
 * there is one. */
static bool ends_in_text(const struct template *template,
                         const struct text_piece *text,
                         const struct letters *letters, struct piece *piece)
{
    for (size_t i = 0; i < text->length; i++) {
        const char c = template->text[text->at + i];

        if (!letters_have(letters, c)) {
            piece->until = (unsigned char)c;
            return true;
        }
        piece->behind++;
    }
    return false;
}

/* Whether the piece's length varies. With `is_loose` a number counts as
 * varying, since another width would make it longer or shorter. */
static bool may_vary(const struct piece *piece, bool is_loose)
{
    return piece_varies(piece) || (is_loose && piece_is_number(piece));
}

/* Sets in `piece`, which is or was piece i, where it ends. Returns a piece of
 * varying length that comes before that end, or NULL. */
static const struct piece *find_end(const struct template *template, size_t i,
                                    bool is_loose, struct piece *piece)
{
    const struct piece *end = template->pieces + template->piece_count;
    struct letters letters = piece->letters;

    piece->behind = 0;
    piece->until = SHAPE_END;
    for (const struct piece *next = template->pieces + i + 1; next < end;
         next++) {
        if (next->field == &field_text) {
            if (ends_in_text(template, &next->text, &letters, piece))
                return NULL;
            continue;
        }
        if (may_vary(next, is_loose))
            return next;
        piece->behind += next->max;
        letters_join(&letters, &next->letters);
    }
    return NULL;
}

const struct piece *shape_find(struct template *template)
{
    for (size_t i = 0; i < template->piece_count; i++) {
        struct piece *piece = &template->pieces[i];

        if (piece_varies(piece) && find_end(template, i, false, piece) != NULL)
            return piece;
    }
    return NULL;
}

bool shape_is_loose(const struct template *template)
{
    for (size_t i = 0; i < template->piece_count; i++) {
        struct piece piece = template->pieces[i];

        if (may_vary(&piece, true) &&
            find_end(template, i, true, &piece) != NULL)
            return false;
    }
    return true;
}

/* The length of a piece that varies and begins at `start`. False if no length
 * is possible. */
static bool varying_length(const struct piece *piece, const char *text,
                           size_t start, size_t length, size_t *out)
{
    size_t end = length;

    if (piece->until != SHAPE_END) {
        const char *at = memchr(text + start, piece->until, length - start);

        if (at == NULL)
            return false;
        end = (size_t)(at - text);
    }
    if (end < start + piece->behind)
        return false;
    *out = end - start - piece->behind;
    return *out >= piece->min && *out <= piece->max;
}

bool shape_split(const struct template *template, size_t length,
                 struct spread *spread)
{
    size_t at = 0;

    for (size_t i = 0; i < template->piece_count; i++) {
        const struct piece *piece = &template->pieces[i];
        size_t own = piece->max;

        spread->starts[i] = at;
        if (piece_varies(piece) &&
            !varying_length(piece, spread->text, at, length, &own))
            return false;
        at += own;
        if (at > length)
            return false;
    }
    spread->starts[template->piece_count] = at;
    return at == length;
}
