/* SPDX-License-Identifier: Apache-2.0 */
/* Copying and carrying out a command. */
#include "command.h"

#include <stdlib.h>

#include "platform/error.h"
#include "platform/text.h"

/* What a copy needs, in one piece of memory. */
struct copy {
    struct command command;
    int64_t out;
    struct seqb_raise raise;
    struct seqb_window window;
    char *strings[2];
    struct seqb_request requests[];
};

static char *string_copy(const char *text)
{
    char *copy = text == NULL ? NULL : text_copy_of(text);

    if (copy == NULL && text != NULL)
        abort();
    return copy;
}

struct command *command_copy(const struct command *command)
{
    struct copy *copy =
        calloc(1, sizeof *copy + command->n * sizeof copy->requests[0]);

    if (copy == NULL)
        abort();
    copy->command = (struct command){.n = command->n, .out = &copy->out};
    for (size_t i = 0; i < command->n; i++) {
        copy->requests[i].counter = string_copy(command->requests[i].counter);
        copy->requests[i].want = command->requests[i].want;
        copy->requests[i].limit = command->requests[i].limit;
        copy->command.requests = copy->requests;
    }
    if (command->raise != NULL) {
        copy->raise = *command->raise;
        copy->raise.counter = copy->strings[0] =
            string_copy(command->raise->counter);
        copy->command.raise = &copy->raise;
    }
    if (command->window != NULL) {
        copy->window = *command->window;
        copy->window.counter = copy->strings[0] =
            string_copy(command->window->counter);
        copy->command.window = &copy->window;
    }
    if (command->name != NULL) {
        copy->command.name = copy->strings[0] = string_copy(command->name);
        copy->command.text = copy->strings[1] = string_copy(command->text);
    }
    return &copy->command;
}

void command_free(struct command *command)
{
    struct copy *copy = (struct copy *)command;

    for (size_t i = 0; i < command->n; i++)
        free((char *)command->requests[i].counter);
    free(copy->strings[0]);
    free(copy->strings[1]);
    free(copy);
}

enum seqb_status command_run(struct command *command, struct store *store,
                             int32_t side, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (!store_serves(store, side))
        return error_set(err, SEQB_ROLE, "model: a replica");
    for (size_t i = 0; i < command->n; i++)
        store_reserve(store, side, &command->requests[i]);
    if (command->raise != NULL)
        status = store_raise(store, side, command->raise, command->out);
    if (command->window != NULL)
        status = store_install(store, side, command->window, command->out);
    if (command->name != NULL) {
        const char *standing = store_claim(store, command->name, command->text);

        if (command->standing != NULL &&
            !text_copy(command->standing, command->size, standing))
            status = SEQB_PROTOCOL;
    }
    if (status == SEQB_OK)
        return SEQB_OK;
    return error_set(err, status, "model: %s", seqb_status_text(status));
}

void command_run_undone(struct command *command, struct store *store,
                        int32_t side)
{
    struct store_content before;

    if (command->requests == NULL || !store_serves(store, side))
        return;
    before = store->sides[side].content;
    (void)command_run(command, store, side, NULL);
    store->sides[side].content = before;
}
