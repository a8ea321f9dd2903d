/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are read together, and written if none of them changed. */
#include "backends/etcd/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/name.h"
#include "platform/error.h"
#include "platform/text.h"

static const struct etcd_method txn = {"/etcdserverpb.KV/Txn",
                                       &etcd__txn_response__descriptor};

/* --- requests --- */

static ProtobufCBinaryData bytes_of(const char *text)
{
    return (ProtobufCBinaryData){.len = strlen(text),
                                 .data = (uint8_t *)(uintptr_t)text};
}

/* Adds what is to be done if all comparisons hold. */
static void operation_put(struct etcd *etcd, Etcd__RequestOp *operation)
{
    Etcd__TxnRequest request = ETCD__TXN_REQUEST__INIT;

    request.n_success = 1;
    request.success = &operation;
    etcd_link_add(&etcd->link, &request.base);
}

static void range_put(struct etcd *etcd, Etcd__RangeRequest *range)
{
    Etcd__RequestOp operation = ETCD__REQUEST_OP__INIT;

    operation.request_case = ETCD__REQUEST_OP__REQUEST_REQUEST_RANGE;
    operation.request_range = range;
    operation_put(etcd, &operation);
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

static void rows_ask_all(struct etcd *etcd)
{
    etcd_buffer_clear(&etcd->link.body);
    for (size_t i = 0; i < etcd->count; i++) {
        Etcd__RangeRequest range = ETCD__RANGE_REQUEST__INIT;

        range.key = bytes_of(etcd->rows[i].key);
        range_put(etcd, &range);
    }
}

/* --- answers --- */

/* Reserves memory for all texts of an answer. */
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

/* Copies bytes as a text. False if they do not fit, or are none. */
static bool text_of(const ProtobufCBinaryData *bytes, char *out, size_t size)
{
    if (bytes->len >= size || bytes->data == NULL ||
        memchr(bytes->data, '\0', bytes->len) != NULL)
        return false;
    memcpy(out, bytes->data, bytes->len);
    out[bytes->len] = '\0';
    return true;
}

static bool row_fill(struct etcd *etcd, struct etcd_row *row,
                     const Etcd__KeyValue *kv)
{
    char *text = etcd->texts + etcd->texts_used;
    char key[ETCD_KEY_SIZE];

    if (!text_of(&kv->key, key, sizeof key) || strcmp(key, row->key) != 0 ||
        kv->mod_revision < 1)
        return false;
    row->revision = kv->mod_revision;
    /* A value that is not one of our texts is read as empty, which counts as
     * damaged. */
    if (!text_of(&kv->value, text, etcd->texts_size - etcd->texts_used))
        text[0] = '\0';
    row->text = text;
    etcd->texts_used += strlen(text) + 1;
    return true;
}

static const Etcd__RangeResponse *range_of(const Etcd__ResponseOp *response)
{
    return response->response_case == ETCD__RESPONSE_OP__RESPONSE_RESPONSE_RANGE
               ? response->response_range
               : NULL;
}

/* The answer to a range of one key: its row or none. */
static bool row_receive(struct etcd *etcd, struct etcd_row *row,
                        const Etcd__ResponseOp *response)
{
    const Etcd__RangeResponse *range = range_of(response);

    row->text = NULL;
    row->revision = 0;
    if (range == NULL || range->count != (int64_t)range->n_kvs ||
        range->n_kvs > 1)
        return false;
    return range->n_kvs == 0 || row_fill(etcd, row, range->kvs[0]);
}

/* Reads the answers to the ranges of the rows, and to `more` others. */
static bool rows_receive(struct etcd *etcd, const Etcd__TxnResponse *answer,
                         size_t more)
{
    if (!answer->succeeded || answer->n_responses != etcd->count + more)
        return false;
    for (size_t i = 0; i < etcd->count; i++) {
        if (!row_receive(etcd, &etcd->rows[i], answer->responses[i]))
            return false;
    }
    return true;
}

/* Sends the transaction in the body. */
static enum seqb_status txn_run(struct etcd *etcd, enum etcd_kind kind,
                                Etcd__TxnResponse **out, struct seqb_error *err)
{
    ProtobufCMessage *answer = NULL;
    const enum seqb_status status =
        etcd_link_ask(&etcd->link, kind, &txn, &answer, err);

    *out = (Etcd__TxnResponse *)answer;
    return status;
}

static void txn_free(Etcd__TxnResponse *answer)
{
    if (answer != NULL)
        etcd_answer_free(&answer->base);
}

/* Sends the transaction in the body, and reads the rows. */
static enum seqb_status rows_ask(struct etcd *etcd, size_t more,
                                 Etcd__TxnResponse **out,
                                 struct seqb_error *err)
{
    enum seqb_status status = txn_run(etcd, ETCD_READ, out, err);

    if (status != SEQB_OK)
        return status;
    if (!texts_reserve(etcd, etcd->link.grpc.length + etcd->count + 1))
        status = error_set(err, SEQB_NO_MEMORY, "%s: out of memory",
                           etcd->link.where);
    else if (!rows_receive(etcd, *out, more))
        status = etcd_link_distrust(&etcd->link, ETCD_READ,
                                    "the answer to a read", err);
    if (status != SEQB_OK) {
        txn_free(*out);
        *out = NULL;
    }
    return status;
}

enum seqb_status etcd_rows_read(struct etcd *etcd, struct seqb_error *err)
{
    Etcd__TxnResponse *answer;
    enum seqb_status status;

    rows_ask_all(etcd);
    status = rows_ask(etcd, 0, &answer, err);
    txn_free(answer);
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
    if (etcd->link.connection != etcd->link.grpc.connections)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the connection was lost: open it again",
                         etcd->link.where);
    if (strcmp(etcd_run_now(etcd), etcd->run) == 0)
        return SEQB_OK;
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: the cluster elected a leader since it was opened, or "
                     "its data was put back: open it again",
                     etcd->link.where);
}

