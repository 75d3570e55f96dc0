// models/workload/training_step_params.hpp -- one step of a training job, as a scenario says it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/collectives.hpp"
#include "models/network/exchange_params.hpp"
#include "models/workload/transformer_params.hpp"
#include "sim/config/options.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Which ranks exchange with one another. Ranks are numbered as Megatron does: those of a tensor
// group are next to one another, then come the data groups, then the pipeline stages.
enum class ExchangeGroup : uint8_t { Data, Tensor, Pipeline, Expert, All };
constexpr std::array<std::string_view, 5> enum_names(ExchangeGroup) {
  return {"data", "tensor", "pipeline", "expert", "all"};
}

struct ExchangeParams {
  static constexpr std::string_view kDoc = "An exchange that every step makes.";

  Collective collective = Collective::AllReduce;
  Bytes bytes = {};
  int64_t count = 1;
  ExchangeGroup among = ExchangeGroup::Data;
  AlgorithmChoice algorithm = AlgorithmChoice::Auto;
  Stages stages = Stages::Serial;
  std::optional<ServerParams> servers = {};

  template <class V>
  void fields(V& v) {
    v("collective", collective,
      "What the ranks do. push_pull: the ranks of a node add up, nodes push the sum to parameter "
      "servers and pull that of all nodes back.");
    v("bytes", bytes, "The buffer of one rank.", Required{}, Example{"350MB"});
    v("count", count, "How often in a step.", Range{1, 1'000'000'000});
    v("among", among, "Which ranks: those of a group, or all of the job.");
    v("algorithm", algorithm,
      "auto: the one that NCCL's tuner finds fastest; ring: over all ranks; tree: a chain in each "
      "node, two binary trees between nodes; nvls: NVSwitches add up in each node, and "
      "between nodes there are two trees (NVLSTree) or, with network.sharp, switches that add up; "
      "hierarchical: a reduce-scatter in each node, the rest along each "
      "rail, an all-gather in each node. Ranks that lie so that they cannot do it take NCCL's.",
      Source{"NCCL without NCCL_ALGO"});
    v("stages", stages,
      "Of a hierarchical exchange. serial: what is in the node and what is outside take turns; "
      "pipelined: both go on at the same time.",
      Source{"three collectives that are called one after the other"});
    v("servers", servers, "Of a push_pull.");
  }
  template <class C>
  void check(C& c) const {
    if (bytes == Bytes{}) c.error("bytes", "must be more than 0");
    if ((collective == Collective::PushPull) != servers.has_value()) {
      c.error("servers",
              servers ? "have an effect only on push_pull" : "are missing: push_pull needs them");
    }
    if (!serves(algorithm, collective)) {
      c.error("algorithm", "there is no " + std::string{name_of(algorithm)} + " algorithm for " +
                               std::string{name_of(collective)});
    }
    if (algorithm != AlgorithmChoice::Hierarchical && c.is_given("stages")) {
      c.error("stages", "has an effect only with algorithm: hierarchical");
    }
  }
};

struct StragglerParams {
  static constexpr std::string_view kDoc = "Slow machines, each of which all others wait for.";

  double fraction = 0;
  double slowdown = 0.1;

  template <class V>
  void fields(V& v) {
    v("fraction", fraction,
      "Of machines that are slow. Published: 0.005, MegaScale. A job takes what its number of "
      "nodes makes it expect.",
      Range{0.0, 1.0}, Source{"0: machines are alike"});
    v("slowdown", slowdown, "How much longer they take to compute.", Range{0.0, 1000.0},
      Source{"MegaScale, NSDI'24: about 10 %"});
  }
  template <class C>
  void check(C& c) const {
    if (fraction == 0 && c.is_given("slowdown")) {
      c.error("slowdown", "has no effect while no machine is slow: fraction is 0");
    }
  }
};

struct PollingParams {
  static constexpr std::string_view kDoc =
      "RDMA completions are polled for by CPU cores; with too few of them nodes exchange slower, "
      "by (cores per GPU / cores_per_gpu) ^ exponent. Nothing of it shows on one node.";

  double cores_per_gpu = 4;
  double exponent = 1;

  template <class V>
  void fields(V& v) {
    v("cores_per_gpu", cores_per_gpu, "CPU cores that a GPU needs for full speed.",
      Range{0.0, 1024.0}, Unit{"cores"}, Source{"Yandex: 4, else several times slower"});
    v("exponent", exponent, "How hard missing cores hit; 0: not at all.", Range{0.0, 10.0},
      Source{"estimate: between 1 and 2"});
  }
};

// How many ranks of a job of so many exchange with one another; neighbours of a pipeline: two.
int32_t group_ranks(ExchangeGroup among, const ParallelParams& parallel, int32_t ranks);

struct StepMistake {
  std::string field;
  std::string message;
};

struct StepParams {
  static constexpr std::string_view kDoc =
      "One step: compute * (1 + bubble) + what is left of the exchanges when overlap * compute has "
      "hidden its part + optimizer + data.";

  std::optional<Duration> compute = {};
  std::optional<TransformerParams> model = {};
  ParallelParams parallel = {};
  bool zero = false;
  std::vector<ExchangeParams> exchanges = {};
  double overlap = 0;
  Duration optimizer = {};
  Duration data = {};
  StragglerParams stragglers = {};
  PollingParams polling = {};

  template <class V>
  void fields(V& v) {
    v("compute", compute, "Of one rank, without waiting; in place of a model.");
    v("model", model, "In place of compute: what it computes, and what it exchanges.");
    v("parallel", parallel, "How ranks share the model.");
    v("zero", zero,
      "Data-parallel ranks each keep a part of the gradients and optimizer (ZeRO): a "
      "reduce-scatter and an all-gather in place of an all-reduce.");
    v("exchanges", exchanges, "Beside those that follow from the model.");
    v("overlap", overlap, "The part of compute during which exchanges go on.", Range{0.0, 1.0});
    v("optimizer", optimizer, "Update of the parameters at the end of a step.");
    v("data", data, "Waiting for the next batch.");
    v("stragglers", stragglers, "Slow machines.");
    v("polling", polling, "What too few CPU cores cost.");
  }
  template <class C>
  void check(C& c) const {
    for (const StepMistake& mistake : mistakes()) c.error(mistake.field, mistake.message);
    if (!model && exchanges.empty() && c.is_given("polling")) {
      c.error("polling", "has no effect without exchanges");
    }
  }
  std::vector<StepMistake> mistakes() const;
  // What a job of so many ranks cannot do: they must fill whole groups, and the batch and the
  // layers must be shared out evenly. The mistakes above are not told again.
  std::vector<StepMistake> mistakes_for(int32_t ranks) const;
};

}  // namespace orrery
