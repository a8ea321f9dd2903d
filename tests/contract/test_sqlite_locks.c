/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sqlite engine in a program that opens and closes the file by itself, to
 * copy it or by a second SQLite library: POSIX drops all locks that a process
 * has of a file when it closes the file once.
 */
#include "contract/sqlite_case.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "contract/sqlite_faults.h"
#include "contract/sqlite_other.h"
#include "platform/text.h"
#include "support/test.h"

#define WANT SQLITE_OTHER_WANT

/* What is done during the program's own grant. */
struct moment {
    const struct sqlite_files *files;
    struct sqlite_other other;
    struct sqlite_answer answer; /* of the other broker, to a first order */
};

static void file_read_once(const char *path)
{
    const int file = open(path, O_RDONLY);

    assert_true(file >= 0);
    (void)close(file);
}

static void files_read(const struct sqlite_files *files)
{
    char index[96];

    (void)text_format(index, sizeof index, "%s-shm", files->path);
    file_read_once(files->path);
    file_read_once(files->log);
    file_read_once(index);
}

static void copy_and_grant_elsewhere(void *context)
{
    struct moment *moment = context;

    files_read(moment->files);
    sqlite_other_order(&moment->other);
    moment->answer = sqlite_other_answer(&moment->other);
}

static void copy_and_close_elsewhere(void *context)
{
    struct moment *moment = context;

    files_read(moment->files);
    sqlite_other_close(&moment->other);
}

/* Starts the other broker, and reserves while `meanwhile` is done. */
static struct seqb_backend *grant(struct sqlite_files *files,
                                  void (*meanwhile)(void *context),
                                  struct moment *moment,
                                  struct seqb_request *request)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_backend *backend;

    sqlite_case_close(sqlite_case_open(files));
    files->options.timeout_ms = 4; /* does not wait for the lock */
    moment->files = files;
    moment->other = sqlite_other_start(files, files->path, NULL);
    assert_ok(sqlite_other_answer(&moment->other).status);
    backend = sqlite_case_open(files);
    faults->context = moment;
    faults->syncing = meanwhile;
    assert_ok(sqlite_case_reserve(backend, ORDER, WANT, request));
    sqlite_faults_remove();
    return backend;
}

TEST_WITH(SQLITE_CASE, program_that_copies_the_file_shares_no_block)
{
    struct moment moment;
    struct seqb_request request;
    struct seqb_backend *backend =
        grant(files, copy_and_grant_elsewhere, &moment, &request);

    if (moment.answer.status == SEQB_OK) { /* is about to sync */
        sqlite_other_order(&moment.other);
        moment.answer = sqlite_other_answer(&moment.other);
        assert_int_not_equal(moment.answer.first, request.block.first);
    }
    assert_true(moment.answer.status != SEQB_OK);
    assert_non_null(strstr(moment.answer.text, "locked"));
    sqlite_other_end(&moment.other);
    sqlite_case_take(backend, WANT, WANT);
}

/* The last one that closes copies the log into the file and removes it. It does
 * not see the program that has no locks any more. */
TEST_WITH(SQLITE_CASE, broker_that_closes_meanwhile_leaves_the_log)
{
    struct moment moment;
    struct seqb_request request;
    struct seqb_backend *backend =
        grant(files, copy_and_close_elsewhere, &moment, &request);

    sqlite_case_take(backend, WANT, WANT);
}
