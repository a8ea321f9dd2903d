/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of events in docs/operations.md against the code: each event that
 * some line of src/ logs has a row with its levels and its fields, and each row
 * has an event. To be run in the top folder of the sources.
 */
#include <ctype.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/seqbroker.h>

#include "daemon/log/log.h"
#include "ha/events.h"
#include "platform/file.h"
#include "platform/text.h"
#include "support/test.h"

#define PAGE     "docs/operations.md"
#define HEADING  "| event | level | fields |"
#define FILE_MAX ((size_t)1 << 20)

enum { ROWS_MAX = 100, WORDS_MAX = 16, WORD_SIZE = 32, TEXT_SIZE = 1024 };

/* Words, in the order in which they were met. */
struct words {
    char word[WORDS_MAX][WORD_SIZE];
    size_t count;
};

/* An event, as the page or the code has it. */
struct row {
    char name[WORD_SIZE];
    struct words levels;
    struct words fields;
};

struct table {
    struct row rows[ROWS_MAX];
    size_t count;
};

static void words_add(struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->word[i], word) == 0)
            return;
    }
    assert_true(words->count < WORDS_MAX);
    assert_true(
        text_copy(words->word[words->count++], sizeof words->word[0], word));
}

static bool words_have(const struct words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->word[i], word) == 0)
            return true;
    }
    return false;
}

static struct row *table_find(struct table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    }
    return NULL;
}

static struct row *table_row(struct table *table, const char *name)
{
    struct row *row = table_find(table, name);

    if (row != NULL)
        return row;
    assert_true(table->count < ROWS_MAX);
    row = &table->rows[table->count++];
    assert_true(text_copy(row->name, sizeof row->name, name));
    return row;
}

static char *file_text(const char *path)
{
    struct seqb_error err;
    char *text;

    assert_done(file_read(path, FILE_MAX, &text, &err), err);
    return text;
}

static bool is_name(char c)
{
    return islower((unsigned char)c) || c == '_';
}

/* --- the page --- */

/* The names in a cell, which begins behind its bar. */
static void cell_read(const char *cell, struct words *out)
{
    const char *end = strchr(cell, '|');

    while (cell < end) {
        char word[WORD_SIZE];
        size_t length = 0;

        while (is_name(cell[length]))
            length++;
        if (length > 0) {
            (void)text_format(word, sizeof word, "%.*s", (int)length, cell);
            words_add(out, word);
        }
        cell += length + 1;
    }
}

static void page_row_read(const char *line, struct table *out)
{
    struct words name = {.count = 0};
    const char *cell = strchr(line, '|') + 1;
    struct row *row;

    cell_read(cell, &name);
    assert_int_equal(name.count, 1);
    if (table_find(out, name.word[0]) != NULL)
        fail_msg("%s has two rows of %s", PAGE, name.word[0]);
    row = table_row(out, name.word[0]);
    cell = strchr(cell, '|') + 1;
    cell_read(cell, &row->levels);
    cell = strchr(cell, '|') + 1;
    cell_read(cell, &row->fields);
}

static void page_read(struct table *out)
{
    char *page = file_text(PAGE);
    char *line = strstr(page, HEADING);

    assert_non_null(line);
    line = strchr(strchr(line, '\n') + 1, '\n') + 1; /* |---| follows it */
    for (; *line == '|'; line = strchr(line, '\n') + 1)
        page_row_read(line, out);
    free(page);
}

/* --- what is logged --- */

/* The keys of a line, or of a format that makes lines. A quoted value may hold
 * anything. */
static void keys_read(const char *line, struct words *out)
{
    bool is_quoted = false;

    for (const char *at = line; *at != '\0'; at++) {
        char word[WORD_SIZE];
        size_t length = 0;

        is_quoted ^= *at == '"';
        if (is_quoted || (at > line && at[-1] != ' '))
            continue;
        while (is_name(at[length]))
            length++;
        if (length == 0 || at[length] != '=')
            continue;
        (void)text_format(word, sizeof word, "%.*s", (int)length, at);
        if (strcmp(word, "event") != 0)
            words_add(out, word);
    }
}

/* --- events whose names are in an enum --- */

struct line {
    enum seqb_log_level level;
    char text[TEXT_SIZE];
};

static void line_keep(void *context, enum seqb_log_level level,
                      const char *text)
{
    struct line *line = context;

    line->level = level;
    (void)text_copy(line->text, sizeof line->text, text);
}

static const char *level_name(enum seqb_log_level level)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};

    return names[level];
}

static void line_note(const struct line *line, struct table *out)
{
    const char *name = strchr(line->text, '=') + 1;
    char word[WORD_SIZE];
    struct row *row;

    (void)text_format(word, sizeof word, "%.*s", (int)strcspn(name, " "), name);
    row = table_row(out, word);
    words_add(&row->levels, level_name(line->level));
    keys_read(line->text, &row->fields);
}

static bool is_of_a_counter(enum seqb_event_kind kind)
{
    return kind != SEQB_EVENT_STATE && kind != SEQB_EVENT_LESSOR_WAITS &&
           kind != SEQB_EVENT_LESSOR_LEVEL;
}

static void emit(struct seqb_event event, bool is_usual, bool is_ordered,
                 struct table *out)
{
    struct line line;

    event.pool = "main";
    event.backend = "a";
    event.reason = "";
    event.key = is_of_a_counter(event.kind) ? "order" : NULL;
    event.counter = event.kind == SEQB_EVENT_RAISED ? "order@7" : NULL;
    seqb_set_logger(line_keep, &line);
    if (is_usual) {
        events_emit(NULL, &event);
        line_note(&line, out);
    }
    if (is_ordered) {
        events_emit_info(NULL, &event);
        line_note(&line, out);
    }
    seqb_set_logger(NULL, NULL);
}

