// models/workload/training/transformer_params.hpp -- a language model and its parallelism, as a
// scenario describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/hardware/gpu_model.hpp"
#include "sim/config/options.hpp"

namespace orrery {

struct TransformerParams {
  static constexpr std::string_view kDoc = "A GPT-like model, from which work and traffic follow.";

  int32_t layers = 96;
  int32_t hidden = 12'288;
  int32_t sequence = 2048;
  int32_t vocabulary = 51'200;
  int32_t batch = 1536;
  bool recompute = false;
  Precision precision = Precision::Half;
  std::optional<double> peak_tflops = {};
  double efficiency = 0.45;
  std::string work_gpu = "A100M80";
  int32_t gradient_bytes = 4;
  int32_t experts_per_token = 0;

  template <class V>
  void fields(V& v) {
    constexpr Source kGpt3{"GPT-3 175B as in Megatron, SC'21"};
    v("layers", layers, "Transformer layers.", Range{1, 100'000}, kGpt3);
    v("hidden", hidden, "Width of a layer.", Range{1, 10'000'000}, kGpt3);
    v("sequence", sequence, "Tokens of a sequence.", Range{1, 100'000'000}, kGpt3);
    v("vocabulary", vocabulary, "Tokens that exist.", Range{1, 100'000'000}, kGpt3);
    v("batch", batch, "Sequences of a step, of all ranks together.", Range{1, 100'000'000}, kGpt3);
    v("recompute", recompute,
      "Activations are computed once more on the way back instead of kept: 4/3 of the work.");
    v("precision", precision,
      "Of the numbers that matrices are multiplied in; half: FP16 or BF16, which are equally fast. "
      "The peak of a GPU model at a precision is that of NVIDIA's data sheet without sparsity.",
      Heeded{!peak_tflops, "by peak_tflops all GPUs are alike"});
    v("peak_tflops", peak_tflops,
      "What one GPU could compute, in place of the peaks of all GPU models.", Range{0.001, 1e6},
      Unit{"TFLOP/s"});
    v("efficiency", efficiency,
      "The part of the peak that a GPU reaches while it computes, waiting not counted.",
      Range{0.001, 1.0},
      Source{"A100: 44 to 52 %, Megatron, SC'21 table 1; V100: 48 %, Megatron-LM 1.0; H100 with "
             "waiting: 41 to 43 %, Llama 3"});
    v("work_gpu", work_gpu,
      "GPU model on which the job would compute for just `work`. On other models the same steps "
      "take longer or less long, by their peaks.",
      Heeded{!peak_tflops, "by peak_tflops all GPUs are alike"});
    v("gradient_bytes", gradient_bytes, "Of one parameter, as they are exchanged.", Range{1, 8},
      Unit{"bytes"}, Source{"Megatron sums up gradients in 32 bits"});
    v("experts_per_token", experts_per_token,
      "Experts that each token is sent to and comes back from, in each layer; 0: no experts. They "
      "change the traffic only: the work of the layers is what it is.",
      Range{0, 1024});
  }
};

struct ParallelParams {
  static constexpr std::string_view kDoc =
      "How the ranks share a model; what tensor and pipeline leave is data parallel.";

  int32_t tensor = 1;
  int32_t pipeline = 1;
  int32_t expert = 1;
  int32_t virtual_stages = 1;
  int32_t microbatch = 1;
  std::optional<int32_t> microbatches = {};

  template <class V>
  void fields(V& v) {
    v("tensor", tensor, "Ranks that share each layer.", Range{1, 1'000'000});
    v("pipeline", pipeline, "Stages, each with a share of the layers.", Range{1, 1'000'000});
    v("expert", expert, "Data-parallel ranks that share the experts.", Range{1, 1'000'000});
    v("virtual_stages", virtual_stages, "Shares of the layers that each stage has, interleaved.",
      Range{1, 100'000}, Heeded{pipeline > 1, "there is no pipeline"});
    v("microbatch", microbatch, "Sequences that go through the pipeline together.",
      Range{1, 1'000'000}, Heeded{!microbatches, "microbatches stands in its place"});
    v("microbatches", microbatches,
      "Of each data-parallel rank in a step; absent: what the model's batch makes.",
      Range{1, 100'000'000});
  }
};

}  // namespace orrery
