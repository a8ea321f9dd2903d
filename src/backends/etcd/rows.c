/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are read together, and written if none of them changed. */
#include "backends/etcd/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

#define TXN_PATH "/v3/kv/txn"

/* --- requests --- */

static void key_put(struct etcd_text *body, const char *key)
{
    etcd_text_put(body, "\"key\":\"");
    etcd_text_encode(body, key, strlen(key));
    etcd_text_put(body, "\"");
}

static bool key_make(const struct etcd *etcd, const char *kind,
                     const char *name, char out[static ETCD_KEY_SIZE])
{
    return text_format(out, ETCD_KEY_SIZE, "%s/%s%s", etcd->prefix, kind, name);
}

void etcd_rows_begin(struct etcd *etcd)
{
    etcd->count = 0;
    etcd->texts_used = 0;
    (void)etcd_rows_add(etcd, ETCD_RUN, "");
}

bool etcd_rows_add(struct etcd *etcd, const char *kind, const char *name)
{
    struct etcd_row *row = &etcd->rows[etcd->count];

    if (etcd->count >= ETCD_ROWS_MAX || !key_make(etcd, kind, name, row->key))
        return false;
    row->text = NULL;
    row->revision = 0;
    row->is_recalled = false;
    etcd->count++;
    return true;
}

static void row_ask(struct etcd_text *body, const struct etcd_row *row)
{
    etcd_text_put(body, "{\"request_range\":{");
    key_put(body, row->key);
    etcd_text_put(body, "}}");
}

/* --- answers --- */

/* Reserves memory for all texts of an answer, which are shorter than its
 * base64. */
static bool texts_reserve(struct etcd *etcd, size_t size)
{
    char *texts;

    etcd->texts_used = 0;
    if (size <= etcd->texts_size)
        return true;
    texts = realloc(etcd->texts, size);
    if (texts == NULL)
        return false;
    etcd->texts = texts;
    etcd->texts_size = size;
    return true;
}

static const char *text_of(const json_t *kv, const char *member)
{
    return json_string_value(json_object_get(kv, member));
}

static bool row_fill(struct etcd *etcd, struct etcd_row *row, const json_t *kv)
{
    const char *base64 = text_of(kv, "value");
    char *text = etcd->texts + etcd->texts_used;
    char key[ETCD_KEY_SIZE];

    if (text_of(kv, "key") == NULL ||
        !etcd_text_decode(text_of(kv, "key"), key, sizeof key) ||
        strcmp(key, row->key) != 0 ||
        !etcd_number_read(kv, "mod_revision", &row->revision) ||
        row->revision < 1)
        return false;
    /* A value that is not one of our texts is read as empty, which counts as
     * damaged. */
    if (base64 == NULL ||
        !etcd_text_decode(base64, text, etcd->texts_size - etcd->texts_used))
        text[0] = '\0';
    row->text = text;
    etcd->texts_used += strlen(text) + 1;
    return true;
}

/* The answer to a range of one key: its row or none. */
static bool row_receive(struct etcd *etcd, struct etcd_row *row,
                        const json_t *response)
{
    const json_t *range = json_object_get(response, "response_range");
    const json_t *kvs = json_object_get(range, "kvs");
    int64_t count;

    row->text = NULL;
    row->revision = 0;
    if (!json_is_object(range) || !etcd_number_read(range, "count", &count) ||
        count != (int64_t)json_array_size(kvs) || count > 1)
        return false;
    return count == 0 || row_fill(etcd, row, json_array_get(kvs, 0));
}

/* Reads the answers to the ranges of the rows, and to `more` others. */
static bool rows_receive(struct etcd *etcd, const json_t *answer, size_t more)
{
    const json_t *responses = json_object_get(answer, "responses");

    if (!json_is_true(json_object_get(answer, "succeeded")) ||
        json_array_size(responses) != etcd->count + more)
        return false;
    for (size_t i = 0; i < etcd->count; i++) {
        if (!row_receive(etcd, &etcd->rows[i], json_array_get(responses, i)))
            return false;
    }
    return true;
}

