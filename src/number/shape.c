/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the pieces of a text are. One of fixed width is as long as it is; one
 * that varies ends where a character comes that neither it nor what stands
 * close behind it can have, or at the text's end, less what stands between.
 * So each text is split in one way only, or the template is refused.
 */
#include <string.h>

#include "number/fields/fields.h"

/* Looks at the static text behind a piece: true if it ends there. */
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

/* Whether its length varies; with `is_loose` also if it is a number's, which
 * another width would make longer or shorter. */
static bool may_vary(const struct piece *piece, bool is_loose)
{
    return piece_varies(piece) || (is_loose && piece_is_number(piece));
}

/* Puts into `piece`, which is or was the i-th one, where it ends. The piece
 * that comes too early for it to end before it, or NULL. */
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

/* The length of a piece that varies and begins at `start`; false if it cannot
 * be any. */
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
