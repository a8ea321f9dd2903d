/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary SQLite files, as an operator handles them. */
#include "contract/sqlite_files.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/text.h"
#include "support/sqlite_note.h"

static void must(bool is_well, const char *what)
{
    if (is_well)
        return;
    perror(what);
    abort();
}

bool sqlite_files_init(struct sqlite_files *files)
{
    (void)text_copy(files->folder, sizeof files->folder,
                    "/tmp/seqb-sqlite-XXXXXX");
    if (mkdtemp(files->folder) == NULL)
        return false;
    (void)text_format(files->path, sizeof files->path, "%s/s.db",
                      files->folder);
    (void)text_format(files->log, sizeof files->log, "%s-wal", files->path);
    (void)text_format(files->copy, sizeof files->copy, "%s/copy.db",
                      files->folder);
    files->options = (struct seqb_backend_options){
        .name = "sqlite-a",
        .path = files->path,
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
        .create = true,
    };
    return true;
}

void sqlite_files_note(const struct sqlite_files *files, char out[64])
{
    sqlite_note_path(files->path, out);
}

void sqlite_files_fini(struct sqlite_files *files)
{
    DIR *folder = opendir(files->folder);
    struct dirent *entry;
    char note[64];

    sqlite_files_note(files, note);
    (void)remove(note);
    must(folder != NULL, "opendir");
    while ((entry = readdir(folder)) != NULL)
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    (void)closedir(folder);
    must(rmdir(files->folder) == 0, "rmdir");
}

int64_t sqlite_files_ask(const struct sqlite_files *files, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int64_t answer = 0;
    int result = sqlite3_open(files->path, &db);

    (void)sqlite3_busy_timeout(db, 20000);
    if (result == SQLITE_OK)
        result = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    must(result == SQLITE_ROW || result == SQLITE_DONE, sql);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return answer;
}

void sqlite_files_run(const struct sqlite_files *files, const char *sql)
{
    sqlite3 *db = NULL;

    must(sqlite3_open(files->path, &db) == SQLITE_OK, files->path);
    (void)sqlite3_busy_timeout(db, 20000);
    must(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sql);
    (void)sqlite3_close(db);
}

void sqlite_files_save(struct sqlite_files *files)
{
    char sql[128];

    (void)unlink(files->copy);
    (void)text_format(sql, sizeof sql, "VACUUM INTO '%s'", files->copy);
    sqlite_files_run(files, sql);
}

void sqlite_files_restore(struct sqlite_files *files)
{
    char index[96];
    char note[64];

    (void)text_format(index, sizeof index, "%s-shm", files->path);
    (void)unlink(index);
    (void)unlink(files->log);
    sqlite_files_note(files, note);
    (void)unlink(note); /* of a file that goes */
    must(rename(files->copy, files->path) == 0, "rename");
}

void sqlite_files_restore_inside(struct sqlite_files *files)
{
    sqlite3 *from = NULL;
    sqlite3 *to = NULL;
    sqlite3_backup *backup;

    must(sqlite3_open(files->copy, &from) == SQLITE_OK, files->copy);
    must(sqlite3_open(files->path, &to) == SQLITE_OK, files->path);
    (void)sqlite3_busy_timeout(to, 20000);
    backup = sqlite3_backup_init(to, "main", from, "main");
    must(backup != NULL, sqlite3_errmsg(to));
    must(sqlite3_backup_step(backup, -1) == SQLITE_DONE, sqlite3_errmsg(to));
    must(sqlite3_backup_finish(backup) == SQLITE_OK, sqlite3_errmsg(to));
    (void)sqlite3_close(to);
    (void)sqlite3_close(from);
}

void sqlite_files_write(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "w");

    must(file != NULL && fwrite(text, 1, size, file) == size, path);
    must(fclose(file) == 0, path);
}

void sqlite_files_copy(const char *from, const char *to)
{
    char *content = NULL;
    struct stat info;

    must(stat(from, &info) == 0, from);
    must(file_read(from, 1 << 24, &content, NULL) == SEQB_OK, from);
    sqlite_files_write(to, content, (size_t)info.st_size);
    free(content);
}
