/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of a cell's row. */
#include "backends/sql/cell.h"

#include <inttypes.h>
#include <string.h>

#include "platform/text.h"

bool sql_name_is_cell(const char *counter)
{
    return strncmp(counter, SEQB_CELL, sizeof SEQB_CELL - 1) == 0;
}

void sql_cell_prefix(int64_t window, int64_t size,
                     char out[SQL_CELL_PREFIX_SIZE])
{
    (void)text_format(out, SQL_CELL_PREFIX_SIZE, "%" PRId64 ":%" PRId64 ":",
                      window, size);
}

/* Parses a number that is not negative, and the ':' after it. */
static bool number_take(const char **at, int64_t *out)
{
    const size_t length = strcspn(*at, ":");

    if ((*at)[length] != ':' || !text_to_int64(*at, length, out) || *out < 0)
        return false;
    *at += length + 1;
    return true;
}

struct sql_cell sql_cell_found(int64_t value, const char *origin,
                               const char *now)
{
    struct sql_cell cell = {.used = value};
    const char *at = origin;

    if (value < 0 || origin == NULL || !number_take(&at, &cell.window) ||
        !number_take(&at, &cell.size) || value > cell.size)
        return (struct sql_cell){.state = SQL_CELL_DAMAGED};
    if (cell.window == 0)
        return (struct sql_cell){.state = SQL_CELL_ABSENT};
    cell.state = strcmp(at, now) == 0 ? SQL_CELL_BOUND : SQL_CELL_FOREIGN;
    return cell;
}

static struct sql_cell_answer refuse(const struct sql_cell *cell,
                                     enum seqb_status status, const char *why)
{
    return (struct sql_cell_answer){
        .status = status,
        .why = why,
        .window = cell->window > 0 ? cell->window : SEQB_NO_WINDOW};
}

struct sql_cell_answer sql_cell_take(const struct sql_cell *cell,
                                     const struct seqb_request *request)
{
    const int64_t left = cell->size - cell->used;
    struct sql_cell_answer answer = {
        .status = SEQB_OK, .window = cell->window, .is_write = true};

    if (cell->state == SQL_CELL_DAMAGED)
        return refuse(cell, SEQB_CORRUPT, "its cell is damaged");
    if (cell->state == SQL_CELL_ABSENT)
        return refuse(cell, SEQB_FENCED, "has no window here");
    if (cell->state == SQL_CELL_FOREIGN)
        return refuse(cell, SEQB_FENCED,
                      "its window is of another history or incarnation");
    if (cell->size != request->limit)
        return refuse(cell, SEQB_LAYOUT, "its window has another size");
    if (left == 0)
        return refuse(cell, SEQB_EXHAUSTED, "its window is used up");
    answer.block.first = cell->used;
    answer.block.count = request->want < left ? request->want : left;
    answer.cell = *cell;
    answer.cell.used += answer.block.count;
    return answer;
}

struct sql_cell_answer sql_cell_install(const struct sql_cell *cell,
                                        const struct seqb_window *window)
{
    const bool is_bound = cell->state == SQL_CELL_BOUND;

    if (cell->state == SQL_CELL_DAMAGED)
        return refuse(cell, SEQB_CORRUPT, "its cell is damaged");
    if (is_bound && cell->size != window->size)
        return refuse(cell, SEQB_LAYOUT, "a window of another size stands");
    if (is_bound && cell->used < cell->size && cell->window != window->over)
        return (struct sql_cell_answer){.status = SEQB_OK,
                                        .window = cell->window};
    if (cell->window >= window->window)
        return refuse(cell, SEQB_FENCED, "a later window stands");
    return (struct sql_cell_answer){.status = SEQB_OK,
                                    .window = window->window,
                                    .is_write = true,
                                    .cell = {.window = window->window,
                                             .size = window->size,
                                             .used = window->take}};
}

/* A damaged row is dropped, too: whatever its window was, no offset of it is
 * granted again. */
struct sql_cell_answer sql_cell_drop(const struct sql_cell *cell, int64_t floor)
{
    const bool stays = cell->window > floor;

    return (struct sql_cell_answer){.status = SEQB_OK,
                                    .window = stays ? cell->window : floor,
                                    .is_write = !stays};
}
