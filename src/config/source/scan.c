/* SPDX-License-Identifier: Apache-2.0 */
/* A lexer that knows just enough of libconfig's syntax: strings, comments,
 * names, integers and includes. */
#include "config/source/source.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/source/shape.h"
#include "platform/text.h"

#define DEPTH_MAX 10 /* nesting of includes */
#define INCLUDE   "@include"

/* The state of scanning one file. */
struct scan {
    struct source *source;
    const char *at;
    const char *file;
    int line;
    int depth;
    bool is_ok;
    /* `shapes` holds groups that the scan copied unchanged. The others describe
     * the current outermost group: where it begins in the file and in the
     * source, and how many braces are open. */
    struct shapes shapes;
    const char *group;
    size_t group_at;
    int braces;
};

/* An integer in the text. */
struct integer {
    size_t length;   /* without its suffix */
    bool fits_int32; /* libconfig reads it right without the suffix 'L' */
    bool fits_int64;
};

static void *grown(struct source *source, void *array, size_t *capacity,
                   size_t size)
{
    const size_t wanted = *capacity == 0 ? 256 : *capacity * 2;
    void *larger = realloc(array, wanted * size);

    if (larger == NULL)
        source->arena->is_out_of_memory = true;
    else
        *capacity = wanted;
    return larger;
}

static void line_begin(struct source *source, const char *file, int line)
{
    if (source->line_count == source->line_capacity) {
        void *larger = grown(source, source->lines, &source->line_capacity,
                             sizeof *source->lines);

        if (larger == NULL)
            return;
        source->lines = larger;
    }
    source->lines[source->line_count].file = file;
    source->lines[source->line_count].line = line;
    source->line_count++;
}

/* There is always room for the terminating 0. */
static void emit(struct source *source, char c)
{
    if (source->length + 1 >= source->capacity) {
        void *larger = grown(source, source->text, &source->capacity, 1);

        if (larger == NULL)
            return;
        source->text = larger;
    }
    source->text[source->length++] = c;
    source->text[source->length] = '\0';
}

/* Copies `count` characters of one line. */
static void take_run(struct scan *scan, size_t count)
{
    struct source *source = scan->source;
    const char *from = scan->at;

    scan->at += count;
    while (source->length + count >= source->capacity) {
        void *larger = grown(source, source->text, &source->capacity, 1);

        if (larger == NULL)
            return;
        source->text = larger;
    }
    memcpy(source->text + source->length, from, count);
    source->length += count;
    source->text[source->length] = '\0';
}

/* Skips one character and writes `c` instead. A newline stays a newline. */
static void take(struct scan *scan, char c)
{
    const bool is_newline = *scan->at == '\n';

    scan->at++;
    if (is_newline)
        c = '\n';
    emit(scan->source, c);
    if (is_newline)
        line_begin(scan->source, scan->file, ++scan->line);
}

static void take_many(struct scan *scan, size_t count)
{
    while (count-- > 0)
        take(scan, *scan->at);
}

/* Copies up to `end`, which may be on a later line. */
static void take_lines(struct scan *scan, const char *end)
{
    while (scan->at < end) {
        const char *newline = memchr(scan->at, '\n', (size_t)(end - scan->at));

        take_run(scan, (size_t)((newline != NULL ? newline : end) - scan->at));
        if (newline != NULL)
            take(scan, '\n');
    }
}

static int here(const struct scan *scan)
{
    return (int)scan->source->line_count;
}

static void scan_string(struct scan *scan)
{
    const int start = here(scan);

    take(scan, '"');
    while (*scan->at != '\0' && *scan->at != '"') {
        const bool is_escape = scan->at[0] == '\\' && scan->at[1] != '\0';

        take_many(scan, is_escape ? 2 : 1);
        take_run(scan, strcspn(scan->at, "\\\"\n"));
    }
    if (*scan->at == '"') {
        take(scan, '"');
        return;
    }
    scan->is_ok = false;
    diagnostics_add(scan->source->diagnostics, start,
                    "the text that begins here has no closing quote");
}

static void scan_line_comment(struct scan *scan)
{
    while (*scan->at != '\0' && *scan->at != '\n')
        take(scan, ' ');
}

static void scan_block_comment(struct scan *scan)
{
    const int start = here(scan);
    const char *end = strstr(scan->at + 2, "*/");

    if (end == NULL) {
        scan->is_ok = false;
        scan->at += strlen(scan->at);
        diagnostics_add(scan->source->diagnostics, start,
                        "the comment that begins here has no */");
        return;
    }
    while (scan->at < end + 2)
        take(scan, ' ');
}

