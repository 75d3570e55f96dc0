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
  static constexpr std::string_view kDoc = "Slow machines, for which all others wait.";

  double fraction = 0;
  double slowdown = 0.1;

  template <class V>
  void fields(V& v) {
    v("fraction", fraction,
      "Share of slow machines. Published: 0.005, MegaScale. A job has the expected slowdown for "
      "its number of nodes.",
      Range{0.0, 1.0}, Source{"0: machines are alike"});
    v("slowdown", slowdown, "How much longer their compute takes.", Range{0.0, 1000.0},
      Source{"MegaScale, NSDI'24: about 10 %"},
      Heeded{fraction > 0, "fraction is 0: no machine is slow"});
  }
};

struct PollingParams {
  static constexpr std::string_view kDoc =
      "CPU cores poll for RDMA completions. With c cores per GPU, fewer than cores_per_gpu, NICs "
      "reach (c / cores_per_gpu) ^ exponent of their rate. No effect on one node.";

  double cores_per_gpu = 4;
  double exponent = 1;

  template <class V>
  void fields(V& v) {
    v("cores_per_gpu", cores_per_gpu, "CPU cores that a GPU needs for full speed.",
      Range{0.0, 1024.0}, Unit{"cores"}, Source{"Yandex: 4, else several times slower"},
      Heeded{exponent > 0, "exponent is 0: missing cores cost nothing"});
    v("exponent", exponent, "The effect of missing cores; 0: none.", Range{0.0, 10.0},
      Source{"estimate: between 1 and 2"},
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
      "Compute of one rank, without waiting; in place of a model. It is the same on any GPU.");
    v("model", model, "In place of compute: the model that determines compute and exchanges.");
    v("parallel", parallel, "Parallelism of the model.",
      Heeded{has_exchanges() || parallel.pipeline > 1,
             "there is no model, no exchange and no pipeline"});
    v("zero", zero,
      "Data-parallel ranks each keep a part of the gradients and optimizer (ZeRO): a "
      "reduce-scatter and an all-gather in place of an all-reduce.",
      Heeded{model.has_value(), "there is no model: list the exchanges instead"});
    v("exchanges", exchanges, "Exchanges beside those that follow from the model.");
    v("overlap", overlap, "The share of compute that overlaps with exchanges.", Range{0.0, 1.0},
      Heeded{has_exchanges(), "there are no exchanges"});
    v("optimizer", optimizer, "Update of the parameters at the end of a step.");
    v("data", data, "Waiting for the next batch.");
    v("stragglers", stragglers, "Slow machines.");
    v("polling", polling, "The cost of too few CPU cores.",
      Heeded{has_exchanges(), "there are no exchanges"}, Heeded{Fact::GangsOfPods});
  }
  template <class C>
  void check(C& c) const {
    for (const StepMistake& mistake : mistakes()) c.error(mistake.field, mistake.message);
    for (size_t i = 0; i < exchanges.size(); ++i) {
      if (!is_alone(exchanges[i].among)) continue;
      c.warning("exchanges[" + std::to_string(i) + "].among",
                "such a group has one rank by `parallel`, so nothing is exchanged");
    }
  }
  std::vector<StepMistake> mistakes() const;
  bool has_exchanges() const { return model || !exchanges.empty(); }
  bool lengthens() const;  // whether a step may take longer than its compute
  // Whether groups of this kind have one rank, whatever the number of ranks.
  bool is_alone(ExchangeGroup among) const;
  // Reports what this number of ranks makes impossible. Ranks must fill whole groups, batch and
  // layers must divide evenly, and a step must compute for at least 1 ns. Does not repeat
  // mistakes().
  std::vector<StepMistake> mistakes_for(int32_t ranks) const;
  // Reports parameter servers that a job of this many ranks cannot have, because n ranks run on at
  // most n nodes. A gang on fewer nodes than servers has fewer servers; see
  // ServerParams::count_on().
  std::vector<StepMistake> servers_beyond(int32_t ranks) const;
};

}  // namespace orrery
