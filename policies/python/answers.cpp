#include "policies/python/answers.hpp"

#include <pybind11/numpy.h>

#include <cmath>
#include <limits>

#include "sim/core/enum_names.hpp"

namespace orrery::python {
namespace {

constexpr std::string_view kStatus = "None or an orrery.policy.Status";

std::runtime_error wrong(const Asked& asked, const py::handle& given, std::string_view expected) {
  return asked.policy.wrong(asked.method, given, expected);
}

// Converts the value to a one-dimensional array of this length. If the value cannot be converted,
// throws an error that describes it.
py::array array_from(const Asked& asked, const py::object& given, size_t count,
                     std::string_view of_what) {
  const py::array array = py::array::ensure(given);
  std::string expected = "an array of ";
  expected.append(std::to_string(count)).append(" ").append(of_what);
  if (!array) {
    PyErr_Clear();
    throw wrong(asked, given, expected);
  }
  if (array.ndim() == 1 && static_cast<size_t>(array.size()) == count) return array;
  const auto shape = py::str(array.attr("shape")).cast<std::string>();
  throw asked.policy.wrong(asked.method,
                           "gave an array of shape " + shape + ", expected " + expected);
}

std::runtime_error wrong_type(const Asked& asked, const py::array& array,
                              std::string_view expected) {
  std::string what = "gave an array of " + py::str(array.dtype()).cast<std::string>();
  return asked.policy.wrong(asked.method, what.append(", expected ").append(expected));
}

// Sets each numbers[k] to item index(k) of the array. Real numbers are rounded to the nearest
// integer. An error message about numbers[k] contains name(k), such as "node n3".
template <class Index, class Name>
void take_numbers(const Asked& asked, const py::array& array, std::span<int64_t> numbers,
                  const Index& index, const Name& name) {
  const char kind = array.dtype().kind();
  if (kind == 'i' || kind == 'u' || kind == 'b') {
    const py::array_t<int64_t, py::array::forcecast> whole{array};
    const auto from = whole.template unchecked<1>();
    for (size_t k = 0; k < numbers.size(); ++k) numbers[k] = from(index(k));
    return;
  }
  if (kind != 'f') throw wrong_type(asked, array, "numbers");
  const py::array_t<double, py::array::forcecast> real{array};
  const auto from = real.template unchecked<1>();
  constexpr double kExactMost = 9e15;  // whole numbers up to this are exact in a double
  for (size_t k = 0; k < numbers.size(); ++k) {
    const double number = std::nearbyint(from(index(k)));
    if (std::abs(number) <= kExactMost) {
      numbers[k] = static_cast<int64_t>(number);
      continue;
    }
    std::string what = "gave ";
    what += std::isnan(number) ? "NaN" : py::str(py::float_(number)).cast<std::string>();
    throw asked.policy.wrong(asked.method, what + " for " + name(k) + ", expected a number");
  }
}

// Accepts any sequence except text.
py::sequence sequence_from(const Asked& asked, const py::object& given, std::string_view expected) {
  if (!py::isinstance<py::sequence>(given) || py::isinstance<py::str>(given)) {
    throw wrong(asked, given, expected);
  }
  return given;
}

}  // namespace

Answer status_from(const Asked& asked, const py::object& given, Code otherwise) {
  if (given.is_none()) return {.code = otherwise};
  if (!py::hasattr(given, "code") || !py::hasattr(given, "timeout_ns")) {
    throw wrong(asked, given, kStatus);
  }
  const auto name = py::str(given.attr("code")).cast<std::string>();
  constexpr auto kNames = enum_names(Code{});
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] != name) continue;
    return {.code = static_cast<Code>(i),
            .reason = py::str(given.attr("reason")).cast<std::string>(),
            .timeout = {integer_from(asked, given.attr("timeout_ns"), 0,
                                     std::numeric_limits<int64_t>::max())}};
  }
  throw wrong(asked, given, "a Status with a code of the scheduling framework");
}

bool bool_from(const Asked& asked, const py::object& given) {
  const bool is_numpy = py::hasattr(given, "dtype") && py::hasattr(given, "item") &&
                        py::isinstance<py::bool_>(given.attr("item")());
  if (!is_numpy && !py::isinstance<py::bool_>(given)) throw wrong(asked, given, "True or False");
  return given.cast<bool>();
}

std::optional<int64_t> integer_or_none(const Asked& asked, const py::object& given, int64_t low,
                                       int64_t high) {
  if (given.is_none()) return std::nullopt;
  return integer_from(asked, given, low, high);
}