/* Sends the transaction in the body, and reads the rows. */
static enum seqb_status rows_ask(struct etcd *etcd, size_t more, json_t **out,
                                 struct seqb_error *err)
{
    enum seqb_status status =
        etcd_link_ask(&etcd->link, ETCD_READ, TXN_PATH, out, err);

    if (status != SEQB_OK)
        return status;
    if (!texts_reserve(etcd, etcd->link.http.answer.length + etcd->count + 1))
        status = error_set(err, SEQB_NO_MEMORY, "%s: out of memory",
                           etcd->link.where);
    else if (!rows_receive(etcd, *out, more))
        status = etcd_link_distrust(&etcd->link, ETCD_READ,
                                    "the answer to a read", err);
    if (status != SEQB_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

static void rows_add_ranges(struct etcd *etcd)
{
    struct etcd_text *body = &etcd->link.body;

    etcd_text_clear(body);
    etcd_text_put(body, "{\"success\":[");
    for (size_t i = 0; i < etcd->count; i++) {
        if (i > 0)
            etcd_text_put(body, ",");
        row_ask(body, &etcd->rows[i]);
    }
}

enum seqb_status etcd_rows_read(struct etcd *etcd, struct seqb_error *err)
{
    json_t *answer = NULL;
    enum seqb_status status;

    rows_add_ranges(etcd);
    etcd_text_put(&etcd->link.body, "]}");
    status = rows_ask(etcd, 0, &answer, err);
    json_decref(answer);
    return status;
}

bool etcd_rows_recall(struct etcd *etcd)
{
    etcd_rows_begin(etcd);
    if (!texts_reserve(etcd, (size_t)ETCD_ROWS_MAX * ETCD_VALUE_SIZE))
        return false;
    etcd->rows[0].text = etcd->run;
    etcd->rows[0].is_recalled = true;
    (void)etcd_rows_add(etcd, ETCD_COUNTER, SQL_BASE);
    etcd->rows[1].revision = etcd->known.base_revision;
    return true;
}

bool etcd_rows_recall_counter(struct etcd *etcd, const char *name,
                              int64_t value, const char *origin)
{
    char *text = etcd->texts + etcd->count * ETCD_VALUE_SIZE;
    struct etcd_row *row = &etcd->rows[etcd->count];

    if (!etcd_rows_add(etcd, ETCD_COUNTER, name) ||
        !text_format(text, ETCD_VALUE_SIZE, "%" PRId64 " %s", value, origin))
        return false;
    row->text = text;
    row->is_recalled = true;
    return true;
}

const char *etcd_run_now(const struct etcd *etcd)
{
    const char *run = etcd->rows[0].text;
    const char *end = run != NULL ? strchr(run, '.') : NULL;
    int64_t term;

    if (end == NULL || !text_to_int64(run, (size_t)(end - run), &term) ||
        term != etcd->link.term || strlen(run) >= SEQB_INCARNATION_SIZE)
        return "";
    return run;
}

enum seqb_status etcd_run_check(const struct etcd *etcd, struct seqb_error *err)
{
    if (strcmp(etcd_run_now(etcd), etcd->run) == 0)
        return SEQB_OK;
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: the cluster elected a leader since it was opened, or "
                     "its data was put back: open it again",
                     etcd->link.where);
}

/* --- writing --- */

/* A missing row equals no text. */
static void compare_text_put(struct etcd_text *body, const struct etcd_row *row)
{
    etcd_text_put(body, "{\"target\":\"VALUE\",\"result\":\"EQUAL\",");
    key_put(body, row->key);
    etcd_text_put(body, ",\"value\":\"");
    etcd_text_encode(body, row->text, strlen(row->text));
    etcd_text_put(body, "\"}");
}

static void compare_put(struct etcd_text *body, const struct etcd_row *row)
{
    char words[64];

    if (row->is_recalled) {
        compare_text_put(body, row);
        return;
    }
    etcd_text_put(body, "{\"target\":\"MOD\",\"result\":\"EQUAL\",");
    key_put(body, row->key);
    (void)text_format(words, sizeof words, ",\"mod_revision\":\"%" PRId64 "\"}",
                      row->revision);
    etcd_text_put(body, words);
}

/* Adds the comparisons, so that nothing is written unless all rows are
 * unchanged. */
static void compares_put(struct etcd *etcd)
{
    struct etcd_text *body = &etcd->link.body;

    etcd_text_put(body, "{\"compare\":[");
    for (size_t i = 0; i < etcd->count; i++) {
        if (i > 0)
            etcd_text_put(body, ",");
        compare_put(body, &etcd->rows[i]);
    }
    etcd_text_put(body, "],\"success\":[");
}

void etcd_write_begin(struct etcd *etcd)
{
    etcd_text_clear(&etcd->link.body);
    compares_put(etcd);
}

void etcd_write_put(struct etcd *etcd, const char *kind, const char *name,
                    const char *text)
{
    struct etcd_text *body = &etcd->link.body;
    char key[ETCD_KEY_SIZE];

    if (!key_make(etcd, kind, name, key))
        body->has_failed = true;
    if (body->length > 0 && body->data[body->length - 1] == '}')
        etcd_text_put(body, ",");
    etcd_text_put(body, "{\"request_put\":{");
    key_put(body, key);
    etcd_text_put(body, ",\"value\":\"");
    etcd_text_encode(body, text, strlen(text));
    etcd_text_put(body, "\"}}");
}

/* Sends the write in the body. `*out`, if it was carried out, belongs to the
 * caller. */
static enum seqb_status write_send(struct etcd *etcd, json_t **out,
                                   struct seqb_error *err)
{
    const int64_t term = etcd->link.term;
    json_t *answer = NULL;
    enum seqb_status status =
        etcd_link_ask(&etcd->link, ETCD_WRITE, TXN_PATH, &answer, err);
    const json_t *done = json_object_get(answer, "succeeded");

