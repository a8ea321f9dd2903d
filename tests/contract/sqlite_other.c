/* SPDX-License-Identifier: Apache-2.0 */
/* A child that reserves by orders through a pipe. */
#include "contract/sqlite_other.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backends.h"
#include "contract/sqlite_case.h"
#include "contract/sqlite_faults.h"
#include "platform/text.h"
#include "support/test.h"

#define GRANT 'g'
#define CLOSE 'c'

/* In the child: whether to go on. Ends it when the test is gone. */
static bool order_await(const struct sqlite_other *self)
{
    char order;

    if (read(self->orders, &order, 1) != 1)
        _exit(1);
    return order == GRANT;
}

static void answer_send(const struct sqlite_other *self,
                        enum seqb_status status, int64_t first,
                        const char *text)
{
    struct sqlite_answer answer = {.status = status, .first = first};

    (void)text_format(answer.text, sizeof answer.text, "%s", text);
    if (write(self->answers, &answer, sizeof answer) != (ssize_t)sizeof answer)
        _exit(1);
}

static void syncing_tell(void *context)
{
    answer_send(context, SEQB_OK, 0, "");
    (void)order_await(context);
}

/* In the child: opens the file, then grants a block for each order until it is
 * to close the file. */
static void other_run(struct sqlite_other *self,
                      const struct seqb_backend_options *options)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_backend *backend = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    enum seqb_status status = backend_sqlite.open(options, &backend, &err);

    answer_send(self, status, 0, err.text);
    while (status == SEQB_OK && order_await(self)) {
        struct seqb_request request;

        faults->context = self;
        faults->syncing = syncing_tell;
        status =
            sqlite_case_reserve(backend, ORDER, SQLITE_OTHER_WANT, &request);
        answer_send(self, status, status == SEQB_OK ? request.block.first : 0,
                    request.error.text);
    }
    backend_sqlite.close(backend);
    _exit(0);
}

struct sqlite_other
sqlite_other_start(const struct sqlite_files *files, const char *path,
                   bool (*mount)(const struct sqlite_files *files))
{
    struct seqb_backend_options options = files->options;
    int orders[2];
    int answers[2];
    struct sqlite_other self;

    assert_int_equal(pipe(orders), 0);
    assert_int_equal(pipe(answers), 0);
    self = (struct sqlite_other){fork(), orders[0], answers[1]};
    assert_true(self.pid >= 0);
    if (self.pid == 0) {
        (void)close(orders[1]);
        (void)close(answers[0]);
        options.path = path;
        if (mount != NULL && !mount(files))
            _exit(1);
        other_run(&self, &options);
    }
    (void)close(orders[0]);
    (void)close(answers[1]);
    return (struct sqlite_other){self.pid, orders[1], answers[0]};
}

struct sqlite_answer sqlite_other_answer(const struct sqlite_other *other)
{
    struct sqlite_answer answer;

    assert_int_equal(read(other->answers, &answer, sizeof answer),
                     sizeof answer);
    return answer;
}

void sqlite_other_order(const struct sqlite_other *other)
{
    assert_int_equal(write(other->orders, &(char){GRANT}, 1), 1);
}

void sqlite_other_end(const struct sqlite_other *other)
{
    (void)close(other->orders);
    (void)close(other->answers);
    assert_int_equal(waitpid(other->pid, NULL, 0), other->pid);
}

void sqlite_other_close(const struct sqlite_other *other)
{
    assert_int_equal(write(other->orders, &(char){CLOSE}, 1), 1);
    sqlite_other_end(other);
}