/* --- writing --- */

/* Adds that the row is unchanged. A missing row equals no text. */
static void compare_put(struct etcd *etcd, const struct etcd_row *row)
{
    Etcd__TxnRequest request = ETCD__TXN_REQUEST__INIT;
    Etcd__Compare compare = ETCD__COMPARE__INIT;
    Etcd__Compare *first = &compare;

    compare.key = bytes_of(row->key);
    if (row->is_recalled) {
        compare.target = ETCD__COMPARE__TARGET__VALUE;
        compare.target_union_case = ETCD__COMPARE__TARGET_UNION_VALUE;
        compare.value = bytes_of(row->text);
    } else {
        compare.target = ETCD__COMPARE__TARGET__MOD;
        compare.target_union_case = ETCD__COMPARE__TARGET_UNION_MOD_REVISION;
        compare.mod_revision = row->revision;
    }
    request.n_compare = 1;
    request.compare = &first;
    etcd_link_add(&etcd->link, &request.base);
}

/* Nothing is written unless all rows are unchanged. */
void etcd_write_begin(struct etcd *etcd)
{
    etcd_buffer_clear(&etcd->link.body);
    for (size_t i = 0; i < etcd->count; i++)
        compare_put(etcd, &etcd->rows[i]);
}

void etcd_write_put(struct etcd *etcd, const char *kind, const char *name,
                    const char *text)
{
    Etcd__RequestOp operation = ETCD__REQUEST_OP__INIT;
    Etcd__PutRequest put = ETCD__PUT_REQUEST__INIT;
    char key[ETCD_KEY_SIZE];

    if (!key_make(etcd, kind, name, key))
        etcd->link.body.has_failed = true;
    put.key = bytes_of(key);
    put.value = bytes_of(text);
    operation.request_case = ETCD__REQUEST_OP__REQUEST_REQUEST_PUT;
    operation.request_put = &put;
    operation_put(etcd, &operation);
}

/* Sends the write in the body. `*out`, if it was carried out, is the caller's
 * to free. */
static enum seqb_status write_send(struct etcd *etcd, Etcd__TxnResponse **out,
                                   struct seqb_error *err)
{
    const int64_t term = etcd->link.term;
    enum seqb_status status = txn_run(etcd, ETCD_WRITE, out, err);

    if (status != SEQB_OK)
        return status;
    if (!(*out)->succeeded)
        status = error_set(err, SEQB_AGAIN, "%s: another broker was faster",
                           etcd->link.where);
    else if (etcd->link.term != term)
        status = error_set(err, SEQB_UNCERTAIN,
                           "%s: the cluster elected a leader meanwhile",
                           etcd->link.where);
    if (status != SEQB_OK) {
        txn_free(*out);
        *out = NULL;
    }
    return status;
}

enum seqb_status etcd_write_end(struct etcd *etcd, struct seqb_error *err)
{
    Etcd__TxnResponse *answer;
    const enum seqb_status status = write_send(etcd, &answer, err);

    txn_free(answer);
    return status;
}

enum seqb_status etcd_write_entry(struct etcd *etcd, struct seqb_error *err)
{
    Etcd__TxnResponse *answer;
    enum seqb_status status;