int64_t integer_from(const Asked& asked, const py::object& given, int64_t low, int64_t high) {
  std::string expected = "an integer";
  if (high < std::numeric_limits<int64_t>::max()) {
    expected += " between " + std::to_string(low) + " and " + std::to_string(high);
  } else if (low > std::numeric_limits<int64_t>::min()) {
    expected += ", at least " + std::to_string(low);
  }
  if (py::isinstance<py::bool_>(given) || PyIndex_Check(given.ptr()) == 0) {
    throw wrong(asked, given, expected);
  }
  const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
  int is_too_large = 0;
  const long long value = whole ? PyLong_AsLongLongAndOverflow(whole.ptr(), &is_too_large) : 0;
  if (!whole || is_too_large != 0 || value < low || value > high) {
    PyErr_Clear();
    throw wrong(asked, given, expected);
  }
  return value;
}

NodeSet nodes_from(const Asked& asked, const py::object& given, size_t nodes) {
  const py::array array = array_from(asked, given, nodes, "bool, one for each node");
  if (array.dtype().kind() != 'b') throw wrong_type(asked, array, "bool, one for each node");
  const py::array_t<bool, py::array::forcecast> are_in{array};
  const auto is_in = are_in.unchecked<1>();
  NodeSet set{nodes};
  for (uint32_t n = 0; n < nodes; ++n) {
    if (is_in(n)) set.insert({n});
  }
  return set;
}

void scores_from(const Asked& asked, const py::object& given, const ClusterState& cluster,
                 std::span<const NodeId> nodes, std::span<int64_t> scores) {
  const py::array array = array_from(asked, given, cluster.nodes(), "numbers, one for each node");
  const auto name = [&](size_t k) { return "node " + std::string{cluster.name(nodes[k])}; };
  take_numbers(
      asked, array, scores, [&](size_t k) { return nodes[k].index; }, name);
  if (asked.policy.has("normalize")) return;
  for (size_t k = 0; k < nodes.size(); ++k) {
    if (scores[k] >= 0 && scores[k] <= 100) continue;
    throw asked.policy.wrong(asked.method, "gave " + std::to_string(scores[k]) + " for " + name(k) +
                                               ", expected a score between 0 and 100");
  }
}

void normalised_from(const Asked& asked, const py::object& given, std::span<int64_t> scores) {
  const py::array array =
      array_from(asked, given, scores.size(), "numbers, as many as it was given");
  const auto name = [](size_t k) { return "score " + std::to_string(k); };
  take_numbers(
      asked, array, scores, [](size_t k) { return k; }, name);
  for (size_t k = 0; k < scores.size(); ++k) {
    if (scores[k] >= 0 && scores[k] <= 100) continue;
    throw asked.policy.wrong(asked.method, "gave " + std::to_string(scores[k]) + " for " + name(k) +
                                               ", expected a score between 0 and 100");
  }
}

std::vector<GangDomain> domains_from(const Asked& asked, const py::object& given,
                                     const ClusterState& cluster) {
  std::vector<GangDomain> domains;
  const auto last_node = static_cast<int64_t>(cluster.nodes()) - 1;
  for (const py::handle one :
       sequence_from(asked, given, "a list of node ids, Leaf(i) and arrays of bool")) {
    const auto domain = py::reinterpret_borrow<py::object>(one);
    if (py::isinstance<py::array>(one)) {
      domains.emplace_back(nodes_from(asked, domain, cluster.nodes()));
    } else if (py::hasattr(one, "index") && !py::isinstance<py::sequence>(one)) {
      const int64_t leaf =
          integer_from(asked, domain.attr("index"), 0, int64_t{cluster.leaves()} - 1);
      domains.emplace_back(InLeaf{static_cast<uint32_t>(leaf)});
    } else {
      const int64_t node = integer_from(asked, domain, 0, last_node);
      domains.emplace_back(NodeId{static_cast<uint32_t>(node)});
    }
  }
  return domains;
}

std::vector<std::string> texts_from(const Asked& asked, const py::object& given) {
  constexpr std::string_view kExpected = "a list of texts";
  std::vector<std::string> texts;
  for (const py::handle one : sequence_from(asked, given, kExpected)) {
    if (!py::isinstance<py::str>(one)) throw wrong(asked, one, kExpected);
    texts.push_back(one.cast<std::string>());
  }
  return texts;
}

GpuMask gpus_from(const Asked& asked, const py::object& given) {
  uint32_t mask = 0;
  for (const py::handle one : sequence_from(asked, given, "a list of numbers of GPUs")) {
    const auto gpu = py::reinterpret_borrow<py::object>(one);
    const int64_t number = integer_from(asked, gpu, 0, int64_t{kGpusPerNodeMax} - 1);
    mask |= 1U << static_cast<uint32_t>(number);
  }
  return static_cast<GpuMask>(mask);
}

}  // namespace orrery::python
