#!/usr/bin/python3
"""Each rule of tidy.py fires on a small text that breaks it, and leaves good text alone."""
import pathlib
import tempfile
import unittest

import tidy
from source import Source

LONG_BODY = "  x();\n" * 70


def found(rule: str, path: str, text: str, *others: str) -> list[str]:
    return tidy.findings([Source(path, text)] + [Source(other, "") for other in others], [rule])


class Layers(unittest.TestCase):
    def includes(self, path: str, name: str) -> list[str]:
        return [f for f in found("layers", path, f'#include "{name}"\n', name)
                if f.startswith(path)]

    def test_an_edge_upwards_is_named(self):
        for path, name, edge in [
                ("sim/core/a.cpp", "sim/engine/b.hpp", "sim/core -> sim/engine"),
                ("sim/record/a.cpp", "sim/config/b.hpp", "sim/record -> sim/config"),
                ("models/hardware/a.hpp", "models/workload/b.hpp",
                 "models/hardware -> models/workload"),
                ("models/telemetry/a.cpp", "models/scheduling/b.hpp",
                 "models/telemetry -> models/scheduling"),
                ("models/workload/traces/a.cpp", "models/cluster/b.hpp",
                 "models/workload/traces -> models/cluster"),
                ("models/workload/job/a.cpp", "models/workload/lifecycle/b.hpp",
                 "models/workload/job -> models/workload/lifecycle"),
                ("policies/pods/gang/a.cpp", "models/workload/b.hpp", "policies -> models/workload"),
                ("policies/pods/gang/a.cpp", "models/scheduling/cycle/b.hpp",
                 "policies -> models/scheduling/cycle"),
                ("models/scheduling/framework/a.cpp", "models/scheduling/cycle/b.hpp",
                 "models/scheduling/framework -> models/scheduling/cycle"),
                ("models/control_plane/nodes/a.hpp", "models/control_plane/b.hpp",
                 "models/control_plane/nodes -> models/control_plane"),
                ("models/control_plane/etcd/a.hpp", "models/control_plane/api_server/b.hpp",
                 "models/control_plane/etcd -> models/control_plane/api_server"),
                ("models/control_plane/load/a.cpp", "models/scheduling/cycle/b.hpp",
                 "models/control_plane/load -> models/scheduling/cycle"),
                ("models/faults/a.cpp", "sim/cli/b.hpp", "models/faults -> sim/cli")]:
            lines = self.includes(path, name)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(edge, lines[0])

    def test_edges_downwards_are_free(self):
        for path, name in [("sim/cli/a.cpp", "models/cluster/cluster.hpp"),
                           ("models/cluster/cluster.cpp", "models/faults/b.hpp"),
                           ("models/scheduling/a.cpp", "models/workload/b.hpp"),
                           ("models/workload/sources/a.cpp", "models/workload/job/b.hpp"),
                           ("policies/pods/gang/a.cpp", "models/scheduling/contract/b.hpp"),
                           ("policies/jobs/plan/a.cpp", "models/scheduling/toolbox/b.hpp"),
                           ("models/control_plane/services/a.hpp",
                            "models/control_plane/nodes/b.hpp"),
                           ("models/control_plane/a.hpp", "models/control_plane/load/b.hpp"),
                           ("tests/unit/a.cpp", "models/workload/b.hpp")]:
            self.assertEqual(self.includes(path, name), [])

    def test_nobody_includes_a_policy(self):
        self.assertTrue(self.includes("tests/unit/a.cpp", "policies/pods/gang/b.hpp"))
        self.assertTrue(found("layers", "policies/pods/gang/b.hpp", ""))

    def test_a_policy_of_several_sources_has_headers_for_itself(self):
        self.assertEqual(self.includes("policies/jobs/remote/a.cpp", "policies/jobs/remote/b.hpp"), [])
        self.assertTrue(self.includes("sim/cli/a.cpp", "policies/jobs/remote/b.hpp"))
        self.assertTrue(self.includes("policies/jobs/plan/a.cpp", "policies/jobs/remote/b.hpp"))

    def test_a_missing_file_and_one_in_the_wrong_place(self):
        self.assertTrue(found("layers", "sim/core/a.cpp", '#include "a.hpp"\n'))
        self.assertTrue(found("layers", "models/other.cpp", ""))

    def test_third_party_headers_keep_their_places(self):
        for path, name in [("sim/record/a.hpp", "hdf5.h"), ("models/faults/a.cpp", "hdf5.h"),
                           ("sim/engine/a.cpp", "nlohmann/json.hpp"),
                           ("sim/core/a.cpp", "tbb/tbb.h"), ("sim/core/a.cpp", "curl/curl.h"),
                           ("models/workload/a.cpp", "zlib.h"), ("policies/python/a.hpp", "hdf5.h"),
                           ("policies/jobs/a.cpp", "pybind11/numpy.h"),
                           ("models/hardware/a.hpp", "pybind11/numpy.h")]:
            self.assertTrue(found("layers", path, f"#include <{name}>\n"), (path, name))
        for path, name in [("sim/record/a.cpp", "hdf5.h"), ("sim/core/a.cpp", "vector"),
                           ("sim/config/a.cpp", "yaml-cpp/parser.h"),
                           ("policies/python/a.hpp", "pybind11/numpy.h"),
                           ("tests/unit/record/a.hpp", "hdf5.h")]:
            self.assertFalse(found("layers", path, f"#include <{name}>\n"), (path, name))