    if (status != SEQB_OK)
        return status;
    if (done == NULL || json_is_false(done))
        status = error_set(err, SEQB_AGAIN, "%s: another broker was faster",
                           etcd->link.where);
    else if (!json_is_true(done))
        status = etcd_link_distrust(&etcd->link, ETCD_WRITE,
                                    "the answer to a write", err);
    else if (etcd->link.term != term)
        status = error_set(err, SEQB_UNCERTAIN,
                           "%s: the cluster elected a leader meanwhile",
                           etcd->link.where);
    if (status == SEQB_OK)
        *out = answer;
    else
        json_decref(answer);
    return status;
}

enum seqb_status etcd_write_end(struct etcd *etcd, struct seqb_error *err)
{
    json_t *answer = NULL;
    enum seqb_status status;

    etcd_text_put(&etcd->link.body, "]}");
    status = write_send(etcd, &answer, err);
    json_decref(answer);
    return status;
}

enum seqb_status etcd_write_entry(struct etcd *etcd, struct seqb_error *err)
{
    struct etcd_text *body = &etcd->link.body;
    json_t *answer = NULL;
    enum seqb_status status;

    etcd_text_clear(body);
    etcd_text_put(body, "{\"success\":[");
    etcd_write_put(etcd, ETCD_ENTRY, "", "");
    etcd_text_put(body, "]}");
    status = etcd_link_ask(&etcd->link, ETCD_READ, TXN_PATH, &answer, err);
    json_decref(answer);
    return status;
}

/* --- ranges --- */

static bool range_put(struct etcd *etcd, const struct etcd_range *range)
{
    struct etcd_text *body = &etcd->link.body;
    char from[ETCD_KEY_SIZE];
    char to[ETCD_KEY_SIZE];
    const bool fits =
        key_make(etcd, range->kind, range->from, from) &&
        (range->to != NULL ? key_make(etcd, range->kind, range->to, to)
                           : text_format(to, sizeof to, "%s0", etcd->prefix));

    key_put(body, from);
    etcd_text_put(body, ",\"range_end\":\"");
    etcd_text_encode(body, to, strlen(to));
    etcd_text_put(body, "\"");
    return fits;
}

enum seqb_status etcd_range_read(struct etcd *etcd, struct etcd_range *range,
                                 struct seqb_error *err)
{
    struct etcd_text *body = &etcd->link.body;
    char words[64];
    const json_t *response;
    enum seqb_status status;

