/* SPDX-License-Identifier: Apache-2.0 */
/* Tables whose columns fit the line, printed by libsmartcols. In a narrow view,
 * names are cut in the middle, the last columns are left out, and reasons are
 * printed below the table, wrapped. */
#include "ctl/table/table.h"

#include <assert.h>
#include <libsmartcols/libsmartcols.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/table/cells.h"
#include "ctl/terminal/terminal.h"

#define CELL_SIZE   320
#define WHY_SIZE    (SEQB_REASON_SIZE + CELL_SIZE) /* and what may be lost */
#define COLUMNS_MAX 32
#define NARROWEST   4 /* characters of a name after it was cut */
#define CUT         '~'

struct column {
    const struct status_field *field;
    size_t width; /* of its longest cell, in characters */
};

struct table {
    const struct view *view;
    const struct rows *rows;
    struct cell_style style;
    struct column columns[COLUMNS_MAX]; /* in their printed order */
    size_t count;
    struct libscols_table *printed;
};

/* --- choosing columns --- */

/* Whether the field's column is shown. Some columns may be left out: see enum
 * show. */
static bool column_is_needed(const struct status_field *field,
                             const struct rows *rows)
{
    const bool is_count = field->show == SHOW_SOME;

    if (!is_count && field->show != SHOW_MAYBE && field->show != SHOW_OFFSET &&
        field->show != SHOW_ROOM)
        return true;
    for (size_t i = 0; i < rows->count; i++) {
        if (reply_field(rows->row[i], field->name) != NULL &&
            (!is_count || reply_integer(rows->row[i], field->name) != 0))
            return true;
    }
    return false;
}

static bool column_is_shown(const struct table *table,
                            const struct status_field *field)
{
    return field->title != NULL && field->show != SHOW_WHY &&
           (table->view->is_wide || !field->is_wide) &&
           column_is_needed(field, table->rows);
}

static size_t column_width(const struct table *table,
                           const struct status_field *field)
{
    size_t width = strlen(field->title);
    char cell[CELL_SIZE];

    for (size_t i = 0; i < table->rows->count; i++) {
        cell_format(cell, sizeof cell, field, table->rows->row[i],
                    &table->style);
        if (strlen(cell) > width)
            width = strlen(cell);
    }
    return width;
}

/* Finds the fields that have a column, in the order of the columns. */
static void columns_find(struct table *table, const struct status_field *field)
{
    for (; field->name != NULL; field++) {
        size_t at = table->count;

        if (!column_is_shown(table, field))
            continue;
        assert(table->count < COLUMNS_MAX);
        for (; at > 0 && table->columns[at - 1].field->rank > field->rank; at--)
            table->columns[at] = table->columns[at - 1];
        table->columns[at] = (struct column){field, column_width(table, field)};
        table->count++;
    }
}

/* --- fitting --- */

/* A name can be cut; a number or a state cannot. */
static bool column_may_shrink(const struct column *column)
{
    const enum status_show show = column->field->show;

    return show == SHOW_PARTITION || show == SHOW_REFILL ||
           (show == SHOW_TEXT && status_is_text(column->field));
}

/* A title is never cut. */
static size_t column_least(const struct column *column)
{
    size_t title;
    size_t least;

    assert(column->field != NULL);
    title = strlen(column->field->title);
    least = title > NARROWEST ? title : NARROWEST;
    return column_may_shrink(column) && least < column->width ? least
                                                              : column->width;
}

static struct column *column_widest(struct table *table)
{
    struct column *widest = NULL;

    for (size_t i = 0; i < table->count; i++) {
        struct column *column = &table->columns[i];

        if (column_least(column) < column->width &&
            (widest == NULL || column->width > widest->width))
            widest = column;
    }
    return widest;
}

/* The table's width, without the space behind its last column. */
static size_t table_width(const struct table *table,
                          size_t (*width_of)(const struct column *column))
{
    size_t width = table->count - 1;

    for (size_t i = 0; i < table->count; i++)
        width += width_of(&table->columns[i]);
    return width;
}

static size_t column_width_now(const struct column *column)
{
    return column->width;
}

static bool column_stays(const struct column *column)
{
    assert(column->field != NULL);
    return column->field->show == SHOW_STATE;
}

/* The first column stays, too: it says what a row is about. */
static bool column_drop_last(struct table *table)
{
    size_t at = table->count - 1;

    while (at > 0 && column_stays(&table->columns[at]))
        at--;
    if (at == 0)
        return false;
    table->count--;
    memmove(&table->columns[at], &table->columns[at + 1],
            (table->count - at) * sizeof table->columns[0]);
    return true;
}

