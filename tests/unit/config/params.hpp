// tests/unit/config/params.hpp -- parameter structs that use every kind of member.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/config/describe.hpp"
#include "sim/config/reader.hpp"

namespace orrery::config_test {

enum class Order : uint8_t { Fifo, Priority, FairShare };
constexpr std::array<std::string_view, 3> enum_names(Order) {
  return {"fifo", "priority", "fair_share"};
}

struct Policy {
  Duration permit_timeout = 60_s;
  Bandwidth uplink = 400_Gbps;
  int64_t max_waiting = 64;
  Order order = Order::Fifo;
  static constexpr std::string_view kDoc = "Who runs next.";
  template <class V>
  void fields(V& v) {
    v("permit_timeout", permit_timeout, "How long a partly placed gang may hold GPUs.",
      Range{1_ms, 24_h}, Source{"scheduler-plugins 0.28"});
    v("uplink", uplink, "Rate of one uplink.", Example{"200Gbps"});
    v("max_waiting", max_waiting, "Gangs that may wait at once.", Range<int64_t>{1, 1024},
      Unit{"gangs"});
    v("order", order, "Order of the queue.");
  }
  void check(Checker& c) const {
    if (max_waiting > 100 && order == Order::Fifo) {
      c.error("max_waiting", "must be at most 100 with order fifo");
    }
  }
};

struct Uniform {
  static constexpr std::string_view kKind = "uniform";
  Duration low = 1_s;
  Duration high = 2_s;
  template <class V>
  void fields(V& v) {
    v("low", low, "Shortest.");
    v("high", high, "Longest.");
  }
  void check(Checker& c) const {
    if (low > high) c.error("high", "must not be below low");
  }
};

struct FromFile {
  static constexpr std::string_view kKind = "file";
  std::string path;
  template <class V>
  void fields(V& v) {
    v("path", path, "Where to read from.", Required{});
  }
};

struct Pool {
  std::string name;
  int32_t nodes = 1;
  uint32_t gpus = 8;
  Bytes memory = 80_GiB;
  template <class V>
  void fields(V& v) {
    v("name", name, "What messages call it.", Required{});
    v("nodes", nodes, "How many.", Range{1, 100'000});
    v("gpus", gpus, "In each node.");
    v("memory", memory, "Of one GPU.");
  }
};

struct All {
  bool is_on = true;
  double ratio = 0.1;
  uint64_t seed = 1;
  std::string title = "a \"b\"\n\x01 c";
  Duration skew = {-5};
  Policy policy;
  std::vector<Pool> pools;
  std::optional<Duration> until;
  std::optional<Uniform> jitter;
  std::map<std::string, double> weights{{"x", 1}};
  std::variant<Uniform, FromFile> source;
  std::vector<std::vector<int64_t>> matrix;
  RawParams args;
  template <class V>
  void fields(V& v) {
    v("is_on", is_on, "A switch.");
    v("ratio", ratio, "A share.", Range{0.0, 1.0});
    v("seed", seed, "Of the run.");
    v("title", title, "Shown.");
    v("skew", skew, "May be negative.", Range{Duration{-100}, Duration{100}});
    v("policy", policy, "");
    v("pools", pools, "Nodes of one kind each.");
    v("until", until, "End of the run.");
    v("jitter", jitter, "Spread of arrivals.");
    v("weights", weights, "By name.", Range{0.0, 10.0});
    v("source", source, "Where jobs come from.");
    v("matrix", matrix, "Links.");
    v("args", args, "Read by the plugin.");
  }
};

template <class P>
P read_text(std::string_view text, Diagnostics& diagnostics) {
  const config::Document document = config::load_text(text, "t.yaml", diagnostics);
  return document.is_usable ? read_params<P>(document.root, "", diagnostics) : P{};
}

// All messages from reading `text` into a P.
template <class P>
std::vector<std::string> mistakes(std::string_view text) {
  Diagnostics diagnostics;
  static_cast<void>(read_text<P>(text, diagnostics));
  return diagnostics.messages();
}

}  // namespace orrery::config_test
