/* SPDX-License-Identifier: Apache-2.0 */
/* Copying and carrying out a command. */
#include "command.h"

#include <stdlib.h>

#include "platform/error.h"
#include "platform/text.h"
#include "world.h"

/* What a copy needs, in one piece of memory. */
struct copy {
    struct command command;
    int64_t out;
    struct seqb_raise raise;
    struct seqb_window window;
    struct seqb_swap swap;
    struct seqb_purge purge;
    int32_t deleted;
    struct seqb_guard guard; /* of the raise, or of all requests that have one:
                                these are leases of one pool */
    char *strings[4];
    char *guarded[2];
    struct seqb_request requests[];
};

static char *string_copy(const char *text)
{
    char *copy = text == NULL ? NULL : text_copy_of(text);

    if (copy == NULL && text != NULL)
        abort();
    return copy;
}

static struct seqb_guard *guard_copy(struct copy *copy,
                                     const struct seqb_guard *guard)
{
    if (guard == NULL)
        return NULL;
    if (copy->guarded[0] == NULL) {
        copy->guarded[0] = string_copy(guard->name);
        copy->guarded[1] = string_copy(guard->text);
        copy->guard = (struct seqb_guard){.name = copy->guarded[0],
                                          .text = copy->guarded[1]};
    }
    return &copy->guard;
}

static void requests_copy(struct copy *copy, const struct command *command)
{
    for (size_t i = 0; i < command->n; i++) {
        copy->requests[i].counter = string_copy(command->requests[i].counter);
        copy->requests[i].want = command->requests[i].want;
        copy->requests[i].limit = command->requests[i].limit;
        copy->requests[i].begins_ms = command->requests[i].begins_ms;
        copy->requests[i].guard = guard_copy(copy, command->requests[i].guard);
        copy->command.requests = copy->requests;
    }
}

static void swap_copy(struct copy *copy, const struct seqb_swap *swap)
{
    copy->strings[0] = string_copy(swap->name);
    copy->strings[1] = string_copy(swap->expected);
    copy->strings[2] = string_copy(swap->text);
    copy->strings[3] = string_copy(swap->incarnation);
    copy->swap = (struct seqb_swap){copy->strings[0], copy->strings[1],
                                    copy->strings[2], copy->strings[3]};
    copy->command.swap = &copy->swap;
}

static void purge_copy(struct copy *copy, const struct seqb_purge *purge)
{
    copy->purge = *purge;
    copy->purge.counter = copy->strings[0] = string_copy(purge->counter);
    copy->purge.keep = copy->strings[1] = string_copy(purge->keep);
    copy->command.purge = &copy->purge;
    copy->command.deleted = &copy->deleted;
}

struct command *command_copy(const struct command *command)
{
    struct copy *copy =
        calloc(1, sizeof *copy + command->n * sizeof copy->requests[0]);

    if (copy == NULL)
        abort();
    copy->command = (struct command){.n = command->n, .out = &copy->out};
    requests_copy(copy, command);
    if (command->raise != NULL) {
        copy->raise = *command->raise;
        copy->raise.counter = copy->strings[0] =
            string_copy(command->raise->counter);
        copy->raise.guard = guard_copy(copy, command->raise->guard);
        copy->raise.before = NULL; /* the caller is not there any more */
        copy->command.raise = &copy->raise;
    }
    if (command->window != NULL) {
        copy->window = *command->window;
        copy->window.counter = copy->strings[0] =
            string_copy(command->window->counter);
        copy->window.taken = NULL; /* the caller is not there any more */
        copy->command.window = &copy->window;
    }
    if (command->swap != NULL)
        swap_copy(copy, command->swap);
    if (command->purge != NULL)
        purge_copy(copy, command->purge);
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
    free(copy->strings[2]);
    free(copy->strings[3]);
    free(copy->guarded[0]);
    free(copy->guarded[1]);
    free(copy);
}

static enum seqb_status text_answer(const struct command *command,
                                    const char *standing)
{
    if (command->standing == NULL ||
        text_copy(command->standing, command->size, standing))
        return SEQB_OK;
    return SEQB_PROTOCOL;
}

static enum seqb_status text_run(struct command *command, struct store *store,
                                 int32_t side)
{
    const char *standing;

    if (command->swap == NULL)
        return text_answer(
            command, store_claim(store, side, command->name, command->text));
    if (store_swap(store, side, command->swap, &standing) != SEQB_OK)
        return SEQB_FENCED;
    return text_answer(command, standing);
}

enum seqb_status command_run(struct command *command, struct store *store,
                             int32_t side, struct seqb_error *err)
{
    const int64_t now_us = world_now_us();
    enum seqb_status status = SEQB_OK;

    if (!store_serves(store, side))
        return error_set(err, SEQB_ROLE, "model: a replica");
    store_expire(store, side, now_us);
    for (size_t i = 0; i < command->n; i++)
        store_reserve(store, side, &command->requests[i]);
    if (command->raise != NULL)
        status = store_raise(store, side, command->raise, command->out);
    if (command->window != NULL)
        status =
            store_install(store, side, command->window, now_us, command->out);
    if (command->purge != NULL)
        *command->deleted = store_purge(store, side, command->purge);
    if (command->page != NULL)
        store_list(store, side, command->page);
    if (command->clock_ms != NULL)
        *command->clock_ms =
            store->has_clock ? world_wall_ms() + store->ahead_ms : 0;
    if (command->name != NULL || command->swap != NULL)
        status = text_run(command, store, side);
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
