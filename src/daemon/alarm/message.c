/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of a message; see message.h. The key=value pairs of the log line
 * become the member `fields`. */
#include "daemon/alarm/message.h"

#include <jansson.h>
#include <stdlib.h>

#include "daemon/log/log.h"
#include "status/json/json.h"

static const char *kind_name(enum alarm_kind kind)
{
    static const char *const names[] = {"firing", "reminder", "resolved"};

    return names[kind];
}

/* The key=value pairs of the line, each as a string, with "ts" and "level"
 * among them. */
static json_t *words_make(const struct alarm_message *message, int64_t time_ms)
{
    const struct log_entry entry = {.time_ms = time_ms,
                                    .level = message->level,
                                    .line = (char *)message->line};
    char *text = log_json(&entry);
    json_t *words = text != NULL ? json_loads(text, 0, NULL) : NULL;

    free(text);
    return words;
}

static void member_move(json_t *to, const char *name, json_t *from,
                        const char *old_name)
{
    json_object_set(to, name, json_object_get(from, old_name));
    json_object_del(from, old_name);
}

static void sender_add(json_t *object, const struct alarm_message *message,
                       const struct alarm_sender *sender)
{
    json_object_set_new(object, "broker", json_string(sender->broker));
    json_object_set_new(object, "host", json_string(sender->host));
    json_object_set_new(object, "subject", json_string(message->subject));
    json_object_set_new(object, "left_out",
                        json_integer((json_int_t)message->left_out));
}

/* Takes ownership of `words` and `since`; each may be NULL. */
static char *object_print(const struct alarm_message *message,
                          const struct alarm_sender *sender, json_t *words,
                          json_t *since)
{
    json_t *object = json_object();
    char *text = NULL;

    if (object != NULL && words != NULL && since != NULL) {
        json_object_set_new(object, "state",
                            json_string(kind_name(message->kind)));
        json_object_set_new(object, "event", json_string(message->event));
        member_move(object, "level", words, "level");
        member_move(object, "time", words, "ts");
        member_move(object, "since", since, "ts");
        sender_add(object, message, sender);
        if (message->kind == ALARM_RESOLVED)
            member_move(object, "ended_by", words, "event");
        json_object_del(words, "event");
        json_object_set(object, "fields", words);
        text = json_to_text(object, JSON_COMPACT);
    }
    json_decref(object);
    json_decref(words);
    json_decref(since);
    return text;
}

char *alarm_message_json(const struct alarm_message *message,
                         const struct alarm_sender *sender)
{
    return object_print(message, sender, words_make(message, message->time_ms),
                        words_make(message, message->since_ms));
}
