/* SPDX-License-Identifier: Apache-2.0 */
/* docs/openapi.json against the server: each path and method that it has is
 * there and answers as it says, and there are no others. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/access/access.h"
#include "daemon/http/route.h"
#include "daemon/server.h"
#include "support/stub_broker.h"
#include "support/test.h"
#include "support/web.h"

#define MINUTE_MS   60000
#define TARGET_SIZE 512

static json_t *api; /* the document */

static int api_read(void **state)
{
    json_error_t error;

    (void)state;
    api = json_load_file("docs/openapi.json", 0, &error);
    if (api == NULL)
        print_error("docs/openapi.json:%d: %s\n", error.line, error.text);
    return api == NULL;
}

TEST_BEFORE_ALL(api_read);

/* What a reference, "#/components/...", stands for. */
static const json_t *resolved(const json_t *object)
{
    const char *at = json_string_value(json_object_get(object, "$ref"));
    char name[64];

    if (at == NULL)
        return object;
    object = api;
    for (at += 2; *at != '\0' && object != NULL;) {
        const size_t length = strcspn(at, "/");

        snprintf(name, sizeof name, "%.*s", (int)length, at);
        object = json_object_get(object, name);
        at += length + (at[length] == '/');
    }
    assert_non_null(object);
    return object;
}

/* The path with its examples in place of its parameters. */
static void target_make(char *out, const char *path, const json_t *operation)
{
    const json_t *parameter = NULL;
    const char *key = strstr(path, "{key}");
    char query[TARGET_SIZE / 2] = "";
    size_t i = 0;

    json_array_foreach(json_object_get(operation, "parameters"), i, parameter)
    {
        const json_t *example = NULL;
        char *text = NULL;

        parameter = resolved(parameter);
        example = json_object_get(parameter, "example");
        if (example == NULL ||
            strcmp(json_string_value(json_object_get(parameter, "in")),
                   "query") != 0)
            continue;
        text = json_dumps(example, JSON_ENCODE_ANY);
        snprintf(query + strlen(query), sizeof query - strlen(query),
                 "%c%s=%.*s", query[0] == '\0' ? '?' : '&',
                 json_string_value(json_object_get(parameter, "name")),
                 (int)(strlen(text) - 2 * (size_t)json_is_string(example)),
                 text + json_is_string(example));
        free(text);
    }
    if (key == NULL)
        snprintf(out, TARGET_SIZE, "%s%s", path, query);
    else
        snprintf(out, TARGET_SIZE, "%.*sa%s%s", (int)(key - path), path,
                 key + strlen("{key}"), query);
}

static bool type_is(const json_t *value, const char *type)
{
    return strcmp(type, "string") == 0    ? json_is_string(value)
           : strcmp(type, "integer") == 0 ? json_is_integer(value)
           : strcmp(type, "array") == 0   ? json_is_array(value)
           : strcmp(type, "object") == 0  ? json_is_object(value)
                                          : json_is_null(value);
}

/* "type" is one, or a list of them. */
static bool is_of_schema(const json_t *value, const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    size_t i = 0;

    if (json_is_string(type))
        return type_is(value, json_string_value(type));
    for (i = 0; i < json_array_size(type); i++)
        if (type_is(value, json_string_value(json_array_get(type, i))))
            return true;
    return false;
}

static void expect_schema(const char *target, const char *body,
                          const json_t *schema)
{
    const json_t *members = json_object_get(schema, "properties");
    json_t *answer = json_loads(body, 0, NULL);
    json_t *value = NULL;
    const json_t *required = NULL;
    const char *name = NULL;
    size_t i = 0;

    if (!json_is_object(answer))
        fail_msg("%s: no object: %s", target, body);
    json_array_foreach(json_object_get(schema, "required"), i, required)
    {
        if (json_object_get(answer, json_string_value(required)) == NULL)
            fail_msg("%s lacks %s: %s", target, json_string_value(required),
                     body);
    }
    json_object_foreach(answer, name, value)
    {
        if (!is_of_schema(value, json_object_get(members, name)))
            fail_msg("%s: %s is not as documented: %s", target, name, body);
    }
    json_decref(answer);
}

TEST(the_server_has_the_document)
{
    struct web *web = NULL;
    json_t *answer = NULL;

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    web_ask(web, "GET", "/openapi.json");
    web_receive(web, 1);
    answer = json_loads(web_body(web), 0, NULL);
    assert_true(json_equal(answer, api));
    json_decref(answer);
    web_close(web);
}

