/* SPDX-License-Identifier: Apache-2.0 */
/* Where passwords may come from, that others must not be able to read them
 * there, and that no message holds one. */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backends/backends.h"
#include "config/config.h"
#include "platform/text.h"
#include "store/store.h"
#include "support/test.h"
#include "unit/topology_expect.h"
#include "unit/topology_files.h"

#define SECRET          "open sesame"
#define SECRET_VARIABLE "SEQB_TEST_SECRET"
#define REST(name)                                                             \
    "pools=({name=\"p\";partitions=[\"" name "\"];authority=\"a\";});\n" KEY
#define LIST(backend) "backends=(" backend "," SQLITE("a") ");\n"
#define WITH(setting) LIST(REDIS("user=\"u\";\n" setting)) REST("r")
#define WITH_FILE     WITH("password_file=\"secret\";")
#define WITH_TEXT     WITH("password=\"" SECRET "\";")
#define WITH_VARIABLE WITH("password_env=\"" SECRET_VARIABLE "\";")

static void expect_password(const struct topology_files *files,
                            const char *password)
{
    const struct config_topology *topology = topology_of_file(files->path);
    const struct seqb_backend_options *redis =
        &topology->ha.backends[0].options;

    assert_string_equal(redis->user, "u");
    assert_string_equal(redis->password, password);
}

/* It is read at each connect: nothing keeps it meanwhile. */
TEST_WITH(FILES, password_file_is_named_to_the_store)
{
    const struct config_topology *topology;
    const struct store_options *redis;
    char path[80];

    topology_write(files, "secret", SECRET "\n");
    topology_write_mode(files, "t.conf", WITH_FILE, 0644);
    topology = topology_of_file(files->path);
    redis = &topology->ha.backends[0];
    (void)text_format(path, sizeof path, "%s/secret", files->folder);
    assert_string_equal(redis->password_file, path);
    assert_null(redis->options.password);
}

TEST_WITH(FILES, password_file_is_read_without_its_newline)
{
    static const char *const texts[] = {SECRET "\r\n", SECRET "\n", SECRET};
    char path[80];

    (void)text_format(path, sizeof path, "%s/secret", files->folder);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct seqb_error err;
        char *password;

        topology_write(files, "secret", texts[i]);
        assert_ok(secret_read(path, "password", &password, &err));
        assert_string_equal(password, SECRET);
        secret_free(password);
    }
}

TEST_WITH(FILES, password_files_are_private_and_one_line)
{
    static const char one_line[] =
        "@/t.conf:2: @/secret must hold one line, the password";
    char path[64];

    topology_write(files, "t.conf", WITH_FILE);
    assert_true(text_copy(path, sizeof path, files->path));
    topology_refused(files, path,
                     "@/t.conf:2: cannot open @/secret: No such file or "
                     "directory");
    topology_write_mode(files, "secret", SECRET "\n", 0640);
    topology_refused(files, path,
                     "@/t.conf:2: others may read the password file @/secret: "
                     "chmod 600 it");
    topology_write(files, "secret", "\n");
    topology_refused(files, path, one_line);
    topology_write(files, "secret", SECRET "\n" SECRET "\n");
    topology_refused(files, path, one_line);
}

TEST_WITH(FILES, password_comes_from_the_environment)
{
    static const char refused[] =
        "@/t.conf:2: the variable that 'password_env' names is not set, or is "
        "empty: set it where the broker starts";

    topology_write_mode(files, "t.conf", WITH_VARIABLE, 0644);
    assert_int_equal(unsetenv(SECRET_VARIABLE), 0);
    topology_refused(files, files->path, refused);
    assert_int_equal(setenv(SECRET_VARIABLE, "", 1), 0);
    topology_refused(files, files->path, refused);
    assert_int_equal(setenv(SECRET_VARIABLE, SECRET, 1), 0);
    expect_password(files, SECRET);
    assert_int_equal(unsetenv(SECRET_VARIABLE), 0);
}

TEST_WITH(FILES, password_in_the_topology_wants_a_private_file)
{
    static const mode_t modes[] = {0640, 0604, 0644, 0660, 0606};

    topology_write(files, "t.conf", WITH_TEXT);
    expect_password(files, SECRET);
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        topology_write_mode(files, "t.conf", WITH_TEXT, modes[i]);
        topology_refused(files, files->path,
                         "@/t.conf:2: 'password' holds a password, and others "
                         "may read @/t.conf: chmod 600 it, or use "
                         "password_file");
    }
}

