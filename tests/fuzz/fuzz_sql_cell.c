/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any number and any text as the row of a cell in a SQL store. What must hold:
 * an offset is granted within the window, and never again by the row that is
 * written then; a window is put only above the one that was there; a drop
 * leaves no lower one.
 */
#include "backends/sql/cell.h"
#include "fuzz/fuzz.h"

#define NOW  "now"
#define WANT 100
#define SIZE 1000

static void require_same(const struct sql_cell *written)
{
    char origin[SQL_CELL_ORIGIN_SIZE];
    struct sql_cell again;

    sql_cell_prefix(written->window, written->size, origin);
    (void)text_append(origin, sizeof origin, NOW);
    again = sql_cell_found(written->used, origin, NOW);
    require(again.state == SQL_CELL_BOUND);
    require(again.window == written->window && again.size == written->size);
    require(again.used == written->used);
}

static void check_take(const struct sql_cell *cell, int64_t limit)
{
    const struct seqb_request request = {
        .counter = "a", .want = WANT, .limit = limit};
    const struct sql_cell_answer answer = sql_cell_take(cell, &request);

    require((answer.status == SEQB_OK) == (answer.why == NULL));
    if (answer.status != SEQB_OK)
        return;
    require(cell->state == SQL_CELL_BOUND && answer.is_write);
    require(answer.block.first == cell->used);
    require(answer.block.count >= 1 && answer.block.count <= WANT);
    require(answer.block.count <= limit - answer.block.first);
    require(answer.cell.used == answer.block.first + answer.block.count);
    require_same(&answer.cell);
}

static void check_install(const struct sql_cell *cell)
{
    const struct seqb_window window = {
        .counter = "a", .window = 7, .size = SIZE, .take = 3};
    const struct sql_cell_answer answer = sql_cell_install(cell, &window);

    require((answer.status == SEQB_OK) == (answer.why == NULL));
    if (answer.status != SEQB_OK)
        return;
    require(answer.is_write ? cell->window < answer.window
                            : cell->window == answer.window);
    if (!answer.is_write)
        return;
    require(answer.cell.used == window.take);
    require_same(&answer.cell);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t value;
    struct sql_cell cell;
    char *origin;

    if (size < sizeof value)
        return 0;
    memcpy(&value, data, sizeof value);
    size -= sizeof value;
    origin = malloc(size + 1);
    require(origin != NULL);
    memcpy(origin, data + sizeof value, size);
    origin[size] = '\0';
    cell = sql_cell_found(value, origin, NOW);
    require(cell.window >= 0 && cell.used >= 0 && cell.used <= cell.size);
    check_take(&cell, SIZE);
    check_take(&cell, cell.size);
    check_install(&cell);
    require(sql_cell_drop(&cell, 5).window >= 5);
    require(sql_cell_drop(&cell, 5).window >= cell.window);
    free(origin);
    return 0;
}
