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
      Source{"MegaScale, NSDI'24: about 10 %"},
      Heeded{fraction > 0, "fraction is 0: no machine is slow"});
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
      Range{0.0, 1024.0}, Unit{"cores"}, Source{"Yandex: 4, else several times slower"},
      Heeded{exponent > 0, "exponent is 0: missing cores cost nothing"});
    v("exponent", exponent, "How hard missing cores hit; 0: not at all.", Range{0.0, 10.0},
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
    v("compute", compute,
      "Of one rank, without waiting; in place of a model. It takes so long on any GPU.");
    v("model", model, "In place of compute: what it computes, and what it exchanges.");
    v("parallel", parallel, "How ranks share the model.",
      Heeded{has_exchanges() || parallel.pipeline > 1,
             "there is no model, no exchange and no pipeline"});
    v("zero", zero,
      "Data-parallel ranks each keep a part of the gradients and optimizer (ZeRO): a "
      "reduce-scatter and an all-gather in place of an all-reduce.",
      Heeded{model.has_value(), "there is no model: list the exchanges instead"});
    v("exchanges", exchanges, "Beside those that follow from the model.");
    v("overlap", overlap, "The part of compute during which exchanges go on.", Range{0.0, 1.0},
      Heeded{has_exchanges(), "there are no exchanges"});
    v("optimizer", optimizer, "Update of the parameters at the end of a step.");
    v("data", data, "Waiting for the next batch.");
    v("stragglers", stragglers, "Slow machines.");
    v("polling", polling, "What too few CPU cores cost.",
      Heeded{has_exchanges(), "there are no exchanges"}, Heeded{Fact::GangsOfPods});
  }
  template <class C>
  void check(C& c) const {
    for (const StepMistake& mistake : mistakes()) c.error(mistake.field, mistake.message);
    for (size_t i = 0; i < exchanges.size(); ++i) {
      if (!is_alone(exchanges[i].among)) continue;
      c.warning("exchanges[" + std::to_string(i) + "].among",
                "such a group has one rank: parallel makes none");
    }
  }
  std::vector<StepMistake> mistakes() const;
  bool has_exchanges() const { return model || !exchanges.empty(); }
  bool lengthens() const;                    // whether a step takes longer than its compute
  bool is_alone(ExchangeGroup among) const;  // for any number of ranks
  // Reports what this number of ranks makes impossible: ranks must fill whole groups, and batch and
  // layers must divide evenly. Mistakes above are not reported again.
  std::vector<StepMistake> mistakes_for(int32_t ranks) const;
  // Parameter servers that a job of this many ranks cannot have: its ranks are on at most as many
  // nodes. A gang on fewer nodes than servers has fewer servers; see ServerParams::count_on().
  std::vector<StepMistake> servers_beyond(int32_t ranks) const;
};

}  // namespace orrery
