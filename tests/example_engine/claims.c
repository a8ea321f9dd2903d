/* SPDX-License-Identifier: Apache-2.0 */
/* Claims: a slot each, stored once and replaced by a swap alone. */
#include "claims.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "slots.h"

static enum seqb_status claim_find(const struct file *file, const char *name,
                                   struct place *out, struct seqb_error *err)
{
    char marked[NAME_SIZE];

    if (snprintf(marked, sizeof marked, "claim:%s", name) >= (int)sizeof marked)
        return slots_fail(err, SEQB_INVALID, "file %s: %s is too long",
                          file->name, name);
    return slot_find(file, marked, out, err);
}

/* A slot has two texts: the new one is durable before it is the one that
 * stands, which is a matter of one sector. */
static enum seqb_status claim_put(const struct file *file, struct place *place,
                                  const char *text, struct seqb_error *err)
{
    const int64_t other = place->is_there && place->slot.value == 0;
    char *to = place->slot.text[other];
    enum seqb_status status;

    (void)snprintf(to, SEQB_CLAIM_SIZE, "%s", text);
    place->slot.value = other;
    if (!place->is_there)
        return slot_write(file, place, err);
    if (pwrite(file->fd, to, SEQB_CLAIM_SIZE,
               place->at + (to - (char *)&place->slot)) != SEQB_CLAIM_SIZE)
        return slots_fail(err, SEQB_UNCERTAIN, "file %s: cannot write %s: %s",
                          file->name, file->path, strerror(errno));
    status = slots_sync(file, err);
    return status == SEQB_OK ? slot_write(file, place, err) : status;
}

static const char *claim_text(const struct place *place)
{
    return place->slot.text[place->slot.value != 0];
}

/* What stands, to the caller. */
static enum seqb_status claim_answer(const struct file *file,
                                     const struct place *place, char *standing,
                                     size_t size, struct seqb_error *err)
{
    if (strlen(claim_text(place)) >= size)
        return slots_fail(err, SEQB_PROTOCOL, "file %s: %s is too long",
                          file->name, place->slot.name);
    (void)snprintf(standing, size, "%s", claim_text(place));
    return SEQB_OK;
}

enum seqb_status claims_claim(struct seqb_backend *backend, const char *name,
                              const char *text, char *standing, size_t size,
                              struct seqb_error *err)
{
    const struct file *file = (const struct file *)backend;
    struct place place;
    enum seqb_status status = slots_lock(file, err);

    if (status != SEQB_OK)
        return status;
    status = claim_find(file, name, &place, err);
    if (status == SEQB_OK && !place.is_there && text != NULL)
        status = claim_put(file, &place, text, err);
    status = slots_unlock(file, status, err);
    return status == SEQB_OK ? claim_answer(file, &place, standing, size, err)
                             : status;
}

enum seqb_status claims_swap(struct seqb_backend *backend,
                             const struct seqb_swap *swap, char *standing,
                             size_t size, struct seqb_error *err)
{
    const struct file *file = (const struct file *)backend;
    struct place place;
    enum seqb_status status = slots_lock(file, err);

    if (status != SEQB_OK)
        return status;
    status = claim_find(file, swap->name, &place, err);
    if (status == SEQB_OK && strcmp(claim_text(&place), swap->expected) == 0)
        status = claim_put(file, &place, swap->text, err);
    status = slots_unlock(file, status, err);
    return status == SEQB_OK ? claim_answer(file, &place, standing, size, err)
                             : status;
}
