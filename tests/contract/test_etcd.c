/* SPDX-License-Identifier: Apache-2.0 */
/* What is peculiar to the etcd engine: a cluster made of a snapshot, members
 * that die, and logins. */
#include <string.h>
#include <unistd.h>

#include "backends/backends.h"
#include "backends/etcd/etcd.h"
#include "contract/etcd_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/proxy.h"
#include "support/server_etcd.h"
#include "support/test.h"

/* --- a snapshot --- */

static void put_snapshot_back(struct server *server)
{
    server_kill(server);
    etcd_snapshot_restore(server, NULL);
    server_start(server);
}

/* A cluster that is made of a snapshot with the old token has the old one's id:
 * its log is shorter than what it says that it was. */
TEST_SKIPPABLE(STARTED, snapshot_put_back_with_the_same_ids_is_fenced)
{
    char origin[SEQB_ORIGIN_SIZE];
    int64_t first;

    for (int i = 1; i <= 100; i++) {
        assert_ok(etcd_take(f->backend, &first));
        assert_int_equal(first, i);
    }
    (void)text_copy(origin, sizeof origin, f->backend->origin);
    etcd_snapshot_save(f->server);
    assert_ok(etcd_take(f->backend, &first));
    fixture_close(f);
    put_snapshot_back(f->server);
    must_open(f);
    assert_int_equal(strncmp(f->backend->origin, origin, strlen(origin)), 0);
    assert_string_not_equal(f->backend->origin, origin);
    assert_int_equal(etcd_take(f->backend, &first), SEQB_FENCED);
}

/* The same where nobody did much before. */
TEST_SKIPPABLE(STARTED, snapshot_of_a_young_cluster_is_fenced)
{
    int64_t first;

    assert_ok(etcd_take(f->backend, &first));
    etcd_snapshot_save(f->server);
    assert_ok(etcd_take(f->backend, &first));
    fixture_close(f);
    put_snapshot_back(f->server);
    must_open(f);
    assert_int_equal(etcd_take(f->backend, &first), SEQB_FENCED);
}

TEST_SKIPPABLE(STARTED, nothing_under_a_prefix_is_not_made_unasked)
{
    struct seqb_backend_options empty = f->options;
    struct seqb_backend *backend;
    struct seqb_error err;

    empty.prefix = "empty";
    empty.create = false;
    assert_status(backend_etcd.open(&empty, &backend, &err), SEQB_UNREACHABLE);
    assert_non_null(strstr(err.text, "'empty': of a pool in use put "));
}

/* Whoever is first to note a run for another prefix there adds entries to
 * raft's log. These must not hide that the log began again. */
TEST_SKIPPABLE(STARTED, snapshot_is_noticed_after_another_prefix_was_opened)
{
    struct seqb_backend_options others = f->options;
    int64_t first;

    others.prefix = "another";
    backend_etcd.close(etcd_open(&others));
    assert_ok(etcd_take(f->backend, &first));
    etcd_snapshot_save(f->server);
    assert_ok(etcd_take(f->backend, &first));
    fixture_close(f);
    put_snapshot_back(f->server);
    backend_etcd.close(etcd_open(&others));
    must_open(f);
    assert_int_equal(etcd_take(f->backend, &first), SEQB_FENCED);
}

/* The restored cluster has the ids, the term and the rows that an open backend
 * knows. Only its log tells, which an open reads. */
static void open_backend_outlives_a_snapshot(bool is_known)
{
    struct server *server = server_etcd(NULL);
    const struct seqb_backend_options options = etcd_options(server);
    int64_t last = 0;
    struct seqb_backend *backend =
        is_known ? etcd_open_known(&options, &last) : etcd_open(&options);
    struct seqb_backend *other;
    int64_t first;

    if (!is_known)
        assert_ok(etcd_take(backend, &last));
    etcd_snapshot_save(server);
    other = etcd_open(&options);
    assert_ok(etcd_take_many(other, 1000, &first));
    assert_int_equal(first, last + 1);
    backend_etcd.close(other);
    put_snapshot_back(server);
    assert_int_equal(etcd_take(backend, &first), SEQB_UNREACHABLE);
    assert_int_equal(etcd_take(backend, &first), SEQB_UNREACHABLE);
    backend_etcd.close(backend);
    backend = etcd_open(&options);
    assert_int_equal(etcd_take(backend, &first), SEQB_FENCED);
    backend_etcd.close(backend);
    server_free(server);
}

