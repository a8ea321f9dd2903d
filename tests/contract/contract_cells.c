/* SPDX-License-Identifier: Apache-2.0 */
/* Names get SEQB_CELL before them; all else is the inner engine's. */
#include "contract/contract_cells.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "platform/checksum.h"
#include "platform/text.h"

#define HINTS 1024

static const struct seqb_backend_ops *inner_ops;
static struct seqb_backend_ops cells_ops;

/* The windows seen last, by a checksum of the names: wrong hints, too. */
static int64_t hints[HINTS];
static pthread_mutex_t hints_lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t hint_of(const char *counter, const int64_t *window)
{
    const size_t at = checksum_of(counter, strlen(counter)) % HINTS;
    int64_t hint;

    pthread_mutex_lock(&hints_lock);
    if (window != NULL)
        hints[at] = *window;
    hint = hints[at];
    pthread_mutex_unlock(&hints_lock);
    return hint > 0 ? hint : SEQB_NO_WINDOW;
}

/* The longest names lose their first bytes. */
static const char *cell_name(const char *counter, char out[SEQB_COUNTER_SIZE])
{
    const size_t most = SEQB_COUNTER_SIZE - sizeof SEQB_CELL;
    const size_t length = strlen(counter);

    (void)text_format(out, SEQB_COUNTER_SIZE, SEQB_CELL "%s",
                      length > most ? counter + (length - most) : counter);
    return out;
}

struct cell {
    const char *counter; /* as the test names it */
    char name[SEQB_COUNTER_SIZE];
};

static enum seqb_status cells_open(const struct seqb_backend_options *options,
                                   struct seqb_backend **out,
                                   struct seqb_error *err)
{
    const enum seqb_status status = inner_ops->open(options, out, err);

    if (status == SEQB_OK)
        (*out)->ops = &cells_ops;
    return status;
}

static enum seqb_status cells_reserve(struct seqb_backend *backend,
                                      struct seqb_request *requests, size_t n,
                                      struct seqb_error *err)
{
    struct cell *cells = calloc(n, sizeof *cells);
    enum seqb_status status;

    if (cells == NULL)
        abort();
    for (size_t i = 0; i < n; i++) {
        cells[i].counter = requests[i].counter;
        requests[i].counter = cell_name(requests[i].counter, cells[i].name);
        requests[i].window = hint_of(cells[i].counter, NULL);
    }
    status = inner_ops->reserve(backend, requests, n, err);
    for (size_t i = 0; i < n; i++) {
        requests[i].counter = cells[i].counter;
        if (status == SEQB_OK)
            (void)hint_of(cells[i].counter, &requests[i].window);
    }
    free(cells);
    return status;
}

static enum seqb_status cells_raise(struct seqb_backend *backend,
                                    const struct seqb_raise *raise,
                                    int64_t *out, struct seqb_error *err)
{
    struct seqb_raise cell = *raise;
    char name[SEQB_COUNTER_SIZE];

    cell.counter = cell_name(raise->counter, name);
    return inner_ops->raise(backend, &cell, out, err);
}

static enum seqb_status cells_install(struct seqb_backend *backend,
                                      const struct seqb_window *window,
                                      int64_t *standing, struct seqb_error *err)
{
    struct seqb_window cell = *window;
    char name[SEQB_COUNTER_SIZE];

    cell.counter = cell_name(window->counter, name);
    return inner_ops->install(backend, &cell, standing, err);
}

const struct seqb_backend_ops *cells_of(const struct seqb_backend_ops *inner)
{
    inner_ops = inner;
    cells_ops = *inner;
    cells_ops.guarantee = SEQB_WINDOWED;
    cells_ops.open = cells_open;
    cells_ops.reserve = cells_reserve;
    cells_ops.raise = cells_raise;
    cells_ops.install = cells_install;
    cells_ops.swap = NULL;
    cells_ops.purge = NULL;
    cells_ops.list = NULL;
    return &cells_ops;
}
