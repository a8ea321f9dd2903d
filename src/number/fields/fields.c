/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All fields: the built-in ones, and those that services have registered. The
 * latter are in one list of the process, which only grows, so that templates
 * may keep pointers into it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "number/fields/fields.h"
#include "platform/error.h"
#include "platform/text.h"

#define NAME_MAX_LENGTH 32
#define LENGTH_MAX      64

struct own {
    struct seqb_field field; /* its texts point to the buffers below */
    char name[NAME_MAX_LENGTH + 1];
    char alphabet[128];
};

/* Entries below the count are constant. The count's release pairs with the
 * acquire of its readers. */
static struct own *registered[SEQB_FIELDS_MAX];
static _Atomic(size_t) registered_count;
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;

static const struct field *const fields[] = {
    &field_seq, &field_shuffle, &field_date,  &field_param,
    &field_key, &field_shard,   &field_check,
};

const struct field *field_at(size_t i)
{
    return i < sizeof fields / sizeof fields[0] ? fields[i] : NULL;
}

const struct field *field_find(struct word name)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (word_equals(name, fields[i]->name))
            return fields[i];
    }
    return NULL;
}

/* --- registered fields --- */

const struct seqb_field *custom_find(struct word name)
{
    const size_t count =
        atomic_load_explicit(&registered_count, memory_order_acquire);

    for (size_t i = 0; i < count; i++) {
        if (word_equals(name, registered[i]->name))
            return &registered[i]->field;
    }
    return NULL;
}

static bool name_is_legal(const char *name)
{
    const size_t length = strlen(name);

    return length >= 1 && length <= NAME_MAX_LENGTH && name[0] >= 'a' &&
           name[0] <= 'z' &&
           strspn(name, LETTERS_LOWER LETTERS_DIGITS "_-") == length;
}

/* Printable ASCII without the blank. */
static bool alphabet_is_legal(const char *alphabet)
{
    size_t length = 0;

    for (; alphabet[length] != '\0'; length++) {
        if (alphabet[length] <= ' ' || alphabet[length] > '~')
            return false;
    }
    return length > 0 && length < sizeof((struct own *)0)->alphabet;
}

static enum seqb_status check_field(const struct seqb_field *field,
                                    struct seqb_error *err)
{
    if (field->name == NULL || !name_is_legal(field->name))
        return error_set(err, SEQB_INVALID,
                         "a field's name is a small letter and up to %d small "
                         "letters, digits, _ and -",
                         NAME_MAX_LENGTH - 1);
    if (field->phase < 0 || field->phase > SEQB_PHASE_MAX)
        return error_set(err, SEQB_INVALID,
                         "field %s: its phase is %d, not 0 ... %d", field->name,
                         (int)field->phase, SEQB_PHASE_MAX);
    if (field->max_length < 1 || field->max_length > LENGTH_MAX ||
        field->min_length > field->max_length)
        return error_set(err, SEQB_INVALID,
                         "field %s: its lengths are %zu ... %zu, expected no "
                         "more than %d, the greatest at least 1",
                         field->name, field->min_length, field->max_length,
                         LENGTH_MAX);
    if (field->alphabet != NULL && !alphabet_is_legal(field->alphabet))
        return error_set(err, SEQB_INVALID,
                         "field %s: its alphabet is not of 1 ... 127 "
                         "printable ASCII characters",
                         field->name);
    if (field->evaluate == NULL)
        return error_set(err, SEQB_INVALID, "field %s: evaluate is missing",
                         field->name);
    return SEQB_OK;
}

static struct own *custom_new(const struct seqb_field *field)
{
    struct own *own = calloc(1, sizeof *own);

    if (own == NULL)
        return NULL;
    own->field = *field;
    (void)text_copy(own->name, sizeof own->name, field->name);
    own->field.name = own->name;
    (void)text_copy(own->alphabet, sizeof own->alphabet,
                    field->alphabet != NULL
                        ? field->alphabet
                        : LETTERS_DIGITS LETTERS_UPPER LETTERS_LOWER);
    own->field.alphabet = own->alphabet;
    return own;
}

/* With the lock held. */
static enum seqb_status own_add(struct own *own, struct seqb_error *err)
{
    const size_t count =
        atomic_load_explicit(&registered_count, memory_order_relaxed);
    const struct word name = {own->name, strlen(own->name), 0};

    if (field_find(name) != NULL || custom_find(name) != NULL)
        return error_set(err, SEQB_INVALID, "there is a field %s already",
                         own->name);
    if (count == SEQB_FIELDS_MAX)
        return error_set(err, SEQB_INVALID,
                         "field %s: %d are registered already, which is all "
                         "that can be",
                         own->name, SEQB_FIELDS_MAX);
    registered[count] = own;
    atomic_store_explicit(&registered_count, count + 1, memory_order_release);
    return SEQB_OK;
}

enum seqb_status number_register(const struct seqb_field *field,
                                 struct seqb_error *err)
{
    enum seqb_status status = check_field(field, err);
    struct own *own;

    if (status != SEQB_OK)
        return status;
    own = custom_new(field);
    if (own == NULL)
        return error_set(err, SEQB_NO_MEMORY, "field %s: out of memory",
                         field->name);
    pthread_mutex_lock(&registering);
    status = own_add(own, err);
    pthread_mutex_unlock(&registering);
    if (status != SEQB_OK)
        free(own);
    return status;
}