TEST(open_backend_does_not_count_in_a_restored_snapshot)
{
    open_backend_outlives_a_snapshot(false);
}

/* What stands there may be older than what was decided since. */
TEST_SKIPPABLE(STARTED, open_backend_reads_no_claim_of_a_restored_snapshot)
{
    char standing[SEQB_CLAIM_SIZE];
    struct seqb_error err;

    assert_done(backend_etcd.claim(f->backend, "main", "a", standing,
                                   sizeof standing, &err),
                err);
    etcd_snapshot_save(f->server);
    put_snapshot_back(f->server);
    assert_status(backend_etcd.claim(f->backend, "main", NULL, standing,
                                     sizeof standing, &err),
                  SEQB_UNREACHABLE);
}

TEST(open_backend_that_reads_nothing_does_not_count_in_a_restored_snapshot)
{
    open_backend_outlives_a_snapshot(true);
}

/* A server that is killed and started keeps its origin. */
TEST_SKIPPABLE(STARTED, server_that_was_started_again_is_not_fenced)
{
    int64_t first;
    int64_t next;

    for (int i = 0; i < 3; i++) {
        assert_ok(etcd_take(f->backend, &first));
        fixture_close(f);
        server_kill(f->server);
        server_start(f->server);
        must_open(f);
        assert_ok(etcd_take(f->backend, &next));
        assert_true(next > first);
    }
}

/* A backend that is open when the data directory is put back uses it no more,
 * whatever its ids. */
TEST_SKIPPABLE(STARTED, open_backend_does_not_count_in_a_copy)
{
    int64_t first;

    assert_ok(etcd_take(f->backend, &first));
    fixture_close(f);
    server_kill(f->server);
    etcd_copy_out(f->server);
    server_start(f->server);
    must_open(f); /* as in the copy, once that is started */
    assert_ok(etcd_take(f->backend, &first));
    server_kill(f->server);
    etcd_copy_back(f->server);
    server_start(f->server);
    assert_int_equal(etcd_take(f->backend, &first), SEQB_UNREACHABLE);
}

/* --- members --- */

static const char *endpoints[ETCD_MEMBERS + 1];
static char addresses[ETCD_MEMBERS][32];

static struct seqb_backend_options cluster_options(struct server **members)
{
    struct seqb_backend_options options = etcd_options(members[0]);

    for (int i = 0; i < ETCD_MEMBERS; i++) {
        (void)text_format(addresses[i], sizeof addresses[i], "127.0.0.1:%d",
                          (int)server_port(members[i]));
        endpoints[i] = addresses[i];
    }
    options.host = NULL;
    options.endpoints = endpoints;
    return options;
}

TEST(members_and_how_far_they_are_behind_are_told)
{
    struct server *members[ETCD_MEMBERS];
    struct seqb_details details = {.node = ""};
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    struct seqb_error err;
    int64_t first;

    server_etcd_cluster(members);
    options = cluster_options(members);
    backend = etcd_open(&options);
    assert_done(backend_etcd.describe(backend, &details, &err), err);
    assert_memory_equal(details.node, "127.0.0.1:", 10);
    assert_true(strcmp(details.role, "leader") == 0 ||
                strcmp(details.role, "follower") == 0);
    assert_string_equal(details.quorum, "2 of 3 members");
    assert_memory_equal(details.replicas, "2, at most ", 11);
    assert_non_null(strstr(details.replicas, " entries behind"));
    assert_string_equal(details.tls, "none");
    assert_ok(etcd_take(backend, &first)); /* its connection is still there */
    server_kill(members[2]);
    assert_done(backend_etcd.describe(backend, &details, &err), err);
    assert_memory_equal(details.replicas, "1 of 2, at most ", 16);
    backend_etcd.close(backend);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_free(members[i]);
}

