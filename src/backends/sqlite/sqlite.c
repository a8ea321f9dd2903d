/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sqlite engine: direct counters, each a row that has the origin of the
 * file in which its value is valid. rows.c has the rows, link.c the handle and
 * its transactions.
 */
#include "backends/backends.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/sqlite/claims.h"
#include "backends/sqlite/history.h"
#include "backends/sqlite/link.h"
#include "backends/sqlite/rows.h"
#include "platform/error.h"
#include "platform/text.h"

#define STORE_CLAIM "store"

static char library[32]; /* written once */

static void library_init(void)
{
    (void)text_format(library, sizeof library, "sqlite %s",
                      sqlite3_libversion());
}

static const char *sqlite_library(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, library_init);
    return library;
}

/* --- claims --- */

static enum seqb_status sqlite_claim(struct seqb_backend *backend,
                                     const char *name, const char *text,
                                     char *standing, size_t size,
                                     struct seqb_error *err)
{
    struct sqlite *sqlite = (struct sqlite *)backend;
    enum seqb_status status = sqlite_history_check(&sqlite->link, err);

    if (status != SEQB_OK)
        return status;
    return sqlite_claims_stand(sqlite, name, text, standing, size, err);
}

/* This many are committed in a few ms, and do not delay other brokers
 * longer. */
#define CLAIMS_MAX 1024

static enum seqb_status sqlite_claim_many(struct seqb_backend *backend,
                                          struct seqb_claim *claims, size_t n,
                                          size_t *done, struct seqb_error *err)
{
    struct sqlite *sqlite = (struct sqlite *)backend;
    enum seqb_status status = sqlite_history_check(&sqlite->link, err);

    *done = n < CLAIMS_MAX ? n : CLAIMS_MAX;
    if (status != SEQB_OK)
        return status;
    return sqlite_claims_stand_many(sqlite, claims, *done, err);
}

static enum seqb_status sqlite_swap(struct seqb_backend *backend,
                                    const struct seqb_swap *swap,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    struct sqlite *sqlite = (struct sqlite *)backend;

    return sqlite_claims_swap(sqlite, swap, standing, size, err);
}

/* --- open and close --- */

/* The origin is the file together with an id inside it: a copy is another file,
 * a new file in the same place has another id. */
static enum seqb_status origin_read(struct sqlite *sqlite, bool is_new,
                                    struct seqb_error *err)
{
    char fresh[SQLITE_RANDOM_SIZE];
    char standing[SQLITE_RANDOM_SIZE];
    char store[SEQB_ORIGIN_SIZE];
    enum seqb_status status = sqlite_link_random(sqlite->link.name, fresh, err);

    if (status == SEQB_OK)
        status = sqlite_claims_stand(sqlite, STORE_CLAIM, fresh, standing,
                                     sizeof standing, err);
    if (status != SEQB_OK)
        return status;
    (void)text_format(store, sizeof store, "%s:%s", sqlite->link.file,
                      standing);
    /* Files of one device fail together. */
    (void)text_format(sqlite->sql.base.domain, sizeof sqlite->sql.base.domain,
                      "disk %.*s", (int)strcspn(sqlite->link.file, ":"),
                      sqlite->link.file);
    if (!is_new)
        return sqlite_base_bind(sqlite, store, err);
    (void)text_copy(sqlite->sql.base.origin, sizeof sqlite->sql.base.origin,
                    store);
    return SEQB_OK;
}

static void sqlite_close(struct seqb_backend *backend)
{
    struct sqlite *sqlite = (struct sqlite *)backend;

    if (sqlite == NULL)
        return;
    sqlite_link_close(&sqlite->link);
    free(sqlite);
}

/* Notes the losses that accept_loss permits. */
static void loss_find(struct sqlite *sqlite,
                      const struct seqb_backend_options *options)
{
    const char *network = sqlite_file_network(options->path);

    if (network != NULL)
        (void)text_format(sqlite->sql.base.loss, sizeof sqlite->sql.base.loss,
                          "on a network file system (%s), where locks may not "
                          "hold",
                          network);
}

/* If no note can be made, only calls with a guard fail. */
static enum seqb_status incarnation_read(struct sqlite *sqlite,
                                         struct seqb_error *err)
{
    struct seqb_backend *base = &sqlite->sql.base;
    struct seqb_error why;
    enum seqb_status status = sqlite_link_begin(&sqlite->link, err);

    if (status != SEQB_OK)
        return status;
    sqlite_link_abandon(&sqlite->link);
    status = sqlite_link_begin_incarnated(&sqlite->link, &why);
    sqlite_link_abandon(&sqlite->link);
    if (status == SEQB_OK)
        (void)text_copy(base->incarnation, sizeof base->incarnation,
                        sqlite->link.nonce);
    else if (status == SEQB_REFUSED)
        (void)text_copy(sqlite->sql.unknown, sizeof sqlite->sql.unknown,
                        why.text);
    else
        return error_set(err, status, "%s", why.text);
    return SEQB_OK;
}

static enum seqb_status
store_connect(struct sqlite *sqlite, const struct seqb_backend_options *options,
              struct seqb_error *err)
{
    enum seqb_status status = sqlite_link_open(&sqlite->link, options, err);

    if (status == SEQB_OK)
        status = origin_read(sqlite, options->create, err);
    if (status == SEQB_OK && !options->create && options->needs_incarnation)
        status = incarnation_read(sqlite, err);
    if (status == SEQB_OK)
        sqlite_link_be_patient(&sqlite->link, options->timeout_ms);
    if (status != SEQB_OK || !options->create)
        return status;
    status = sqlite_row_put(sqlite, &(struct sql_write){.name = SQL_BASE}, err);
    return sqlite_link_end(&sqlite->link, status, err);
}