/* A partition is drained by an order only; of "starting" and "probing" no
 * change is logged. */
static void emit_states(struct table *out)
{
    for (int to = SEQB_PARTITION_UP; to <= SEQB_PARTITION_POISONED; to++) {
        if (to != SEQB_PARTITION_PROBING)
            emit((struct seqb_event){.kind = SEQB_EVENT_STATE,
                                     .to = (enum seqb_partition_state)to},
                 to != SEQB_PARTITION_DRAINED,
                 to == SEQB_PARTITION_DRAINED ||
                     to == SEQB_PARTITION_QUARANTINED,
                 out);
    }
}

static void emit_kinds(struct table *out)
{
    for (int kind = 1; kind <= SEQB_EVENT_LESSOR_LEVEL; kind++)
        emit((struct seqb_event){.kind = (enum seqb_event_kind)kind}, true,
             kind == SEQB_EVENT_RAISED, out);
}

/* --- events whose names are in a call --- */

/* The contents of the literals up to the end of the statement; what stands
 * between them is a value. */
static void format_read(const char *at, char *out, size_t size)
{
    bool is_literal = true;

    out[0] = '\0';
    for (; is_literal || *at != ';'; at++) {
        assert_true(*at != '\0');
        if (*at == '\\' && is_literal)
            (void)text_append(out, size, "%c", *++at);
        else if (*at == '"')
            is_literal = !is_literal;
        else if (is_literal)
            (void)text_append(out, size, "%c", *at);
    }
}

/* The call that `at` stands in: log_line, log_reason, log_write. */
static const char *call_of(const char *text, const char *at)
{
    while (at > text && strncmp(at, "log_", 4) != 0)
        at--;
    return at;
}

/* A level that is passed on is one of two, which the page has to name. */
static void levels_read(const char *call, const char *at, struct row *row)
{
    static const char *const names[] = {"ERROR", "WARN", "INFO", "DEBUG"};
    const char *level = strstr(call, "SEQB_LOG_");

    if (level == NULL || level > at) {
        words_add(&row->levels, "warn");
        words_add(&row->levels, "info");
        return;
    }
    level += strlen("SEQB_LOG_");
    for (int i = SEQB_LOG_ERROR; i <= SEQB_LOG_DEBUG; i++) {
        if (strncmp(level, names[i], strlen(names[i])) == 0)
            words_add(&row->levels, level_name((enum seqb_log_level)i));
    }
}

static void source_read(const char *path, struct table *out)
{
    static const char mark[] = "\"event=";
    char *text = file_text(path);

    for (const char *at = text; (at = strstr(at, mark)) != NULL;) {
        const char *call = call_of(text, at);
        char format[TEXT_SIZE];
        char name[WORD_SIZE];
        size_t length = 0;
        struct row *row;

        at += strlen(mark);
        while (is_name(at[length]))
            length++;
        if (length == 0)
            continue; /* "event=%s": of an enum */
        (void)text_format(name, sizeof name, "%.*s", (int)length, at);
        row = table_row(out, name);
        levels_read(call, at, row);
        format_read(at, format, sizeof format);
        keys_read(format, &row->fields);
        if (strncmp(call, "log_reason", strlen("log_reason")) == 0)
            words_add(&row->fields, "reason");
    }
    free(text);
}

static void sources_read(struct table *out)
{
    char folder[] = "src";
    char *const folders[] = {folder, NULL};
    FTS *tree = fts_open(folders, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    const FTSENT *file;

    assert_non_null(tree);
    while ((file = fts_read(tree)) != NULL) {
        const char *end = file->fts_name + strlen(file->fts_name);

        if (file->fts_info == FTS_F && file->fts_namelen > 2 &&
            strcmp(end - 2, ".c") == 0)
            source_read(file->fts_path, out);
    }
    fts_close(tree);
}

/* --- the comparison --- */

static int words_compare(const struct row *row, const char *what,
                         const struct words *code, const struct words *page)
{
    int differences = 0;

    for (size_t i = 0; i < code->count; i++) {
        if (!words_have(page, code->word[i])) {
            print_message("%s: %s of %s is not in the page\n", row->name, what,
                          code->word[i]);
            differences++;
        }
    }
    for (size_t i = 0; i < page->count; i++) {
        if (!words_have(code, page->word[i])) {
            print_message("%s: %s of %s is in the page only\n", row->name, what,
                          page->word[i]);
            differences++;
        }
    }
    return differences;
}

TEST(page_has_the_events_of_the_code_with_their_levels_and_fields)
{
    static struct table page;
    static struct table code;
    int differences = 0;

    page_read(&page);
    emit_states(&code);
    emit_kinds(&code);
    sources_read(&code);
    assert_true(code.count > 30);
    assert_true(code.count <= LOG_EVENTS_MAX); /* /metrics has all of them */
    for (size_t i = 0; i < code.count; i++) {
        const struct row *row = &code.rows[i];
        const struct row *told = table_find(&page, row->name);

        if (told == NULL) {
            print_message("%s is not in the page\n", row->name);
            differences++;
            continue;
        }
        differences +=
            words_compare(row, "the level", &row->levels, &told->levels) +
            words_compare(row, "the field", &row->fields, &told->fields);
    }
    for (size_t i = 0; i < page.count; i++) {
        if (table_find(&code, page.rows[i].name) == NULL) {
            print_message("%s is in the page only\n", page.rows[i].name);
            differences++;
        }
    }
    assert_int_equal(differences, 0);
}