    range->answer = NULL;
    range->kvs = NULL;
    etcd_rows_begin(etcd);
    rows_add_ranges(etcd);
    etcd_text_put(body, ",{\"request_range\":{");
    if (!range_put(etcd, range))
        return error_set(err, SEQB_INVALID, "%s: the name %.64s... is too long",
                         etcd->link.where, range->from);
    (void)text_format(words, sizeof words, ",\"limit\":\"%" PRId64 "\"}}]}",
                      range->limit);
    etcd_text_put(body, words);
    status = rows_ask(etcd, 1, &range->answer, err);
    if (status != SEQB_OK)
        return status;
    response = json_array_get(json_object_get(range->answer, "responses"), 1);
    response = json_object_get(response, "response_range");
    range->kvs = json_object_get(response, "kvs");
    if (json_is_object(response) &&
        (int64_t)json_array_size(range->kvs) <= range->limit)
        return SEQB_OK;
    json_decref(range->answer);
    range->answer = NULL;
    return etcd_link_distrust(&etcd->link, ETCD_READ, "a range", err);
}

bool etcd_range_row(const struct etcd *etcd, const struct etcd_range *range,
                    size_t i, char name[static SEQB_COUNTER_SIZE],
                    char text[static ETCD_VALUE_SIZE])
{
    const json_t *kv = json_array_get(range->kvs, i);
    const char *base64 = text_of(kv, "value");
    char begin[ETCD_KEY_SIZE];
    char key[ETCD_KEY_SIZE];

    if (text_of(kv, "key") == NULL ||
        !etcd_text_decode(text_of(kv, "key"), key, sizeof key) ||
        !key_make(etcd, range->kind, "", begin) ||
        strncmp(key, begin, strlen(begin)) != 0)
        return false;
    if (base64 == NULL || !etcd_text_decode(base64, text, ETCD_VALUE_SIZE))
        text[0] = '\0';
    return text_copy(name, SEQB_COUNTER_SIZE, key + strlen(begin));
}

enum seqb_status etcd_range_delete(struct etcd *etcd,
                                   const struct etcd_range *range,
                                   int64_t *deleted, struct seqb_error *err)
{
    json_t *answer = NULL;
    const json_t *response;
    enum seqb_status status;
    bool is_sane;

    etcd_write_begin(etcd);
    etcd_text_put(&etcd->link.body, "{\"request_delete_range\":{");
    if (!range_put(etcd, range))
        return error_set(err, SEQB_INVALID, "%s: the name %.64s... is too long",
                         etcd->link.where, range->from);
    etcd_text_put(&etcd->link.body, "}}]}");
    status = write_send(etcd, &answer, err);
    if (status != SEQB_OK)
        return status;
    response = json_array_get(json_object_get(answer, "responses"), 0);
    response = json_object_get(response, "response_delete_range");
    is_sane = json_is_object(response) &&
              etcd_number_read(response, "deleted", deleted);
    json_decref(answer);
    return is_sane ? SEQB_OK
                   : etcd_link_distrust(&etcd->link, ETCD_WRITE,
                                        "the answer to a removal", err);
}

/* --- values --- */

int64_t etcd_value_read(const char *text, const char **rest)
{
    const char *end = strchr(text, ' ');
    int64_t value;

    *rest = NULL;
    if (end == NULL || !text_to_int64(text, (size_t)(end - text), &value))
        return -1;
    *rest = end + 1;
    return value;
}