class Lengths(unittest.TestCase):
    def test_files_and_lines(self):
        self.assertTrue(found("lengths", "sim/core/a.hpp", "\n" * 151))
        self.assertFalse(found("lengths", "sim/core/a.hpp", "\n" * 150))
        self.assertTrue(found("lengths", "sim/core/a.cpp", "\n" * 401))
        self.assertFalse(found("lengths", "sim/core/a.cpp", "\n" * 400))
        self.assertTrue(found("lengths", "sim/core/a.cpp", "x" * 101))

    def test_functions(self):
        inside = "namespace n {\nclass A {\n %s };\n}\n"
        for head in ["void f() {\n", "A() : a_{1}, b_{2} {\n", "auto f() const -> int {\n",
                     "template <class T> requires C<T>\nvoid f(T t) {\n", "TEST(A, B) {\n"]:
            self.assertTrue(found("lengths", "sim/core/a.cpp", inside % (head + LONG_BODY + "}")))
            short = head + "  x();\n" * 60 + "}"
            self.assertFalse(found("lengths", "sim/core/a.cpp", inside % short), head)

    def test_classes_and_tables_are_no_functions(self):
        self.assertFalse(found("lengths", "sim/core/a.cpp", "class A {\n" + "int x;\n" * 90 + "};"))
        self.assertFalse(
            found("lengths", "sim/core/a.cpp", "const T k[] = {\n" + "{1, f(2)},\n" * 90 + "};"))


class ShortRooms(unittest.TestCase):
    PATH = "models/control_plane/nodes/a.cpp"

    def test_sources_of_the_control_plane_are_shorter(self):
        self.assertTrue(found("lengths", self.PATH, "\n" * 301))
        self.assertFalse(found("lengths", self.PATH, "\n" * 300))

    def test_constructors_are_counted_with_their_initialisers(self):
        members = "".join(f"      a{i}_{{{i}}},\n" for i in range(40))
        last, body = "      b_(f(1), {.x = 2}) {\n", "  x();\n" * 35 + "}\n"
        for head in ["A::A(int x)\n    :\n", "class A {\n public:\n  explicit A(int x)\n    :\n",
                     "template <class T>\nA::A(int x) noexcept\n    :\n"]:
            text = "void g() {}\n" + head + members + last
            self.assertEqual(len(found("lengths", self.PATH, text + body)), 1, head)
            self.assertEqual(found("lengths", self.PATH, text + "}\n" + "int x;\n" * 40), [], head)
            self.assertEqual(len(found("lengths", "models/faults/a.cpp", text + body)), 1)
            self.assertEqual(found("lengths", "sim/core/a.cpp", text + body), [])

    def test_a_conditional_is_no_constructor(self):
        text = "void f() {\n  x = a ? B(1) : c;\n}\n" + "int x;\n" * 80
        self.assertEqual(found("lengths", self.PATH, text), [])


