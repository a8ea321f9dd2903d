/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the audit; see audit.h. The file is opened for each line, so
 * that it may be renamed (rotated) at any time. */
#include "daemon/access/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log/log.h"

#define WORD_SIZE   256
#define REASON_SIZE 1536 /* fits the text of an error, quoted */
#define WORDS_MAX   7    /* of a line, without its reason */
#define NAMES_SIZE  256  /* of a line: the names of its words, and a number */
#define LINE_SIZE   (WORDS_MAX * WORD_SIZE + REASON_SIZE + NAMES_SIZE)
#define DATE_SIZE   32

static const struct bucket_size allowed = {.at_once = 100, .a_second = 20};

/* --- the file --- */

/* Why the file must not get the lines; NULL if it may. */
static const char *file_fault(int fd)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "it is no regular file";
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return "it belongs to another user: it must be the daemon's or root's";
    if ((status.st_mode & (S_IRWXO | S_IWGRP)) != 0)
        return "others may read or write it: chmod 600 it, or 640 for a group";
    return NULL;
}

/* Nonblocking, because opening a FIFO would wait for its reader. -1 sets
 * `*why`. */
static int file_open(const char *file, const char **why)
{
    const int fd = open(file,
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                            O_NONBLOCK,
                        0600);

    *why = fd < 0 ? strerror(errno) : file_fault(fd);
    if (fd < 0 || *why == NULL)
        return fd;
    close(fd);
    return -1;
}

enum seqb_status audit_check(const char *file, struct seqb_error *err)
{
    const char *why = NULL;
    const int fd = file == NULL ? -1 : file_open(file, &why);

    if (fd >= 0)
        close(fd);
    if (file == NULL || (fd >= 0 && file[0] == '/'))
        return SEQB_OK;
    err->status = SEQB_INVALID;
    snprintf(err->text, sizeof err->text, "daemon.audit_file %s: %s", file,
             file[0] != '/' ? "wants an absolute path" : why);
    return err->status;
}

static void date_print(int64_t wall_ms, char out[DATE_SIZE])
{
    const time_t seconds = (time_t)(wall_ms / 1000);
    struct tm date = {0};
    char text[DATE_SIZE] = "";

    gmtime_r(&seconds, &date);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &date);
    snprintf(out, DATE_SIZE, "%.19s.%03dZ", text, (int)(wall_ms % 1000));
}

/* Whether the file ends within a line, which a full disk has cut. */
static bool file_is_torn(const char *file)
{
    const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    char last = '\n';

    if (end > 0 && pread(fd, &last, 1, end - 1) != 1)
        last = '\n';
    if (fd >= 0)
        close(fd);
    return last != '\n';
}

/* Appends the line by a single write, because other processes may append,
 * too. */
static bool file_append(const char *file, const char *line, int64_t wall_ms,
                        const char **why)
{
    char date[DATE_SIZE];
    char text[LINE_SIZE + DATE_SIZE + 3];
    const int fd = file_open(file, why);
    ssize_t written = -1;
    int length = 0;

    if (fd < 0)
        return false;
    date_print(wall_ms, date);
    length = snprintf(text, sizeof text, "%s%s %s\n",
                      file_is_torn(file) ? "\n" : "", date, line);
    written = write(fd, text, (size_t)length);
    *why = written < 0 ? strerror(errno) : "it was written in part";
    if (close(fd) == 0)
        return written == length;
    *why = strerror(errno);
    return false;
}

/* The file can be written again: says there, and then in the log, how many
 * lines the file lacks. */
static bool log_gap(const struct audit *audit, int64_t wall_ms,
                    const char **why)
{
    const enum seqb_log_level level = SEQB_LOG_INFO;
    char name[WORD_SIZE];
    char line[LINE_SIZE];

    snprintf(line, sizeof line, "event=audit_written file=%s lost=%lld",
             log_quote(name, sizeof name, audit->file),
             (long long)audit->lost_lately);
    if (!file_append(audit->file, line, wall_ms, why))
        return false;
    log_event(level, "%s", line);
    return true;
}

static void failure_log(const struct audit *audit, const char *why)
{
    char name[WORD_SIZE];

    log_event(SEQB_LOG_WARN,
              "event=audit_failed file=%s reason=\"%s\" lost=%lld",
              log_quote(name, sizeof name, audit->file), why,
              (long long)audit->lost_lately);
}

/* With the lock held. */
static void file_write_locked(struct audit *audit, const char *line,
                              int64_t wall_ms)
{
    const char *why = NULL;

    if (audit->lost_lately > 0 && log_gap(audit, wall_ms, &why))
        audit->lost_lately = 0;
    if (audit->lost_lately == 0 &&
        file_append(audit->file, line, wall_ms, &why))
        return;
    audit->lost++;
    if (++audit->lost_lately == 1)
        failure_log(audit, why);
}

static void file_write(struct audit *audit, const char *line, int64_t wall_ms)
{
    if (audit->file == NULL)
        return;
    pthread_mutex_lock(&audit->lock);
    file_write_locked(audit, line, wall_ms);
    pthread_mutex_unlock(&audit->lock);
}

/* --- lines --- */