static void expect_answer(struct web *web, const char *target,
                          const json_t *operation)
{
    char status[4] = "";
    char type[128] = "";
    const char *header = NULL;
    const json_t *response = NULL;
    const json_t *content = NULL;

    web_receive(web, 1);
    snprintf(status, sizeof status, "%s", web->heard + strlen("HTTP/1.1 "));
    response = resolved(
        json_object_get(json_object_get(operation, "responses"), status));
    if (response == NULL)
        fail_msg("%s: %s is not documented: %s", target, status, web->heard);
    header = strstr(web->heard, "Content-Type: ");
    assert_non_null(header);
    header += strlen("Content-Type: ");
    snprintf(type, sizeof type, "%.*s", (int)strcspn(header, "\r"), header);
    content = json_object_get(json_object_get(response, "content"), type);
    if (content == NULL)
        fail_msg("%s: type %s is not documented", target, type);
    if (json_object_get(content, "schema") != NULL)
        expect_schema(target, web_body(web),
                      resolved(json_object_get(content, "schema")));
}

static void try_operation(const char *method, const char *target,
                          const json_t *operation, const char *status)
{
    struct web *web = NULL;

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    web_ask(web, method, target);
    expect_answer(web, target, operation);
    assert_int_equal(
        strncmp(web->heard + strlen("HTTP/1.1 "), status, strlen(status)), 0);
    web_close(web);
}

TEST(each_operation_answers_as_documented)
{
    const char *path = NULL;
    const char *method = NULL;
    json_t *item = NULL;
    json_t *operation = NULL;

    json_object_foreach(json_object_get(api, "paths"), path, item)
    {
        json_object_foreach(item, method, operation)
        {
            char target[TARGET_SIZE];

            target_make(target, path, operation);
            try_operation(strcmp(method, "get") == 0 ? "GET" : "POST", target,
                          operation, "200");
        }
    }
}

/* Of a sequence that there is none of, and with a name that nobody knows. */
TEST(errors_are_documented)
{
    const json_t *paths = json_object_get(api, "paths");
    const json_t *next = json_object_get(
        json_object_get(paths, "/v1/sequences/{key}/next"), "post");
    const json_t *parse = json_object_get(
        json_object_get(paths, "/v1/sequences/{key}/parse"), "get");

    try_operation("POST", "/v1/sequences/nosuch/next", next, "404");
    try_operation("POST", "/v1/sequences/a/next?x=1", next, "400");
    try_operation("GET", "/v1/sequences/a/parse?text=x", parse, "422");
}

/* Where there are users, who has not logged in may do what needs no right. */
static void try_without_login(const char *method, const char *target,
                              const json_t *operation)
{
    static const char *const refusals[] = {"401", "403", "429"};
    struct users *users = users_new();
    const struct users *none = NULL;
    struct web *web = NULL;

    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    assert_true(users_take(users, "users.name", "somebody"));
    assert_true(users_take(users, "users.role", "take"));
    web = web_open();
    none = web->server->daemon.access.users;
    web->server->daemon.access.users = users;
    web_ask(web, method, target);
    expect_answer(web, target, operation);
    if (strstr(web->heard, "HTTP/1.1 401 ") != NULL)
        for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
            assert_non_null(json_object_get(
                json_object_get(operation, "responses"), refusals[i]));
    web->server->daemon.access.users = none;
    web_close(web);
    users_free(users);
}

TEST(each_operation_refuses_as_documented)
{
    const char *path = NULL;
    const char *method = NULL;
    json_t *item = NULL;
    json_t *operation = NULL;

    json_object_foreach(json_object_get(api, "paths"), path, item)
    {
        json_object_foreach(item, method, operation)
        {
            char target[TARGET_SIZE];

            target_make(target, path, operation);
            try_without_login(strcmp(method, "get") == 0 ? "GET" : "POST",
                              target, operation);
        }
    }
}

static void expect_method_refused(const char *method, const char *path)
{
    struct web *web = NULL;
    char target[TARGET_SIZE];

    target_make(target, path, NULL);
    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    web_ask(web, method, target);
    web_receive(web, 1);
    if (strstr(web->heard, "HTTP/1.1 405 ") == NULL)
        fail_msg("%s %s: %s", method, target, web->heard);
    web_close(web);
}

TEST(each_other_method_is_refused)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "DELETE",
                                          "PATCH"};
    static const char *const names[] = {"get", "post", "put", "delete",
                                        "patch"};
    const char *path = NULL;
    json_t *item = NULL;

    json_object_foreach(json_object_get(api, "paths"), path, item)
    {
        for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
            if (json_object_get(item, names[i]) == NULL)
                expect_method_refused(methods[i], path);
        }
    }
}

TEST(each_route_is_documented)
{
    const json_t *paths = json_object_get(api, "paths");

    for (size_t i = 0; route_path(i) != NULL; i++) {
        const char *path = route_path(i);
        const char *star = strchr(path, '*');
        char name[TARGET_SIZE];

        if (star == NULL)
            snprintf(name, sizeof name, "%s", path);
        else
            snprintf(name, sizeof name, "%.*s{key}%s", (int)(star - path), path,
                     star + 1);
        if (json_object_get(paths, name) == NULL)
            fail_msg("%s is not documented", name);
    }
}