    etcd_buffer_clear(&etcd->link.body);
    etcd_write_put(etcd, ETCD_ENTRY, "", "");
    status = txn_run(etcd, ETCD_READ, &answer, err);
    txn_free(answer);
    return status;
}

/* --- ranges --- */

/* The keys of the range. */
static enum seqb_status range_keys(const struct etcd *etcd,
                                   const struct etcd_range *range,
                                   char from[static ETCD_KEY_SIZE],
                                   char to[static ETCD_KEY_SIZE],
                                   struct seqb_error *err)
{
    if (key_make(etcd, range->kind, range->from, from) &&
        (range->to != NULL
             ? key_make(etcd, range->kind, range->to, to)
             : text_format(to, ETCD_KEY_SIZE, "%s0", etcd->prefix)))
        return SEQB_OK;
    return name_refuse(etcd->link.where, range->from, err);
}

void etcd_range_free(struct etcd_range *range)
{
    txn_free(range->answer);
    range->answer = NULL;
    range->count = 0;
}

enum seqb_status etcd_range_read(struct etcd *etcd, struct etcd_range *range,
                                 struct seqb_error *err)
{
    Etcd__RangeRequest request = ETCD__RANGE_REQUEST__INIT;
    char from[ETCD_KEY_SIZE];
    char to[ETCD_KEY_SIZE];
    const Etcd__RangeResponse *found;
    enum seqb_status status;

    range->answer = NULL;
    range->count = 0;
    etcd_rows_begin(etcd);
    status = range_keys(etcd, range, from, to, err);
    if (status != SEQB_OK)
        return status;
    rows_ask_all(etcd);
    request.key = bytes_of(from);
    request.range_end = bytes_of(to);
    request.limit = range->limit;
    range_put(etcd, &request);
    status = rows_ask(etcd, 1, &range->answer, err);
    if (status != SEQB_OK)
        return status;
    found = range_of(range->answer->responses[1]);
    if (found != NULL && (int64_t)found->n_kvs <= range->limit) {
        range->kvs = found->kvs;
        range->count = found->n_kvs;
        return SEQB_OK;
    }
    return etcd_link_distrust(&etcd->link, ETCD_READ, "a range", err);
}

bool etcd_range_row(const struct etcd *etcd, const struct etcd_range *range,
                    size_t i, char name[static SEQB_COUNTER_SIZE],
                    char text[static ETCD_VALUE_SIZE])
{
    const Etcd__KeyValue *kv = range->kvs[i];
    char begin[ETCD_KEY_SIZE];
    char key[ETCD_KEY_SIZE];

    if (!text_of(&kv->key, key, sizeof key) ||
        !key_make(etcd, range->kind, "", begin) ||
        strncmp(key, begin, strlen(begin)) != 0)
        return false;
    if (!text_of(&kv->value, text, ETCD_VALUE_SIZE))
        text[0] = '\0';
    return text_copy(name, SEQB_COUNTER_SIZE, key + strlen(begin));
}

enum seqb_status etcd_range_delete(struct etcd *etcd,
                                   const struct etcd_range *range,
                                   int64_t *deleted, struct seqb_error *err)
{
    Etcd__RequestOp operation = ETCD__REQUEST_OP__INIT;
    Etcd__DeleteRangeRequest request = ETCD__DELETE_RANGE_REQUEST__INIT;
    char from[ETCD_KEY_SIZE];
    char to[ETCD_KEY_SIZE];
    Etcd__TxnResponse *answer;
    const Etcd__ResponseOp *response;
    enum seqb_status status = range_keys(etcd, range, from, to, err);

    if (status != SEQB_OK)
        return status;
    request.key = bytes_of(from);
    request.range_end = bytes_of(to);
    operation.request_case = ETCD__REQUEST_OP__REQUEST_REQUEST_DELETE_RANGE;
    operation.request_delete_range = &request;
    etcd_write_begin(etcd);
    operation_put(etcd, &operation);
    status = write_send(etcd, &answer, err);
    if (status != SEQB_OK)
        return status;
    response = answer->n_responses == 1 ? answer->responses[0] : NULL;
    if (response != NULL &&
        response->response_case ==
            ETCD__RESPONSE_OP__RESPONSE_RESPONSE_DELETE_RANGE)
        *deleted = response->response_delete_range->deleted;
    else
        status = etcd_link_distrust(&etcd->link, ETCD_WRITE,
                                    "the answer to a removal", err);
    txn_free(answer);
    return status;
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