TEST(without_a_quorum_it_is_unreachable_within_its_time)
{
    struct server *members[ETCD_MEMBERS];
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    struct seqb_backend *other = NULL;
    struct seqb_error err;
    int64_t first;
    int64_t began_ms;

    server_etcd_cluster(members);
    options = cluster_options(members);
    backend = etcd_open(&options);
    assert_ok(etcd_take(backend, &first));
    backend_etcd.close(backend);
    options.timeout_ms = 1500;
    backend = etcd_open(&options);
    server_kill(members[1]);
    server_pause(members[2]);
    options.connect_timeout_ms = 1500;
    began_ms = clock_now_ms();
    assert_int_equal(etcd_take(backend, &first), SEQB_UNREACHABLE);
    assert_int_equal(backend_etcd.open(&options, &other, &err),
                     SEQB_UNREACHABLE);
    print_message("without a quorum: two calls took %lld ms\n",
                  (long long)(clock_now_ms() - began_ms));
    backend_etcd.close(backend);
    server_resume(members[2]);
    options.connect_timeout_ms = 20000;
    backend = etcd_open(&options);
    backend_etcd.close(backend);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_free(members[i]);
}

/* --- lost answers --- */

#define TRIES 200

/* How often each end came. */
struct ends {
    int granted;
    int uncertain;
    int applied; /* of those that are uncertain */
    int others;
};

/* `last` was the number before, `next` is the one that came next past the
 * proxy. */
static void end_note(struct ends *ends, enum seqb_status status, int64_t first,
                     int64_t last, int64_t next)
{
    assert_true(next > last);
    if (status == SEQB_OK) {
        ends->granted++;
        assert_true(first > last);
        assert_int_equal(next, first + 1);
    } else if (status == SEQB_UNCERTAIN) {
        ends->uncertain++;
        ends->applied += next > last + 1;
    } else {
        ends->others++;
        assert_int_equal(status, SEQB_UNREACHABLE);
    }
}

/* `takes` are made by each backend before the one whose answer may be lost. */
static struct ends answers_lose(int takes)
{
    struct server *server = server_etcd(NULL);
    const struct seqb_backend_options direct = etcd_options(server);
    struct seqb_backend_options through = direct;
    const struct proxy_options way = {.to.port = server_port(server),
                                      .seed = 1};
    struct proxy *proxy = proxy_new(&way);
    struct seqb_backend *witness = etcd_open(&direct);
    struct ends ends = {.granted = 0};
    int64_t last;

    through.port = proxy_port(proxy);
    assert_ok(etcd_take(witness, &last));
    for (int i = 0; i < TRIES; i++) {
        struct seqb_backend *backend = etcd_open(&through);
        enum seqb_status status;
        int64_t first;
        int64_t next;

        for (int take = 0; take < takes; take++)
            assert_ok(etcd_take(backend, &last));
        proxy_set(proxy, PROXY_CUT, 3);
        status = etcd_take(backend, &first);
        proxy_set(proxy, PROXY_PASS, 0);
        backend_etcd.close(backend);
        assert_ok(etcd_take(witness, &next));
        end_note(&ends, status, first, last, next);
        last = next;
    }
    print_message("%d granted, %d uncertain (%d applied), %d others\n",
                  ends.granted, ends.uncertain, ends.applied, ends.others);
    backend_etcd.close(witness);
    proxy_free(proxy);
    server_free(server);
    return ends;
}

/* Of a take's answers, that to the read or that to the write may be lost. */
TEST(take_whose_answer_is_lost_is_uncertain)
{
    const struct ends ends = answers_lose(0);

    assert_true(ends.granted > 0 && ends.applied > 0);
}

/* There is only the answer to the write. */
TEST(take_without_a_read_whose_answer_is_lost_is_uncertain)
{
    const struct ends ends = answers_lose(ETCD_TAKES_UNTIL_KNOWN);

    assert_true(ends.granted > 0 && ends.applied > 0);
}

/* --- long names --- */