static struct integer integer_of_hex(const char *text)
{
    const size_t digits = strspn(text + 2, "0123456789abcdefABCDEF");
    const size_t zeros = strspn(text + 2, "0");
    const size_t used = digits > zeros ? digits - zeros : 0;
    struct integer integer = {.length = 2 + digits};
    /* The first significant digit must not set the sign bit. */
    const bool is_low = used == 0 || strchr("1234567", text[2 + zeros]);

    integer.fits_int32 = used < 8 || (used == 8 && is_low);
    integer.fits_int64 = used < 16 || (used == 16 && is_low);
    return integer;
}

static struct integer integer_of_decimal(const char *text)
{
    const size_t sign = *text == '+' || *text == '-';
    const size_t digits = strspn(text + sign, "0123456789");
    const size_t skipped = *text == '+';
    struct integer integer = {.length = sign + digits};
    int64_t value = 0;

    integer.fits_int64 =
        text_to_int64(text + skipped, integer.length - skipped, &value);
    integer.fits_int32 =
        integer.fits_int64 && value >= INT32_MIN && value <= INT32_MAX;
    return integer;
}

static bool is_hex(const char *text)
{
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
           isxdigit((unsigned char)text[2]);
}

static void scan_integer(struct scan *scan)
{
    const char *start = scan->at;
    const struct integer integer =
        is_hex(start) ? integer_of_hex(start) : integer_of_decimal(start);

    if (!integer.fits_int64) {
        scan->is_ok = false;
        /* The number is not shown: it may be a password without its quotes. */
        diagnostics_add(scan->source->diagnostics, here(scan),
                        "a number of %zu characters does not fit in 64 bits",
                        integer.length);
    }
    take_many(scan, integer.length);
    if (!integer.fits_int32 && *scan->at != 'L')
        emit(scan->source, 'L');
}

/* No setting is a fraction. It is copied unchanged, and refused later, together
 * with the name of its setting. */
static bool scan_fraction(struct scan *scan)
{
    const size_t sign = *scan->at == '+' || *scan->at == '-';
    const size_t whole = sign + strspn(scan->at + sign, "0123456789");

    if (scan->at[whole] != '.')
        return false;
    take_many(scan, whole + 1);
    take_many(scan, strspn(scan->at, "0123456789"));
    return true;
}

static bool is_number_start(const char *at)
{
    if (*at == '+' || *at == '-')
        at++;
    return isdigit((unsigned char)*at) || *at == '.';
}

static size_t name_length(const char *at)
{
    size_t length = 1;

    while (source_is_letter(at[length]))
        length++;
    return length;
}

/* A group that differs only in its key from one that was copied unchanged is
 * copied unchanged, too. */
static void scan_open(struct scan *scan)
{
    struct group known;

    if (scan->braces == 0 &&
        shapes_find(&scan->shapes, scan->at, &known) != NULL) {
        take_lines(scan, known.end);
        return;
    }
    if (scan->braces++ == 0) {
        scan->group = scan->at;
        scan->group_at = scan->source->length;
    }
    take(scan, '{');
}

/* Whether the group was copied unchanged: it had no comment, no include, and no
 * integer that needs a suffix. */
static bool is_unchanged(const struct scan *scan)
{
    const struct source *source = scan->source;
    const size_t length = (size_t)(scan->at - scan->group);

    return source->length == scan->group_at + length &&
           memcmp(source->text + scan->group_at, scan->group, length) == 0;
}

static void scan_close(struct scan *scan)
{
    struct group group;

    take(scan, '}');
    if (scan->braces == 0 || --scan->braces > 0 ||
        scan->shapes.count == SHAPES_MAX || !scan->is_ok || !is_unchanged(scan))
        return;
    if (group_read(scan->group, "key", &group) && group.end == scan->at)
        shapes_add(&scan->shapes, &group);
}

static void scan_token(struct scan *scan)
{
    const char *at = scan->at;

    if (*at == ' ')
        take_run(scan, strspn(at, " "));
    else if (*at == '{')
        scan_open(scan);
    else if (*at == '}')
        scan_close(scan);
    else if (*at == '"')
        scan_string(scan);
    else if (*at == '#' || (at[0] == '/' && at[1] == '/'))
        scan_line_comment(scan);
    else if (at[0] == '/' && at[1] == '*')
        scan_block_comment(scan);
    else if (isalpha((unsigned char)*at) || *at == '*')
        take_run(scan, name_length(at));
    else if (!is_number_start(at))
        take(scan, *at);
    else if (!scan_fraction(scan))
        scan_integer(scan);
}

