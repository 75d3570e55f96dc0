// models/workload/training/step_exchange_params.hpp -- an exchange of a training step, as a
// scenario describes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/facts/fact.hpp"
#include "models/network/collectives/collectives.hpp"
#include "models/network/collectives/exchange_params.hpp"
#include "models/workload/training/transformer_params.hpp"
#include "sim/config/options.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Which ranks exchange with each other. Ranks are numbered as in Megatron: the place in the tensor
// group varies fastest, then the place in the data group, then the pipeline stage. Example with
// tensor 2, data 2 and pipeline 2: ranks 0 and 1 are a tensor group, 0 and 2 a data group, 0 and 4
// pipeline neighbours. Each data group is divided into expert groups of equal size.
enum class ExchangeGroup : uint8_t { Data, Tensor, Pipeline, Expert, All };
constexpr std::array<std::string_view, 5> enum_names(ExchangeGroup) {
  return {"data", "tensor", "pipeline", "expert", "all"};
}

struct ExchangeParams {
  static constexpr std::string_view kDoc = "An exchange of every step.";

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
      "The collective. push_pull: the ranks of each node reduce; then the nodes push the result to "
      "parameter servers, and pull the sum over all nodes.");
    v("bytes", bytes,
      "Bytes that one rank holds before the exchange; with all_gather, after the exchange.",
      Required{}, Example{"350MB"});
    v("count", count, "Number of times that each step makes this exchange.",
      Range{1, 1'000'000'000});
    v("among", among,
      "Which ranks exchange with each other: the ranks of each data, tensor, pipeline or expert "
      "group, or all ranks of the job.");
    v("algorithm", algorithm,
      "auto: the algorithm that NCCL's tuner finds fastest. ring: a ring over all ranks. tree: a "
      "chain in each node, and two binary trees between nodes. nvls: NVSwitches reduce in each "
      "node. Between nodes, nvls uses two trees (NVLSTree); with network.sharp, switches of the "
      "fabric reduce instead. hierarchical: a reduce-scatter in each node, the collective along "
      "each rail, and an all-gather in each node. If the placement of the ranks does not allow the "
      "algorithm, NCCL's choice is used.",
      Source{"NCCL without NCCL_ALGO"});
    v("stages", stages,
      "Order of the stages of a hierarchical exchange. serial: the stages within nodes and between "
      "nodes alternate; pipelined: these stages overlap.",
      Source{"three collectives that are called one after the other"},
      Heeded{algorithm == AlgorithmChoice::Hierarchical, "algorithm is not hierarchical"},
      Heeded{Fact::GangsOfPods});
    v("servers", servers, "Parameter servers of a push_pull.",
      Heeded{collective == Collective::PushPull, "collective is not push_pull"},
      Heeded{Fact::GangsOfPods});
  }
  template <class C>
  void check(C& c) const {
    if (bytes == Bytes{}) c.error("bytes", "must be more than 0");
    const bool is_push_pull = collective == Collective::PushPull;
    if (is_push_pull && !servers) c.error("servers", "are missing: push_pull needs them");
    if (!serves(algorithm, collective)) {
      c.error("algorithm", "there is no " + std::string{name_of(algorithm)} + " algorithm for " +
                               std::string{name_of(collective)});
    }
  }
};

// The size of a group in a job with this many ranks. A pipeline group has one rank of a stage and
// one rank of the next stage.
int32_t group_ranks(ExchangeGroup among, const ParallelParams& parallel, int32_t ranks);

}  // namespace orrery
