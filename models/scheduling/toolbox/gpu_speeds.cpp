#include "models/scheduling/toolbox/gpu_speeds.hpp"

#include <algorithm>
#include <utility>

#include "models/workload/traces/tables/throughputs.hpp"

namespace orrery {
namespace {

traces::Throughputs read(const std::string& file) {
  if (file.empty()) return {};
  return read_throughputs(traces::TextSource::open_file(file));
}

double steps(const traces::Throughputs::ByJob& jobs, std::string_view type, int64_t gpus) {
  const auto found = jobs.find(traces::Throughputs::key(type, gpus));
  return found == jobs.end() ? 0 : found->second;
}

}  // namespace

void GpuSpeedParams::check(Checker& c) const {
  const traces::Throughputs read_in = read(throughputs);
  if (read_in.error) {
    c.error("throughputs", *read_in.error);
    return;
  }
  if (throughputs.empty()) return;
  if (!read_in.by_gpu.contains(reference)) {
    c.error("reference", "is no GPU of " + throughputs);
  }
  for (const auto& [model, name] : names) {
    if (!read_in.by_gpu.contains(name)) c.error("names", "'" + name + "' is no GPU of the file");
  }
}

GpuSpeeds::GpuSpeeds(const GpuSpeedParams& params)
    : params_{params}, by_gpu_{read(params.throughputs).by_gpu} {}

const GpuSpeedEntry* GpuSpeeds::listed(std::string_view application, std::string_view model) const {
  const auto found = std::ranges::find_if(params_.list, [&](const GpuSpeedEntry& entry) {
    return entry.application == application && entry.gpu == model;
  });
  return found == params_.list.end() ? nullptr : &*found;
}

double GpuSpeeds::speed(std::string_view application, int64_t gpus, std::string_view model) const {
  if (const GpuSpeedEntry* const own = listed(application, model)) return own->speed;
  const auto named = params_.names.find(std::string{model});
  const auto here = by_gpu_.find(named == params_.names.end() ? model : named->second);
  const auto there = by_gpu_.find(params_.reference);
  if (here != by_gpu_.end() && there != by_gpu_.end()) {
    const double reference = steps(there->second, application, gpus);
    if (reference > 0) return steps(here->second, application, gpus) / reference;
  }
  const GpuSpeedEntry* const any = listed("", model);
  return any == nullptr ? 1 : any->speed;
}

}  // namespace orrery