/* Where counters of that name go on if their rows are deleted. */
static int64_t note_of(struct seqb_backend *backend, const char *name)
{
    struct etcd *etcd = etcd_of(backend);
    struct sql_counter counter;
    const char *rest;

    sql_counter_init(&counter, name);
    etcd_link_begin(&etcd->link, etcd->timeout_ms);
    etcd_rows_begin(etcd);
    assert_true(etcd_rows_add(etcd, ETCD_COUNTER, counter.kept));
    assert_ok(etcd_rows_read(etcd, NULL));
    assert_non_null(etcd->rows[1].text);
    return etcd_value_read(etcd->rows[1].text, &rest);
}

/* Two names whose notes have one name, in one transaction; `large` has a large
 * want. */
static void take_of_long_names(struct seqb_backend *backend, char letter,
                               int large)
{
    char names[2][SEQB_COUNTER_SIZE];
    struct seqb_request requests[2];
    struct seqb_error err;

    for (int j = 0; j < 2; j++) {
        memset(names[j], letter, sizeof names[j] - 1);
        names[j][sizeof names[j] - 1] = '\0';
        names[j][sizeof names[j] - 2] = (char)('a' + j);
        requests[j] = (struct seqb_request){.counter = names[j],
                                            .want = j == large ? 200000 : 1,
                                            .limit = ETCD_TEST_LIMIT,
                                            .window = SEQB_NO_WINDOW};
    }
    assert_done(backend_etcd.reserve(backend, requests, 2, &err), err);
    for (int j = 0; j < 2; j++)
        assert_true(note_of(backend, names[j]) >= 200000);
}

/* One transaction writes the note for both, whichever comes first. */
TEST_SKIPPABLE(STARTED, note_that_two_long_names_share_is_above_both)
{
    take_of_long_names(f->backend, 'k', 0);
    take_of_long_names(f->backend, 'l', 1);
}

/* --- a store without space --- */

/* Its answer may also follow a write that was carried out, so it does not say
 * that nothing was written. */
TEST_SKIPPABLE(STARTED, take_from_a_store_without_space_is_uncertain)
{
    int64_t last;
    int64_t first;

    assert_ok(etcd_take(f->backend, &last));
    etcd_post(f->server, "/v3/maintenance/alarm",
              "{\"action\":\"ACTIVATE\",\"alarm\":\"NOSPACE\"}");
    assert_int_equal(etcd_take(f->backend, &first), SEQB_UNCERTAIN);
    must_open(f);
    etcd_post(f->server, "/v3/maintenance/alarm",
              "{\"action\":\"DEACTIVATE\",\"alarm\":\"NOSPACE\"}");
    assert_ok(etcd_take(f->backend, &first));
    assert_true(first > last);
}

/* --- logins --- */

/* Made while it was allowed without one; the last one demands it. */
static void logins_demand(const struct server *server)
{
    etcd_post(server, "/v3/auth/user/add",
              "{\"name\":\"root\",\"password\":\"a \\\"b\\\" c\"}");
    etcd_post(server, "/v3/auth/role/add", "{\"name\":\"root\"}");
    etcd_post(server, "/v3/auth/user/grant",
              "{\"user\":\"root\",\"role\":\"root\"}");
    etcd_post(server, "/v3/auth/enable", "{}");
}

TEST(password_is_asked_for_and_tokens_are_renewed)
{
    static const char *const args[] = {"--auth-token-ttl=1", NULL};
    struct server *server = server_etcd(args);
    struct seqb_backend_options options = etcd_options(server);
    struct seqb_backend *backend = NULL;
    struct seqb_error err;
    int64_t first;

    logins_demand(server);
    assert_int_equal(backend_etcd.open(&options, &backend, &err), SEQB_REFUSED);
    options.user = "root";
    options.password = "wrong";
    assert_int_equal(backend_etcd.open(&options, &backend, &err), SEQB_REFUSED);
    assert_null(strstr(err.text, "wrong"));
    options.password = "a \"b\" c";
    backend = etcd_open(&options);
    assert_ok(etcd_take(backend, &first));
    usleep(3500000); /* its token expires: that is looked at each second */
    assert_ok(etcd_take(backend, &first));
    assert_int_equal(first, 2);
    backend_etcd.close(backend);
    server_free(server);
}

TEST_BEFORE_ALL(without_sigpipe);