class FanOut(unittest.TestCase):
    def test_the_wiring_passes_no_news_on(self):
        for text in ["a.done.connect([this](int x) { b_.done(x); });", "a.done.connect(\n    [&] {});"]:
            self.assertTrue(found("fan_out", "models/cluster/a.cpp", text))
            self.assertFalse(found("fan_out", "models/telemetry/a.cpp", text))
        self.assertFalse(found("fan_out", "models/cluster/a.cpp", "a.done.connect(*this, &A::b);"))


class Rooms(unittest.TestCase):
    def test_members_are_counted_through_nested_structs(self):
        fields = "".join(f"  int a{k}_ = {k};\n" for k in range(18))
        small = f"class A {{\n void f(int x) {{ g(x); }}\n{fields} struct B {{ int c, d; }};\n}};\n"
        large = small.replace("int c, d;", "int c, d, e;")
        path = "models/scheduling/cycle/a.hpp"
        self.assertEqual(found("members", path, small), [])
        self.assertEqual(len(found("members", path, large)), 1)
        self.assertEqual(found("members", "models/faults/a.hpp", large), [])

    def test_policies_keep_nothing_mutable(self):
        self.assertTrue(found("members", "policies/pods/gang/a.cpp", "mutable int a_;\n"))
        self.assertEqual(found("members", "models/storage/a.cpp", "mutable int a_;\n"), [])

    def test_a_folder_of_models_holds_thirty_sources(self):
        full = [f"models/a/{i}.cpp" for i in range(30)]
        self.assertEqual(list(tidy.check_rooms(full)), [])
        self.assertEqual(len(list(tidy.check_rooms(full + ["models/a/x.hpp"]))), 1)
        self.assertEqual(list(tidy.check_rooms(full + ["models/a/b/x.hpp"])), [])

    def test_two_types_of_one_name_are_found(self):
        def twins(*texts: str) -> list[str]:
            return list(tidy.check_twins(Source(f"sim/core/{i}.hpp", text)
                                         for i, text in enumerate(texts)))

        handle = "namespace orrery {\nclass Handle {\n  int a_;\n};\n}\n"
        exported = "namespace orrery {\nclass ORRERY_API Handle final : public A {\n};\n}\n"
        self.assertEqual(twins(handle, exported),
                         ["sim/core/1.hpp:2: twins: Handle is defined in sim/core/0.hpp, too"])
        self.assertEqual(twins(handle, "namespace orrery {\nclass Handle;\n}\n"), [])
        self.assertEqual(twins(handle, handle.replace("orrery", "orrery::python")), [])
        self.assertEqual(twins(handle, "namespace orrery {\nclass A {\n  struct Handle {};\n};\n}"), [])

    def test_a_room_has_a_page(self):
        with tempfile.TemporaryDirectory() as root:
            room = pathlib.Path(root) / "models" / "a"
            room.mkdir(parents=True)
            (room / "x.hpp").write_text("", encoding="utf-8")
            self.assertEqual(len(list(tidy.check_pages(pathlib.Path(root)))), 1)
            (room / "README.md").write_text("# A\n", encoding="utf-8")
            self.assertEqual(list(tidy.check_pages(pathlib.Path(root))), [])
            (room / "README.md").write_text("line\n" * 90, encoding="utf-8")
            self.assertEqual(len(list(tidy.check_pages(pathlib.Path(root)))), 1)


