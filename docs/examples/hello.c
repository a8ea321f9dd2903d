/* SPDX-License-Identifier: Apache-2.0 */
/* Takes one number: cc hello.c $(pkg-config --cflags --libs seqbroker) */
#include <inttypes.h>
#include <stdio.h>

#include <seqbroker/seqbroker.h>

int main(void)
{
    struct seqb_broker *broker;
    struct seqb_sequence *orders;
    struct seqb_error err;
    int64_t number;

    if (seqb_open(NULL, &broker, &err) != SEQB_OK ||
        seqb_get_sequence(broker, "order", &orders, &err) != SEQB_OK ||
        seqb_next(orders, &number, &err) != SEQB_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%" PRId64 "\n", number);
    seqb_close(broker);
    return 0;
}
