// Runs the cases of data/preemption.json through the scheduler, and checks which pods are victims.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/scheduler_world.hpp"
#include "tests/support/validation_cases.hpp"

namespace orrery {
namespace {

using nlohmann::json;

constexpr int64_t kUnitMilli = 200;  // a node's cores are given as 500 units of 0.2 cores

JobSpec job(int64_t units, const std::string& priority, Duration submit) {
  static const std::map<std::string, int32_t> kPriorities{
      {"negative", -100}, {"low", 0}, {"mid", 100}, {"high", 1'000}};
  JobSpec made = make_job(JobKind::Pods, 1, 0, 10'000_s);
  PodSpec& spec = made.gangs[0].roles[0].spec;
  spec.cpu_milli = units * kUnitMilli;
  spec.priority = kPriorities.at(priority);
  made.submitted = Time{} + submit;
  return made;
}

json ours_in_preemption(const json& input) {
  std::vector<JobSpec> jobs;
  for (size_t n = 0; n < input.at("nodes").size(); ++n) {
    for (const json& pod : input.at("nodes")[n]) {
      jobs.push_back(job(pod[1], pod[2], 1_s * (pod.size() > 3 ? pod[3].get<int64_t>() : 0)));
      jobs.back().name = pod[0].get<std::string>();
      jobs.back().gangs[0].roles[0].spec.node_name = "n" + std::to_string(n);
    }
  }
  jobs.push_back(job(input.at("pod")[0], input.at("pod")[1], 100_s));
  std::ranges::stable_sort(jobs, {}, &JobSpec::submitted);
  std::vector<std::string> names;  // names of jobs by serial number
  for (const JobSpec& one : jobs) names.push_back(one.name);

  SchedulerWorld world{std::vector<int32_t>(input.at("nodes").size()),
                       without_cost(profile_of(ProfileBase::Default)),
                       {.termination = 1_s * input.value("termination_s", int64_t{0})}};
  world.add(jobs);
  if (input.contains("lost")) {
    const NodeId lost{input.at("lost").get<uint32_t>()};
    world.at(Time{} + 150_s, [&world, lost] { world.fail(lost); });
  }
  world.run(Time{} + 300_s);
  world.recorder.flush_all();
  std::vector<std::string> victims;
  for (const auto& row : world.recorder.rows<PreemptionRow>("/events/preemptions")) {
    victims.push_back(names[row.job]);
  }
  std::ranges::sort(victims);
  std::string text;
  for (const std::string& name : victims) text += (text.empty() ? "" : " ") + name;
  return text;
}

TEST(PreemptionValidation, TakesWhomKubernetesWouldTake) {
  test::check_cases("preemption.json", 10, ours_in_preemption);
}

}  // namespace
}  // namespace orrery