class Heads(unittest.TestCase):
    def test_headers(self):
        good = "// sim/core/a.hpp -- numbers.\n#pragma once\n"
        self.assertFalse(found("heads", "sim/core/a.hpp", good))
        self.assertTrue(found("heads", "sim/core/b.hpp", good))
        self.assertTrue(found("heads", "sim/core/a.hpp", good.replace("#pragma once", "")))
        self.assertTrue(found("heads", "sim/core/a.hpp", good + "using namespace std;\n"))


class Names(unittest.TestCase):
    def test_each_banned_name(self):
        for text in ["int a = std::rand();", "std::random_device d;", "std::mt19937 g;",
                     "std::normal_distribution<> d;", "auto t = std::chrono::steady_clock::now();",
                     "std::chrono::system_clock::now();", "double d = std::stod(s);",
                     "double d = atof(s);", "double d = std::strtod(s, &e);", "assert(a);",
                     "// TODO: later", "// FIXME"]:
            self.assertTrue(found("names", "models/faults/a.cpp", text + "\n"), text)

    def test_what_only_looks_like_one(self):
        for text in ["// not std::rand", 'auto s = "steady_clock";', "static_assert(a);",
                     "int operand(int);", "int x = 1'000; f('\"'); // TODO(#12): later",
                     'auto s = R"x(std::rand() ")x";']:
            self.assertFalse(found("names", "models/faults/a.cpp", text + "\n"), text)

    def test_clocks_where_the_host_is_the_subject(self):
        for path in ["sim/record/a.cpp", "sim/cli/a.cpp", "bench/a.cpp"]:
            self.assertFalse(found("names", path, "steady_clock::now();\n"))


class Unordered(unittest.TestCase):
    TABLE = "std::unordered_map<int, std::vector<int>> table_;\n"

    def test_walking_is_found(self):
        for walk in ["for (auto& [a, b] : table_) f(a);",
                     "for (const auto& e : this->table_) f(e);",
                     "auto i = table_.begin();"]:
            self.assertTrue(found("unordered", "sim/core/a.cpp", self.TABLE + walk + "\n"), walk)

    def test_a_member_declared_in_the_header_is_known(self):
        lines = tidy.findings([Source("sim/core/a.hpp", self.TABLE),
                               Source("sim/core/a.cpp", "for (auto& e : table_) f(e);\n")],
                              ["unordered"])
        self.assertEqual(len(lines), 1, lines)

    def test_looking_up_is_free(self):
        text = self.TABLE + "auto i = table_.find(3); if (i != table_.end()) f(*i);\n"
        self.assertFalse(found("unordered", "sim/core/a.cpp", text))


class Coroutines(unittest.TestCase):
    def check(self, body: str) -> list[str]:
        return found("coroutines", "models/faults/a.cpp", "Process run() {\n" + body + "\n}\n")

    def test_forms_that_may_be_used(self):
        for body in ["co_await delay(3_s);", "auto x = co_await queue.take();",
                     "const Lease lease = co_await nodes_[i].acquire({.a = f(1)}, [] { g(); });",
                     "auto [a, b] = co_await pair(1);", "if (a) { co_await b(); }",
                     "for (;;) co_await tick();", "try { co_await a(); } catch (...) { b(); }",
                     "co_await trigger;", "while (x < 3) {\n  co_await f<int>(1);\n}"]:
            self.assertEqual(self.check(body), [], body)

    def test_forms_that_compilers_get_wrong(self):
        for body in ["if (co_await a()) b();", "f(co_await a());", "int x = 1 + co_await a();",
                     "auto x = co_await a() + 1;", "x = co_await a();", "co_return co_await a();",
                     "while (co_await a()) {}", "try { a(); } catch (...) { co_await b(); }",
                     "auto f = [&] { co_await a(); };",
                     "auto f = [](int x) -> Process { co_return; };",
                     "auto x = b ? co_await a() : co_await c();", "auto x{co_await a()};"]:
            self.assertNotEqual(self.check(body), [], body)


if __name__ == "__main__":
    unittest.main()
