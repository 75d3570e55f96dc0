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
  static constexpr std::string_view kDoc = "A GPT-like model that determines work and traffic.";

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
    v("sequence", sequence, "Number of tokens in a sequence.", Range{1, 100'000'000}, kGpt3);
    v("vocabulary", vocabulary, "Number of tokens in the vocabulary.", Range{1, 100'000'000},
      kGpt3);
    v("batch", batch, "Number of sequences in a step, over all ranks.", Range{1, 100'000'000},
      kGpt3);
    v("recompute", recompute,
      "true: the backward pass recomputes activations instead of reading stored ones. The layers "
      "then compute 4/3 as much.");
    v("precision", precision,
      "Precision of matrix products; half: FP16 or BF16, which are equally fast. Peak rates are "
      "those of NVIDIA's data sheets, without sparsity.",
      Heeded{!peak_tflops, "peak_tflops is set"});
    v("peak_tflops", peak_tflops,
      "Peak rate of one GPU, the same for all GPU models. Replaces the data sheets' peak rates.",
      Range{0.001, 1e6}, Unit{"TFLOP/s"});
    v("efficiency", efficiency,
      "The share of the peak that a GPU reaches while it computes, without waits.",
      Range{0.001, 1.0},
      Source{"44 to 52 % on A100 (Megatron, SC'21 table 1); 48 % on V100 (Megatron-LM 1.0); 41 to "
             "43 % on H100, waits included (Llama 3)"});
    v("work_gpu", work_gpu,
      "GPU model on which `work` is the compute time of the job. On another GPU model, the compute "
      "time of a step is longer or shorter by the ratio of the two peak rates.",
      Heeded{!peak_tflops, "peak_tflops is set"});
    v("gradient_bytes", gradient_bytes, "Bytes of one parameter's gradient in exchanges.",
      Range{1, 8}, Unit{"bytes"}, Source{"Megatron sums up gradients in 32 bits"});
    v("experts_per_token", experts_per_token,
      "Number of experts to which each layer sends each token; 0: no experts. Experts add traffic, "
      "but no compute.",
      Range{0, 1024});
  }
};

struct ParallelParams {
  static constexpr std::string_view kDoc =
      "Parallelism of a model; ranks beyond tensor x pipeline are data parallel.";

  int32_t tensor = 1;
  int32_t pipeline = 1;
  int32_t expert = 1;
  int32_t virtual_stages = 1;
  int32_t microbatch = 1;
  std::optional<int32_t> microbatches = {};

  template <class V>
  void fields(V& v) {
    v("tensor", tensor, "Number of ranks that share each layer.", Range{1, 1'000'000});
    v("pipeline", pipeline, "Number of pipeline stages, each with an equal share of the layers.",
      Range{1, 1'000'000});
    v("expert", expert, "Number of data-parallel ranks that share the experts.",
      Range{1, 1'000'000});
    v("virtual_stages", virtual_stages,
      "Number of model chunks on each stage, in an interleaved schedule.", Range{1, 100'000},
      Heeded{pipeline > 1, "there is no pipeline"});
    v("microbatch", microbatch,
      "Number of sequences that go through the pipeline together, as one microbatch.",
      Range{1, 1'000'000}, Heeded{!microbatches, "`microbatches` is given"});
    v("microbatches", microbatches,
      "Number of microbatches of each data-parallel rank in a step; absent: the model's batch "
      "determines it.",
      Range{1, 100'000'000});
  }
};

}  // namespace orrery
