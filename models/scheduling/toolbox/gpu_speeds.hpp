// models/scheduling/toolbox/gpu_speeds.hpp -- the speed of a job on each GPU model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

struct GpuSpeedEntry {
  static constexpr std::string_view kDoc = "Speed of an application on a GPU model.";
  std::string application;
  std::string gpu;
  double speed = 1;

  template <class V>
  void fields(V& v) {
    v("application", application,
      "Application of the job; empty: all applications that have no speed here or in the file.");
    v("gpu", gpu, "GPU model, as the machine names it.", Required{}, Example{"V100M32"});
    v("speed", speed, "Work done in a unit of time; 0: the job cannot run on this model.",
      Range{0.0, 1000.0});
  }
};

struct GpuSpeedParams {
  static constexpr std::string_view kDoc =
      "Speeds of jobs by GPU model; durations of jobs are at speed 1.";
  std::vector<GpuSpeedEntry> list = {};
  std::string throughputs = {};
  std::map<std::string, std::string> names = {};
  std::string reference = "v100";

  template <class V>
  void fields(V& v) {
    v("list", list,
      "Speeds by application and GPU model. The speed of a job on a model is the first of these "
      "that exists: the entry for its application and the model, the speed in the file "
      "`throughputs`, the entry for the model with an empty application. If none exists, the "
      "speed is 1.");
    v("throughputs", throughputs,
      "Gavel's JSON file of steps per second, by GPU model and job type. The speed on a model is "
      "the model's steps per second divided by those of `reference`.",
      IsFile{}, Example{"../shared/traces/gavel/simulation_throughputs.json.gz"});
    v("names", names, "Maps names of GPU models in the machines to their names in the file.",
      Example{"{V100M32: v100}"});
    v("reference", reference, "Name, in the file, of the GPU model on which jobs have speed 1.");
  }
  void check(Checker& c) const;
};

class ORRERY_API GpuSpeeds {
 public:
  explicit GpuSpeeds(const GpuSpeedParams& params);  // `params` must have been checked
  double speed(std::string_view application, int64_t gpus, std::string_view model) const;

 private:
  // The key is Gavel's job type with the number of GPUs: see traces::Throughputs::key().
  using StepsPerSecond = std::map<std::string, double, std::less<>>;
  const GpuSpeedEntry* listed(std::string_view application, std::string_view model) const;

  GpuSpeedParams params_;
  std::map<std::string, StepsPerSecond, std::less<>> by_gpu_;  // contents of the file `throughputs`
};

}  // namespace orrery
