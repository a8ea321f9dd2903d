/* SPDX-License-Identifier: Apache-2.0 */
/* Asks one broker after the other. With several brokers, JSON is a list of
 * their answers. */
#include "ctl/brokers.h"

#include <stdio.h>

#include "ctl/answer.h"
#include "ctl/complain.h"
#include "ctl/json.h"

static enum ctl_exit worse(enum ctl_exit a, enum ctl_exit b)
{
    return a > b ? a : b;
}

/* {"at": ..., "answer": ..., "exit": 0}, or with the error if it failed. */
static enum ctl_exit broker_object(const struct ctl_options *options,
                                   broker_function *function, void *context)
{
    enum ctl_exit result;

    fputs("{\"at\": ", stdout);
    if (!json_print(json_of_text(options->socket), 0))
        return CTL_FAILED;
    fputs(", \"answer\": ", stdout);
    result = function(options, context);
    if (complaint_text()[0] != '\0') {
        fputs("null, ", stdout);
        if (!json_print(complaint_object(result), JSON_EMBED))
            return CTL_FAILED;
        putchar('}');
    } else {
        printf(", \"exit\": %d}", (int)result);
    }
    complaint_clear();
    return result;
}

static enum ctl_exit broker_lines(const struct ctl_options *options,
                                  broker_function *function, void *context)
{
    enum ctl_exit result;

    complain_about(options->socket);
    result = function(options, context);
    complain_about(NULL);
    return result;
}

enum ctl_exit brokers_each(const struct ctl_options *options,
                           broker_function *function, void *context)
{
    const bool is_json = options->given & CTL_JSON;
    struct ctl_options one = *options;
    enum ctl_exit result = CTL_OK;

    if (options->server_count < 2)
        return function(options, context);
    one.is_one_of_several = true;
    for (size_t i = 0; i < options->server_count; i++) {
        one.socket = options->servers[i];
        if (is_json)
            fputs(i == 0 ? "{\"brokers\": [\n" : ",\n", stdout);
        result = worse(result, is_json ? broker_object(&one, function, context)
                                       : broker_lines(&one, function, context));
    }
    if (is_json)
        puts("\n]}");
    return result;
}

void broker_label_print(const struct ctl_options *options)
{
    if (options->is_one_of_several && (options->given & CTL_JSON) == 0)
        printf("%s: ", options->socket);
}