/* The texts of an entry, quoted as values of a log line. */
struct words {
    char user[WORD_SIZE], by[WORD_SIZE], from[WORD_SIZE], command[WORD_SIZE],
        target[WORD_SIZE], before[WORD_SIZE], after[WORD_SIZE],
        reason[REASON_SIZE];
};

static void word_quote(char out[WORD_SIZE], const char *text)
{
    (void)log_quote(out, WORD_SIZE, text != NULL ? text : "");
}

static void words_quote(const struct audit_entry *entry, struct words *out)
{
    word_quote(out->user, entry->user);
    word_quote(out->by, entry->by);
    word_quote(out->from, entry->from);
    word_quote(out->command, entry->command);
    word_quote(out->target, entry->target);
    word_quote(out->before, entry->before);
    word_quote(out->after, entry->after);
    (void)log_quote(out->reason, sizeof out->reason,
                    entry->reason != NULL ? entry->reason : "");
}

/* Whether the line is dropped, since it is over the rate limit. Otherwise sets
 * `*left_out` to the lines that were dropped before it. */
static bool is_too_much(struct audit_kind *kind, int64_t now_ms,
                        long long *left_out)
{
    if (!bucket_take(&kind->bucket, &allowed, 1, now_ms, NULL)) {
        kind->left_out++;
        return true;
    }
    *left_out = kind->left_out;
    kind->left_out = 0;
    return false;
}

/* Writes the line to the log and to the file. */
static void log_audited(struct audit *audit, enum seqb_log_level level,
                        struct audit_time time, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void log_audited(struct audit *audit, enum seqb_log_level level,
                        struct audit_time time, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log_certain(level, line);
    file_write(audit, line, time.wall_ms);
}

static void order_write(struct audit *audit, const struct audit_entry *entry,
                        struct audit_time time, long long left_out)
{
    struct words words;

    words_quote(entry, &words);
    log_audited(
        audit, SEQB_LOG_INFO, time,
        "event=order user=%s by=%s from=%s command=%s target=%s before=%s "
        "after=%s left_out=%lld",
        words.user, words.by, words.from, words.command, words.target,
        words.before, words.after, left_out);
}

void audit_order(struct audit *audit, const struct audit_entry *entry,
                 struct audit_time time)
{
    long long left_out;

    if (!is_too_much(&audit->orders_lines, time.now_ms, &left_out))
        order_write(audit, entry, time, left_out);
}

void audit_order_for_good(struct audit *audit, const struct audit_entry *entry,
                          struct audit_time time)
{
    const long long left_out = audit->orders_lines.left_out;

    audit->orders_lines.left_out = 0;
    order_write(audit, entry, time, left_out);
}

void audit_order_in_part(struct audit *audit, const struct audit_entry *entry,
                         struct audit_time time)
{
    struct words words;

    words_quote(entry, &words);
    log_audited(
        audit, SEQB_LOG_WARN, time,
        "event=order_in_part user=%s by=%s from=%s command=%s target=%s "
        "before=%s after=%s reason=%s",
        words.user, words.by, words.from, words.command, words.target,
        words.before, words.after, words.reason);
}

void audit_order_refused(struct audit *audit, const struct audit_entry *entry,
                         struct audit_time time)
{
    struct words words;
    long long left_out;

    if (is_too_much(&audit->orders_refused_lines, time.now_ms, &left_out))
        return;
    words_quote(entry, &words);
    log_audited(
        audit, SEQB_LOG_INFO, time,
        "event=order_refused user=%s by=%s from=%s command=%s target=%s "
        "reason=%s left_out=%lld",
        words.user, words.by, words.from, words.command, words.target,
        words.reason, left_out);
}

void audit_login_refused(struct audit *audit, const struct audit_entry *entry,
                         struct audit_time time)
{
    struct words words;
    long long left_out;

    audit->logins_refused++;
    if (is_too_much(&audit->logins_refused_lines, time.now_ms, &left_out))
        return;
    words_quote(entry, &words);
    log_audited(audit, SEQB_LOG_INFO, time,
                "event=login_refused user=%s from=%s command=%s reason=%s "
                "left_out=%lld",
                words.user, words.from, words.command, words.reason, left_out);
}

void audit_order_begun(struct audit *audit, const struct audit_entry *entry,
                       struct audit_time time)
{
    struct words words;

    words_quote(entry, &words);
    log_audited(audit, SEQB_LOG_INFO, time,
                "event=order_begun user=%s by=%s from=%s command=%s target=%s "
                "before=%s after=%s",
                words.user, words.by, words.from, words.command, words.target,
                words.before, words.after);
}

static void left_out_write(struct audit *audit, struct audit_kind *kind,
                           const char *name, struct audit_time time)
{
    if (kind->left_out > 0)
        log_audited(audit, SEQB_LOG_WARN, time,
                    "event=lines_left_out name=%s count=%lld", name,
                    (long long)kind->left_out);
    kind->left_out = 0;
}

void audit_end(struct audit *audit, int64_t wall_ms)
{
    const struct audit_time time = {.wall_ms = wall_ms};

    left_out_write(audit, &audit->orders_lines, "order", time);
    left_out_write(audit, &audit->orders_refused_lines, "order_refused", time);
    left_out_write(audit, &audit->logins_refused_lines, "login_refused", time);
    if (audit->lost_lately > 1)
        failure_log(audit, "it could not be written until the end");
}
