/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is clever here: it is what the C library is for. */
#include "bench/by_hand.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const unsigned char damm[10][10] = {
    {0, 3, 1, 7, 5, 9, 8, 6, 4, 2}, {7, 0, 9, 2, 1, 5, 4, 8, 6, 3},
    {4, 2, 0, 6, 8, 7, 1, 3, 5, 9}, {1, 7, 5, 0, 9, 8, 3, 4, 2, 6},
    {6, 1, 2, 3, 0, 4, 5, 9, 7, 8}, {3, 6, 7, 4, 2, 0, 9, 5, 8, 1},
    {5, 8, 6, 9, 7, 2, 0, 1, 3, 4}, {8, 9, 4, 5, 3, 6, 2, 0, 1, 7},
    {9, 4, 3, 8, 6, 1, 7, 2, 0, 5}, {2, 5, 8, 1, 4, 3, 6, 7, 9, 0},
};

void by_hand_date(int64_t begins_ms, char out[BY_HAND_DATE])
{
    const time_t moment = (time_t)(begins_ms / 1000);
    struct tm local;

    if (localtime_r(&moment, &local) == NULL ||
        strftime(out, BY_HAND_DATE, "%Y%m%d", &local) == 0)
        exit(EXIT_FAILURE);
}

void by_hand_write(const char *date, int64_t number, char out[BY_HAND_SIZE])
{
    const int length =
        snprintf(out, BY_HAND_SIZE, "SN-%s-%06" PRId64 "-", date, number);
    unsigned check = 0;

    for (int i = 0; i < length; i++) {
        if (out[i] >= '0' && out[i] <= '9')
            check = damm[check][out[i] - '0'];
    }
    out[length] = (char)('0' + check);
    out[length + 1] = '\0';
}
