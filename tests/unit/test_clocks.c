/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of the stores' wall clocks, and how far periods were begun. No
 * worker runs. */
#include <stdlib.h>
#include <string.h>

#include "ha/startup.h"
#include "support/test.h"

#define NOON INT64_C(4102444800000) /* of 2100: no clock is there yet */

#define EIGHT(clock) clock clock clock clock clock clock clock clock

/* A digit is a store's clock, and "-" one that is not known. */
static const struct {
    const char *stores;
    int32_t count;
    int64_t wall_ms; /* of two in the middle the earlier one */
} rows[] = {
    {"", 0, -1},
    {"---", 0, -1},
    {"7", 1, 7},
    {"--7", 1, 7},
    {"73", 2, 3},
    {"37", 2, 3},
    {"981", 3, 8},
    {"198", 3, 8},
    {"9-788", 4, 8},
    {"9178", 4, 7},
    {"19-2837", 6, 3},
    /* Of 64 at most, here of 31 and 33. */
    {"---" EIGHT("111") "1111111" EIGHT("2222") "2", 64, 2},
    {"---" EIGHT("111") "1111111" EIGHT("2222") "2111", 64, 2},
};

TEST(wall_clock_of_the_stores_is_the_middle_one)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *stores = rows[i].stores;
        const size_t n = strlen(stores);
        const struct ha_options options = {.backend_count = n};
        struct ha ha = {.options = &options};
        int64_t wall_ms = -1;

        print_message("  row %zu\n", i);
        ha.workers = calloc(n + 1, sizeof *ha.workers); /* one too many */
        assert_non_null(ha.workers);
        for (size_t j = 0; j < n; j++)
            ha.workers[j].connection.clock_ms =
                stores[j] == '-' ? CONNECTION_NO_CLOCK : stores[j] - '0';
        assert_int_equal(ha_clocks(&ha, &wall_ms), rows[i].count);
        assert_int_equal(wall_ms, rows[i].wall_ms);
        free(ha.workers);
    }
}

TEST(begin_that_is_earlier_changes_nothing)
{
    struct ha ha = {.begun_ms = 5};
    struct worker *worker = calloc(1, sizeof *worker);
    int64_t base_ms;

    ha_begun(&ha, 3);
    assert_int_equal(ha.begun_ms, 5);
    ha_begun(&ha, 5);
    assert_int_equal(ha.begun_ms, 5);
    ha_begun(&ha, NOON);
    assert_int_equal(ha.begun_ms, NOON);
    assert_non_null(worker);
    worker->begun_ms = &ha.begun_ms;
    base_ms = worker_base_ms(worker);
    assert_int_equal(base_ms, connection_base_ms(&worker->connection, NOON));
    ha_begun(&ha, NOON + 7);
    assert_int_equal(worker_base_ms(worker), base_ms + 7);
    free(worker);
}