/* The length up to and including the quote that opens the name of an included
 * file; 0 if the line is not an include. Like libconfig, it accepts an include
 * only at the start of a line. */
static size_t include_length(const char *line)
{
    const size_t before = strspn(line, " \t");
    const size_t word = sizeof INCLUDE - 1;
    size_t after;

    if (strncmp(line + before, INCLUDE, word) != 0)
        return 0;
    after = strspn(line + before + word, " \t");
    if (after == 0 || line[before + word + after] != '"')
        return 0;
    return before + word + after + 1;
}

/* The path of the included file, relative to the folder of the including
 * file. */
static const char *include_path(struct scan *scan, const char *name,
                                size_t length)
{
    const char *slash = strrchr(scan->file, '/');
    const size_t folder =
        slash == NULL || *name == '/' ? 0 : (size_t)(slash - scan->file) + 1;

    return arena_format(scan->source->arena, "%.*s%.*s", (int)folder,
                        scan->file, (int)length, name);
}

static bool scan_file(struct source *source, const char *text, const char *file,
                      int depth);

static bool scan_included(struct scan *scan, const char *path)
{
    struct source *source = scan->source;
    struct seqb_error error;
    char *text;
    bool is_ok;

    if (source->read == NULL) {
        diagnostics_add(source->diagnostics, here(scan),
                        "a text in memory cannot include %s", path);
        return false;
    }
    if (scan->depth == DEPTH_MAX) {
        source->is_given_up = true;
        diagnostics_add(
            source->diagnostics, here(scan),
            "includes are more than %d deep: does %s include itself?",
            DEPTH_MAX, path);
        return false;
    }
    if (source->read(path, &text, &error) != SEQB_OK) {
        diagnostics_add(source->diagnostics, here(scan), "%s", error.text);
        return false;
    }
    is_ok = scan_file(source, text, path, scan->depth + 1);
    free(text);
    return is_ok;
}

static void scan_include(struct scan *scan, size_t prefix)
{
    const char *name = scan->at + prefix;
    const size_t length = strcspn(name, "\"\n");
    const char *path;

    if (name[length] != '"') {
        scan->is_ok = false;
        scan->at = name + length;
        diagnostics_add(scan->source->diagnostics, here(scan),
                        "the name of the included file has no closing quote");
        return;
    }
    path = include_path(scan, name, length);
    scan->at = name + length + 1;
    if (path == NULL || !scan_included(scan, path)) {
        scan->is_ok = false;
        return;
    }
    emit(scan->source, '\n');
    line_begin(scan->source, scan->file, scan->line);
}

static bool scan_file(struct source *source, const char *text, const char *file,
                      int depth)
{
    struct scan scan = {.source = source,
                        .at = text,
                        .file = file,
                        .line = 1,
                        .depth = depth,
                        .is_ok = true};

    if (depth > 0)
        emit(source, '\n');
    line_begin(source, file, 1);
    source->taken += strlen(text);
    if (source->taken > SCAN_SIZE_MAX) {
        source->is_given_up = true;
        diagnostics_add(source->diagnostics, here(&scan),
                        "the topology is larger than %d bytes", SCAN_SIZE_MAX);
        return false;
    }
    while (*scan.at != '\0' && !source->is_given_up) {
        const bool is_line_start = scan.at == text || scan.at[-1] == '\n';
        const size_t include = is_line_start ? include_length(scan.at) : 0;

        if (include > 0)
            scan_include(&scan, include);
        else
            scan_token(&scan);
    }
    return scan.is_ok;
}

bool scan_text(struct source *source, const char *text, const char *file)
{
    const bool is_ok = scan_file(source, text, file, 0);

    emit(source, '\n'); /* so that an empty topology is a text, too */
    return is_ok;
}

struct source_line source_line_at(const struct source *source, int line)
{
    const struct source_line unknown = {"", 0};

    if (source->line_count == 0)
        return unknown;
    if (line < 1)
        line = 1;
    if ((size_t)line > source->line_count)
        line = (int)source->line_count;
    return source->lines[line - 1];
}

void source_free(struct source *source)
{
    free(source->text);
    free(source->lines);
}