static void columns_drop(struct table *table,
                         size_t (*width_of)(const struct column *column))
{
    while (table_width(table, width_of) > table->view->width &&
           column_drop_last(table))
        continue;
}

/* Names are cut first. If that is not enough, columns are left out, the last
 * one first. */
static void columns_fit(struct table *table)
{
    struct column *widest;

    columns_drop(table, column_least);
    while (table_width(table, column_width_now) > table->view->width &&
           (widest = column_widest(table)) != NULL)
        widest->width--;
}

void name_cut(char *name, size_t width)
{
    const size_t length = strlen(name);
    const size_t tail = (width - 1) / 2;

    if (length <= width)
        return;
    name[width - tail - 1] = CUT;
    memmove(name + width - tail, name + length - tail, tail + 1);
}

/* --- printing --- */

static bool columns_add(struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct status_field *field = table->columns[i].field;
        const bool is_left = column_may_shrink(&table->columns[i]) ||
                             field->show == SHOW_STATE || status_is_text(field);

        if (scols_table_new_column(table->printed, field->title, 0,
                                   is_left ? 0 : SCOLS_FL_RIGHT) == NULL)
            return false;
    }
    return true;
}

static bool cell_add(const struct table *table, struct libscols_line *line,
                     size_t at, const redisReply *row)
{
    const struct column *column = &table->columns[at];
    char cell[CELL_SIZE];

    cell_format(cell, sizeof cell, column->field, row, &table->style);
    name_cut(cell, column->width);
    if (scols_line_set_data(line, at, cell) != 0)
        return false;
    return !table->view->is_colored || column->field->show != SHOW_STATE ||
           scols_cell_set_color(scols_line_get_cell(line, at),
                                color_of_state(cell)) == 0;
}

static bool rows_add(struct table *table)
{
    for (size_t i = 0; i < table->rows->count; i++) {
        struct libscols_line *line = scols_table_new_line(table->printed, NULL);

        if (line == NULL)
            return false;
        for (size_t k = 0; k < table->count; k++) {
            if (!cell_add(table, line, k, table->rows->row[i]))
                return false;
        }
    }
    return true;
}

static bool columns_print(struct table *table)
{
    bool is_printed;

    table->printed = scols_new_table();
    is_printed =
        table->printed != NULL && columns_add(table) && rows_add(table) &&
        scols_table_set_termforce(table->printed, SCOLS_TERMFORCE_NEVER) == 0 &&
        scols_table_enable_colors(table->printed, table->view->is_colored) ==
            0 &&
        scols_table_set_stream(table->printed, table->view->to) == 0 &&
        scols_print_table(table->printed) == 0;
    scols_unref_table(table->printed);
    if (!is_printed)
        ctl_complain("out of memory");
    return is_printed;
}

/* Reasons contain words of servers, which must not control the terminal. */
static void controls_blank(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == '\177')
            *text = ' ';
    }
}

size_t view_wrap(const struct view *view)
{
    return view->is_wide && !view->is_bounded ? 0 : view->width;
}

/* Prints a line for each partition that has a reason. */
static void reasons_print(const struct table *table)
{
    char why[WHY_SIZE];
    char partition[CELL_SIZE];
    char line[WHY_SIZE + 2 * CELL_SIZE];

    for (size_t i = 0; i < table->rows->count; i++) {
        const redisReply *row = table->rows->row[i];

        why_format(why, sizeof why, row);
        if (why[0] == '\0')
            continue;
        partition_format(partition, sizeof partition, row,
                         table->style.name_pool);
        snprintf(line, sizeof line, "%s (%s) %s: %s", partition,
                 reply_text(row, "backend"), reply_text(row, "state"), why);
        controls_blank(line);
        text_wrap(table->view->to, line, view_wrap(table->view));
    }
}

bool table_print(const struct view *view, enum status_of of,
                 const struct rows *rows, bool name_pool)
{
    struct table table = {
        .view = view,
        .rows = rows,
        .style = {.name_pool = name_pool, .is_short = !view->is_wide}};

    columns_find(&table, status_tables[of].fields);
    if (!view->is_wide)
        columns_fit(&table);
    else if (view->is_bounded)
        columns_drop(&table, column_width_now);
    if (!columns_print(&table))
        return false;
    if (of == STATUS_OF_PARTITIONS || of == STATUS_OF_ERRORS)
        reasons_print(&table);
    return true;
}