TEST_WITH(FILES, the_file_that_holds_it_is_the_included_one)
{
    static const char main_text[] = "@include \"part.conf\"\n" REST("r");
    static const char part[] =
        "\n" LIST(REDIS("user=\"u\";\npassword=\"" SECRET "\";"));

    topology_write(files, "part.conf", part);
    topology_write_mode(files, "t.conf", main_text, 0644);
    expect_password(files, SECRET);
    topology_write_mode(files, "part.conf", part, 0644);
    topology_write(files, "t.conf", main_text);
    topology_refused(files, files->path,
                     "@/part.conf:3: 'password' holds a password, and others "
                     "may read @/part.conf: chmod 600 it, or use "
                     "password_file");
}

TEST(text_in_memory_stands_in_no_file)
{
    topology_expect(WITH_TEXT, "");
}

/* --- texts that may hold one --- */

/* An engine of the service's own, which may use every setting. */
static struct seqb_backend_ops own;
static const struct seqb_backend_ops *const engines[] = {&own, NULL};

#define OWN(setting) LIST("{name=\"o\";engine=\"own\";\n" setting "}") REST("o")

static const struct {
    const char *text;
    const char *setting;
    bool is_secret;
} texts[] = {
    {OWN("conninfo=\"host=h password=x\";"), "conninfo", true},
    {OWN("conninfo=\"password = 'x'\";"), "conninfo", true},
    {OWN("conninfo=\"host=password sslpassword=x\";"), "conninfo", true},
    {OWN("conninfo=\"postgresql://u:x@h/d\";"), "conninfo", true},
    {OWN("conninfo=\"postgresql://h/d?user=u&password=x\";"), "conninfo", true},
    {OWN("parameters=\"a=1,password=x\";"), "parameters", true},
    {OWN("conninfo=\"host=h user=u passfile=f\";"), "conninfo", false},
    {OWN("conninfo=\"postgresql://u@h:5432/d\";"), "conninfo", false},
    {OWN("conninfo=\"dbname=password\";"), "conninfo", false},
    {OWN("parameters=\"no password\";"), "parameters", false},
};

TEST_WITH(FILES, texts_that_hold_a_password_want_a_private_file)
{
    own = backend_sqlite;
    own.engine = "own";
    files->engines = engines;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        const struct config_request request = {.path = files->path,
                                               .engines = engines};
        struct config *config = NULL;
        struct seqb_error error = {.text = ""};
        char expected[256];

        topology_write_mode(files, "t.conf", texts[i].text, 0644);
        if (texts[i].is_secret) {
            assert_true(text_format(expected, sizeof expected,
                                    "@/t.conf:2: '%s' holds a password, and "
                                    "others may read @/t.conf: chmod 600 it, "
                                    "or use password_file",
                                    texts[i].setting));
            topology_refused(files, files->path, expected);
            assert_int_equal(chmod(files->path, 0600), 0);
        }
        if (config_open(&request, &config, &error) != SEQB_OK)
            fail_msg("%s", error.text);
        config_close(config);
    }
}

TEST_WITH(FILES, key_of_a_certificate_is_private)
{
    own = backend_sqlite;
    own.engine = "own";
    files->engines = engines;
    topology_write_mode(files, "secret", "key", 0644);
    topology_write(files, "t.conf", OWN("tls_key=\"secret\";"));
    topology_refused(files, files->path,
                     "@/t.conf:2: others may read the key @/secret: chmod 600 "
                     "it");
}

/* --- messages --- */

static void hear(void *context, const char *line)
{
    size_t *count = context;

    ++*count;
    assert_null(strstr(line, SECRET));
}

TEST(no_message_holds_a_password)
{
    static const char *const wrong[] = {
        WITH_TEXT "x=1;\n",
        WITH("password=\"" SECRET "\";password_file=\"f\";"),
        WITH("password=\"" SECRET "\n\";"),
        WITH("password=[\"" SECRET "\"];"),
        WITH("pasword=\"" SECRET "\";"),
        WITH("password=\"" SECRET "\";password=\"" SECRET "\";"),
        WITH("password=\"" SECRET "\" =;"),
        WITH("password_env=\"" SECRET "\";"),
        WITH("conninfo=\"password=" SECRET "\";"),
        WITH("parameters=\"password=" SECRET "\";"),
    };

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        size_t count = 0;
        const struct config_request request = {
            .path = "t.conf", .report = hear, .context = &count};
        struct config *config = NULL;
        struct seqb_error error = {.text = ""};

        assert_int_equal(config_open_text(&request, wrong[i], &config, &error),
                         SEQB_CONFIG);
        assert_true(count > 0);
        assert_null(strstr(error.text, SECRET));
    }
}

TEST_BEFORE_ALL(topology_setup);