static enum seqb_status store_open(const struct seqb_backend_options *options,
                                   struct seqb_backend **out,
                                   struct seqb_error *err)
{
    struct sqlite *sqlite = calloc(1, sizeof *sqlite);
    enum seqb_status status;

    if (sqlite == NULL)
        return error_set(err, SEQB_NO_MEMORY, "sqlite %s: out of memory",
                         options->name);
    sqlite->sql.base.ops = &backend_sqlite;
    sqlite->sql.base.fd = -1;
    sqlite->sql.dialect = &sqlite_dialect;
    sqlite->sql.where = sqlite->link.where;
    (void)text_copy(sqlite->sql.base.server, sizeof sqlite->sql.base.server,
                    sqlite_library());
    loss_find(sqlite, options);
    status = store_connect(sqlite, options, err);
    if (status != SEQB_OK) {
        sqlite_close(&sqlite->sql.base);
        return status;
    }
    *out = &sqlite->sql.base;
    return SEQB_OK;
}

/* SQLite's locks and shared memory work on one machine only: on a file system
 * that other machines access, two brokers could read one row at the same
 * time. */
static enum seqb_status
file_system_check(const struct seqb_backend_options *options,
                  struct seqb_error *err)
{
    const char *network = sqlite_file_network(options->path);

    if (network == NULL || options->accept_loss)
        return SEQB_OK;
    return error_set(err, SEQB_UNSAFE,
                     "sqlite %s: %s is on a file system of other machines "
                     "(%s), where locks may not hold and numbers repeat: use a "
                     "local disk, or accept_loss = true",
                     options->name, options->path, network);
}

/* Creates a store that is complete in its file, because the log does not follow
 * when the file is renamed. */
static enum seqb_status store_draft(const struct seqb_backend_options *options,
                                    struct seqb_error *err)
{
    struct seqb_backend *backend = NULL;
    enum seqb_status status = store_open(options, &backend, err);

    if (status == SEQB_OK)
        status = sqlite_link_empty_log(&((struct sqlite *)backend)->link, err);
    sqlite_close(backend);
    return status;
}

/* Removes what a draft leaves behind if it failed or could not be closed
 * cleanly. */
static void draft_remove(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char file[PATH_MAX];

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (text_format(file, sizeof file, "%s%s", path, ends[i]))
            (void)unlink(file);
    }
}

/* A store is created completely under a temporary name and then renamed. So
 * brokers that begin at the same time never find a partial one. If the final
 * name exists by then, another broker was faster. */
static enum seqb_status store_found(const struct seqb_backend_options *options,
                                    struct seqb_error *err)
{
    struct seqb_backend_options draft = *options;
    char random[SQLITE_RANDOM_SIZE];
    char path[PATH_MAX];
    enum seqb_status status = sqlite_link_random(options->name, random, err);

    if (status != SEQB_OK)
        return status;
    if (!text_format(path, sizeof path, "%s.new-%s", options->path, random))
        return error_set(err, SEQB_INVALID, "sqlite %s: the path is too long",
                         options->name);
    draft.path = path;
    status = store_draft(&draft, err);
    if (status == SEQB_OK &&
        renameat2(AT_FDCWD, path, AT_FDCWD, options->path, RENAME_NOREPLACE) !=
            0 &&
        errno != EEXIST)
        status = error_set(err, SEQB_REFUSED, "sqlite %s: cannot make %s: %s",
                           options->name, options->path, strerror(errno));
    draft_remove(path);
    return status;
}

static enum seqb_status sqlite_open(const struct seqb_backend_options *options,
                                    struct seqb_backend **out,
                                    struct seqb_error *err)
{
    struct seqb_backend_options existing = *options;
    enum seqb_status status;

    if (options->path == NULL || options->path[0] != '/')
        return error_set(err, SEQB_INVALID,
                         "sqlite %s: needs the absolute path of a file",
                         options->name);
    status = file_system_check(options, err);
    if (status == SEQB_OK && options->create &&
        access(options->path, F_OK) != 0 && errno == ENOENT)
        status = store_found(options, err);
    existing.create = false;
    return status == SEQB_OK ? store_open(&existing, out, err) : status;
}

/* --- the rest --- */

static enum seqb_status sqlite_purge(struct seqb_backend *backend,
                                     const struct seqb_purge *purge,
                                     int32_t *deleted, struct seqb_error *err)
{
    struct sqlite *sqlite = (struct sqlite *)backend;
    int32_t count = 0;
    enum seqb_status status = sqlite_link_begin(&sqlite->link, err);

    if (status != SEQB_OK)
        return status;
    status = sqlite_rows_purge(sqlite, purge, &count, err);
    status = sqlite_link_end(&sqlite->link, status, err);
    if (status == SEQB_OK)
        *deleted = count;
    return status;
}

static enum seqb_status sqlite_list(struct seqb_backend *backend,
                                    struct seqb_page *page,
                                    struct seqb_error *err)
{
    return sqlite_rows_list((struct sqlite *)backend, page, err);
}

const struct seqb_backend_ops backend_sqlite = {
    .engine = "sqlite",
    .guarantee = SEQB_DIRECT,
    .library = sqlite_library,
    .open = sqlite_open,
    .reserve = sql_reserve,
    .raise = sql_raise,
    .install = sql_install,
    .claim = sqlite_claim,
    .swap = sqlite_swap,
    .purge = sqlite_purge,
    .list = sqlite_list,
    .close = sqlite_close,
    .claim_many = sqlite_claim_many,
};
