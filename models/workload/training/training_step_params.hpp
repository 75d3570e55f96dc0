// models/workload/training/training_step_params.hpp -- one step of a training job, as a scenario
// describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/workload/training/step_exchange_params.hpp"
#include "models/workload/training/transformer_params.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct StragglerParams {
  static constexpr std::string_view kDoc = "Slow machines, for which all other machines wait.";

  double fraction = 0;
  double slowdown = 0.1;

  template <class V>
  void fields(V& v) {
    v("fraction", fraction,
      "Share of slow machines (0.005 at MegaScale). Each job gets the expected slowdown on its "
      "nodes: slowdown * (1 - (1 - fraction) ^ nodes).",
      Range{0.0, 1.0}, Source{"machines are alike"});
    v("slowdown", slowdown,
      "How much longer compute takes on slow machines, as a share of its usual duration.",
      Range{0.0, 1000.0}, Source{"about 10 % at MegaScale, NSDI'24"},
      Heeded{fraction > 0, "fraction is 0: no machine is slow"});
  }
};

struct PollingParams {
  static constexpr std::string_view kDoc =
      "CPU cores poll for RDMA completions. If there are only c < cores_per_gpu CPU cores per GPU, "
      "the rate of NICs is multiplied by (c / cores_per_gpu) ^ exponent. Jobs on one node are not "
      "affected.";

  double cores_per_gpu = 4;
  double exponent = 1;

  template <class V>
  void fields(V& v) {
    v("cores_per_gpu", cores_per_gpu, "CPU cores per GPU with which NICs reach their full rate.",
      Range{0.0, 1024.0}, Unit{"cores"},
      Source{"4 at Yandex; with fewer cores, NICs are several times slower"},
      Heeded{exponent > 0, "exponent is 0: missing cores cost nothing"});
    v("exponent", exponent,
      "If there are only c < cores_per_gpu CPU cores per GPU, the rate of NICs is multiplied by "
      "(c / cores_per_gpu) ^ exponent. 0: no effect.",
      Range{0.0, 10.0}, Source{"an estimate; values from 1 to 2 are plausible"},
      Heeded{cores_per_gpu > 0, "cores_per_gpu is 0: no cores can be missing"});
  }
};

struct StepMistake {
  std::string field;
  std::string message;
};

struct StepParams {
  static constexpr std::string_view kDoc =
      "One step: compute * (1 + bubble) * slowdown + max(0, exchanges - overlap * compute) + "
      "optimizer + data.";

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
    v("compute", compute,
      "Compute time of one rank in a step, without waiting. The time is the same on every GPU "
      "model. A step has either `compute` or `model`.");
    v("model", model,
      "A language model that determines compute and exchanges. A step has either `compute` or "
      "`model`.");
    v("parallel", parallel, "Parallelism of the model.",
      Heeded{has_exchanges() || parallel.pipeline > 1,
             "there is neither a model nor an exchange nor a pipeline"});
    v("zero", zero,
      "true: each data-parallel rank keeps only a part of the gradients and of the optimizer state "
      "(ZeRO). A reduce-scatter and an all-gather replace the all-reduce.",
      Heeded{model.has_value(),
             "there is no model: list these two collectives in `exchanges` instead"});
    v("exchanges", exchanges, "Exchanges in addition to those of the model.");
    v("overlap", overlap, "The share of compute that overlaps with exchanges.", Range{0.0, 1.0},
      Heeded{has_exchanges(), "there are no exchanges"});
    v("optimizer", optimizer, "Time to update the parameters at the end of a step.");
    v("data", data, "Waiting time for the next batch, in each step.");
    v("stragglers", stragglers, "Slow machines, for which all other machines wait.");
    v("polling", polling, "The effect of too few CPU cores on the rate of NICs.",
      Heeded{has_exchanges(), "there are no exchanges"}, Heeded{Fact::GangsOfPods});
  }
  template <class C>
  void check(C& c) const {
    for (const StepMistake& mistake : mistakes()) c.error(mistake.field, mistake.message);
    for (size_t i = 0; i < exchanges.size(); ++i) {
      if (!is_alone(exchanges[i].among)) continue;
      c.warning("exchanges[" + std::to_string(i) + "].among",
                "with this `parallel` the group has one rank, so nothing is exchanged");
    }
  }
  std::vector<StepMistake> mistakes() const;
  bool has_exchanges() const { return model || !exchanges.empty(); }
  bool lengthens() const;  // whether a step may take longer than its compute
  // Whether groups of this kind have one rank, whatever the job's number of ranks.
  bool is_alone(ExchangeGroup among) const;
  // Reports mistakes that depend on the number of ranks: ranks must fill whole groups, batch and
  // layers must divide evenly, and a step must compute for at least 1 ns. Does not repeat
  // mistakes().
  std::vector<StepMistake> mistakes_for(int32_t ranks) const;
  // Reports exchanges with more parameter servers than a job of this many ranks can have. Each
  // server needs its own node, and a group of n ranks is on at most n nodes. A group on fewer nodes
  // is no mistake, but uses fewer servers: see ServerParams::count_on().
  std::vector<StepMistake> servers_beyond(int32_t ranks) const;
};

}  // namespace orrery
