/* SPDX-License-Identifier: Apache-2.0 */
/* A field of one's own: cc letter.c $(pkg-config --cflags --libs seqbroker) */
#include <inttypes.h>
#include <stdio.h>

#include <seqbroker/seqbroker.h>

/* The letter behind Spain's identity numbers: the remainder of 23. */
static char letter_of(const struct seqb_field_view *view)
{
    return "TRWAGMYFPDXBNJZSQVHLCKE"[view->number % 23];
}

static enum seqb_status letter_write(void *context,
                                     const struct seqb_field_view *view,
                                     char *out, size_t size,
                                     struct seqb_error *err)
{
    (void)context;
    (void)err;
    snprintf(out, size, "%c", letter_of(view));
    return SEQB_OK;
}

static enum seqb_status letter_parse(void *context,
                                     const struct seqb_field_view *view,
                                     const char *text, size_t length,
                                     struct seqb_error *err)
{
    (void)context;
    (void)length; /* 1: it was looked at */
    if (text[0] == letter_of(view))
        return SEQB_OK;
    err->status = SEQB_FOREIGN;
    snprintf(err->text, sizeof err->text, "the letter %c is wrong", text[0]);
    return SEQB_FOREIGN;
}

static const struct seqb_field letter = {
    .name = "letter",
    .phase = SEQB_PHASE_CHECK,
    .min_length = 1,
    .max_length = 1,
    .alphabet = "ABCDEFGHJKLMNPQRSTVWXYZ",
    .evaluate = letter_write,
    .parse = letter_parse,
};

/* letter TOPOLOGY TEXT: takes a number as a text, and reads another one. */
int main(int argc, char **argv)
{
    struct seqb_broker *broker;
    struct seqb_sequence *clients;
    struct seqb_parsed parsed;
    struct seqb_error err;
    char text[SEQB_TEXT_MAX + 1];
    const struct seqb_take_options one = {
        .size = sizeof one, .count = 1, .text_size = sizeof text};

    if (argc != 3)
        return 2;
    if (seqb_register_field(&letter, &err) != SEQB_OK ||
        seqb_open(argv[1], &broker, &err) != SEQB_OK ||
        seqb_get_sequence(broker, "client", &clients, &err) != SEQB_OK ||
        seqb_take_texts(clients, &one, text, NULL, &err) != SEQB_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%s\n", text);
    if (seqb_parse(clients, argv[2], &parsed, &err) == SEQB_OK)
        printf("%s is %" PRId64 "\n", argv[2], parsed.number);
    else
        printf("%s\n", err.text);
    seqb_close(broker);
    return 0;
}
