/* SPDX-License-Identifier: Apache-2.0 */
/* seqbroker.hpp over SQLite, through the shared library alone. */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include <seqbroker/seqbroker.hpp>

static_assert(!std::is_copy_constructible_v<seqbroker::broker> &&
              std::is_nothrow_move_constructible_v<seqbroker::broker> &&
              std::is_nothrow_move_assignable_v<seqbroker::broker>);
static_assert(!std::is_copy_constructible_v<seqbroker::cursor> &&
              std::is_nothrow_move_constructible_v<seqbroker::cursor> &&
              std::is_nothrow_move_assignable_v<seqbroker::cursor>);

static int failures;

static void expect(bool is_true, const char *what)
{
    if (is_true)
        return;
    std::fprintf(stderr, "not so: %s\n", what);
    failures++;
}

/* The status of what it throws; SEQB_OK: nothing. */
template <typename Call> static seqb_status thrown(Call call)
{
    try {
        call();
    } catch (const seqbroker::error &e) {
        expect(std::strcmp(e.what(), e.details.text) == 0, "one text");
        expect(e.what()[0] != '\0', "a text");
        return e.details.status;
    }
    return SEQB_OK;
}

static void numbers_are_unique_in_every_way(const seqbroker::broker &broker)
{
    const seqbroker::sequence order = broker.get_sequence("order");
    std::set<std::int64_t> seen;
    std::size_t taken = 0;
    std::int64_t number = 0;
    seqbroker::cursor first(order, 10);
    seqbroker::cursor cursor = std::move(first);

    for (int i = 0; i < 100; i++, taken += 4) {
        seen.insert(order.next());
        seen.insert(cursor.next());
        expect(order.next(number, nullptr) == SEQB_OK, "next");
        seen.insert(number);
        expect(cursor.next(number, nullptr) == SEQB_OK, "cursor's next");
        seen.insert(number);
        if (order.try_next(number, nullptr) == SEQB_OK) {
            seen.insert(number);
            taken++;
        }
    }
    for (const std::int64_t n : order.take(1000))
        seen.insert(n);
    expect(seen.size() == taken + 1000, "no number came twice");
}

static void failures_are_exceptions(const seqbroker::broker &broker)
{
    const seqbroker::sequence order = broker.get_sequence("order");
    seqb_take_options options = {};
    seqb_error err;
    std::int64_t number = 0;

    expect(thrown([&] { (void)broker.get_sequence("no key"); }) == SEQB_INVALID,
           "no key");
    expect(thrown([&] { (void)order.take(0); }) == SEQB_INVALID, "no count");
    expect(thrown([&] { (void)order.text(); }) == SEQB_INVALID, "no template");
    expect(thrown([&] { seqbroker::cursor(order, SIZE_MAX); }) == SEQB_INVALID,
           "too large a slice");
    expect(thrown([] { seqbroker::broker("/nowhere.conf"); }) == SEQB_CONFIG,
           "no topology");
    expect(order.take(options, &number, nullptr, &err) == SEQB_INVALID &&
               std::strstr(err.text, "sizeof") != nullptr,
           "no size, and nothing thrown");
}

/* A machine may be busy for longer than the default's deadline. */
static std::string patient_topology(const std::string &folder)
{
    const std::string path = folder + "/patient.conf";

    std::ofstream(path)
        << "broker = { open_timeout = \"1m\"; };\n"
           "backends = ( { name = \"a\"; engine = \"sqlite\";\n"
           "               path = \"a.db\"; connect_timeout = \"1m\"; } );\n"
           "pools = ( { name = \"main\"; partitions = [ \"a\" ];\n"
           "            timeout = \"1m\"; } );\n"
           "sequences = ( { key = \"order\"; deadline = \"1m\"; } );\n";
    return path;
}

int main()
{
    char folder[] = "/tmp/seqb-cpp-XXXXXX";

    if (mkdtemp(folder) == nullptr ||
        setenv("SEQBROKER_STATE_DIR", folder, 1) != 0)
        return 1;
    expect(thrown([] { seqbroker::broker(); }) == SEQB_OK, "the default opens");
    {
        seqbroker::broker opened(patient_topology(folder).c_str());
        const seqbroker::broker broker = std::move(opened);

        expect(opened.handle == nullptr, "moved away"); // NOLINT
        numbers_are_unique_in_every_way(broker);
        failures_are_exceptions(broker);
    }
    std::filesystem::remove_all(folder);
    std::printf("1..1\n%s 1 - numbers are taken in C++\n",
                failures == 0 ? "ok" : "not ok");
    return failures == 0 ? 0 : 1;
}
