/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a SQLite file is the same, with the same content or more. */
#include "backends/sqlite/history.h"

#include "backends/sqlite/log.h"
#include "backends/sqlite/names.h"
#include "platform/error.h"

static const char *log_path(struct sqlite_link *link)
{
    return sqlite3_filename_wal(sqlite3_db_filename(link->db, "main"));
}

static enum seqb_status link_fail_moved(const struct sqlite_link *link,
                                        struct seqb_error *err)
{
    struct seqb_error why;

    if (sqlite_names_check(link, &why) != SEQB_OK)
        return error_set(err, SEQB_UNREACHABLE, "%s", why.text);
    return error_set(err, SEQB_UNREACHABLE,
                     "sqlite %s: %s or its -wal or -shm file was moved, "
                     "removed or replaced",
                     link->name, link->path);
}

static bool link_identify(struct sqlite_link *link)
{
    char index[PATH_MAX];

    sqlite_names_index(link, index);
    return sqlite_file_identify(link->path, link->file) &&
           sqlite_inode_identify(log_path(link), link->log) &&
           sqlite_inode_identify(index, link->index);
}

/* Without its index, another handle makes a new one, which has another lock of
 * the writer. */
static bool link_is_in_place(struct sqlite_link *link)
{
    char index[PATH_MAX];

    sqlite_names_index(link, index);
    return sqlite_file_is(link->path, link->file) &&
           sqlite_inode_is(log_path(link), link->log) &&
           sqlite_inode_is(index, link->index);
}

static enum seqb_status commits_read(struct sqlite_link *link, int64_t *out,
                                     struct seqb_error *err)
{
    sqlite3_stmt *query = link->queries[SQLITE_QUERY_COMMITS_FIND];
    const int result = sqlite3_step(query);
    enum seqb_status status = SEQB_OK;

    *out = result == SQLITE_ROW ? sqlite3_column_int64(query, 0) : 0;
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        status = sqlite_link_fail(link, result, "read", err);
    (void)sqlite3_reset(query);
    return status;
}

/* Whether the file has an older content; link->commits becomes the file's
 * count. The mark is read first. It grows only after the content has grown, so
 * no lock is needed. */
static enum seqb_status link_is_behind(struct sqlite_link *link, bool *out,
                                       struct seqb_error *err)
{
    const int64_t mark = sqlite_mark_read(link->path);
    /* Also opens the log if it is not open yet. */
    const enum seqb_status status = commits_read(link, &link->commits, err);

    *out = status == SEQB_OK && mark > link->commits;
    return status;
}

/* Begins another history, so that every counter in the file is foreign. The
 * write lock is held: of several handles that open the file at the same time,
 * one begins the history and the others find it begun. */
static enum seqb_status link_begin_history(struct sqlite_link *link,
                                           struct seqb_error *err)
{
    char history[SQLITE_RANDOM_SIZE];
    bool is_behind = false;
    enum seqb_status status = sqlite_link_run(link, SQLITE_QUERY_BEGIN, err);

    if (status != SEQB_OK)
        return status;
    status = link_is_behind(link, &is_behind, err);
    if (is_behind) {
        status = sqlite_link_random(link->name, history, err);
        if (status == SEQB_OK)
            sqlite_mark_begin(link->path, history, link->commits);
    }
    (void)sqlite_link_run(link, SQLITE_QUERY_ROLLBACK, NULL);
    return status;
}

static enum seqb_status link_compare_mark(struct sqlite_link *link,
                                          struct seqb_error *err)
{
    bool is_behind;
    const enum seqb_status status = link_is_behind(link, &is_behind, err);

    return status == SEQB_OK && is_behind ? link_begin_history(link, err)
                                          : status;
}

/* Compares again with the file locked, so that no other handle writes
 * meanwhile. If file and log do not match, it also begins another history,
 * because a tool that copies the log into the file makes the result look
 * complete. */
static enum seqb_status link_refuse_log(struct sqlite_link *link,
                                        struct seqb_error *err)
{
    char history[SQLITE_RANDOM_SIZE];
    bool is_well = true;
    enum seqb_status status = sqlite_link_run(link, SQLITE_QUERY_BEGIN, err);

    if (status != SEQB_OK)
        return status;
    is_well = sqlite_log_matches(link);
    if (!is_well && sqlite_link_random(link->name, history, NULL) == SEQB_OK)
        sqlite_mark_begin(link->path, history, link->commits);
    (void)sqlite_link_run(link, SQLITE_QUERY_ROLLBACK, NULL);
    if (is_well)
        return SEQB_OK;
    return error_set(err, SEQB_CORRUPT,
                     "sqlite %s: %s or its -wal file was written over by an "
                     "older one while both were there: together they are a "
                     "content that never was; remove both and the -shm file, "
                     "and put a whole copy there as a new file",
                     link->name, link->path);
}

static enum seqb_status link_compare_log(struct sqlite_link *link,
                                         struct seqb_error *err)
{
    return sqlite_log_matches(link) ? SEQB_OK : link_refuse_log(link, err);
}

enum seqb_status sqlite_history_identify(struct sqlite_link *link,
                                         struct seqb_error *err)
{
    int has_moved = 0;
    enum seqb_status status = link_compare_mark(link, err);

    /* SQLite has opened the log by now. If the index were read before SQLite
     * has opened it, it would never be closed. */
    link->is_logged = status == SEQB_OK;
    if (status == SEQB_OK)
        status = link_compare_log(link, err);
    if (status == SEQB_OK)
        status = sqlite_names_check(link, err);
    if (status != SEQB_OK)
        return status;
    if (!link_identify(link))
        return link_fail_moved(link, err);
    /* Asked last, so that the file at the path is the handle's file. */
    (void)sqlite3_file_control(link->db, "main", SQLITE_FCNTL_HAS_MOVED,
                               &has_moved);
    return has_moved != 0 ? link_fail_moved(link, err) : SEQB_OK;
}

enum seqb_status sqlite_history_check(struct sqlite_link *link,
                                      struct seqb_error *err)
{
    enum seqb_status status = sqlite_link_check_process(link, err);

    if (status != SEQB_OK)
        return status;
    /* A handle continues to write into a file that was removed, and what it
     * commits there is lost for everybody else. */
    return link_is_in_place(link) ? SEQB_OK : link_fail_moved(link, err);
}

/* Other handles may have committed transactions that were lost before this
 * handle saw them: only the mark shows these. */
enum seqb_status sqlite_history_check_commits(struct sqlite_link *link,
                                              struct seqb_error *err)
{
    const int64_t seen = link->commits;
    bool is_behind;
    const enum seqb_status status = link_is_behind(link, &is_behind, err);

    if (status != SEQB_OK || (!is_behind && link->commits >= seen))
        return status;
    link->commits = seen; /* a repeated check answers the same */
    return error_set(err, SEQB_UNREACHABLE,
                     "sqlite %s: the content of %s went back: it was replaced "
                     "by an older one",
                     link->name, link->path);
}

enum seqb_status sqlite_history_check_log(struct sqlite_link *link,
                                          struct seqb_error *err)
{
    if (sqlite_log_matches(link))
        return SEQB_OK;
    return error_set(err, SEQB_UNREACHABLE,
                     "sqlite %s: the content of %s went back: it or its -wal "
                     "file was written over by an older one",
                     link->name, link->path);
}
