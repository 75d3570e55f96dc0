// The offered load, which `validate` prints and each run logs at its start: jobs per hour times
// GPUs per job times hours of work, divided by the GPUs of the cluster.
#include <gmock/gmock.h>

#include <charconv>
#include <string>

#include "tests/support/cli_run.hpp"
#include "tests/support/temporary_folder.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHead =
    "cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}\nworkload:\n  sources:\n";

std::string generator(const std::string& rate, const std::string& until) {
  return kHead + "    - {kind: generator, arrival_rate: " + rate +
         ", shape: {kind: classes, classes: [{gpus: {kind: uniform, low: 8, high: 8}, duration: "
         "{kind: uniform, low: 2h, high: 2h}}]}}\nrun: {until: " +
         until + "}\n";
}

class OfferedLoadText : public ::testing::Test {
 protected:
  Said validate(const std::string& scenario) {
    folder_.write("s.yaml", scenario);
    return run({"validate", path_.c_str()});
  }
  Said run_it(const std::string& scenario) {
    folder_.write("s.yaml", scenario);
    return run({"run", path_.c_str(), "-o", output_.c_str()});
  }

  test::TemporaryFolder folder_;
  std::string path_ = (folder_ / "s.yaml").string(), output_ = (folder_ / "out.h5").string();
};

// 14 jobs/h x 8 GPUs x 2 h = 224 GPU-hours per hour, 7 times the 32 GPUs. The number of jobs is
// random: 1,400 in 100 h with a standard deviation of 2.7 %. The limits 6.5 and 7.5 are 0.5 / (7 x
// 2.7 %) = 2.6 deviations away.
TEST_F(OfferedLoadText, AnOverloadedClusterIsReportedWithItsFactor) {
  const Said said = validate(generator("14", "100h"));
  EXPECT_EQ(said.status, 0) << said.err;
  const size_t at = said.out.find("load: ");
  ASSERT_NE(at, std::string::npos) << said.out;
  double times = 0;
  std::from_chars(said.out.data() + at + 6, said.out.data() + said.out.size(), times);
  EXPECT_GT(times, 6.5);
  EXPECT_LT(times, 7.5);
  EXPECT_THAT(said.out, HasSubstr(" times what the cluster has: "));
  EXPECT_THAT(said.out, HasSubstr(" GPU-hours requested per hour, 32 available\n"));
}

// One job of 8 GPUs and 1 h in each of 10 hours: a load of 8 GPU-hours per hour on 32 GPUs.
TEST_F(OfferedLoadText, ListedJobsAreASharePerHour) {
  const std::string jobs =
      kHead + "    - {kind: jobs, jobs: [{work: 1h, pod: {gpus: 8}, count: 10, every: 1h}]}\n";
  EXPECT_THAT(validate(jobs + "run: {until: 10h}\n").out,
              HasSubstr("  load: 25 % of what the cluster has: 8 GPU-hours requested per hour, "
                        "32 available\n"));
}

TEST_F(OfferedLoadText, JobsOfOneInstantAreASum) {
  const std::string jobs = kHead + "    - {kind: jobs, jobs: [{work: 4h, pod: {gpus: 8}}]}\n";
  EXPECT_THAT(validate(jobs).out,
              HasSubstr("load: 32 GPU-hours requested at one instant, 1 h of all 32 GPUs"));
}

TEST_F(OfferedLoadText, WithoutGpusNothingIsSaid) {
  const std::string jobs = kHead + "    - {kind: jobs, jobs: [{work: 4h, pod: {cpus: 8}}]}\n";
  EXPECT_THAT(validate(jobs).out, Not(HasSubstr("load:")));
}

TEST_F(OfferedLoadText, ARunSaysItBeforeItBeginsTracesIncluded) {
  folder_.write("jobs.csv", "submit,duration,gpus\n0,3600,8\n3600,3600,8\n");
  const std::string trace = kHead + "    - {kind: trace, file: jobs.csv}\nrun: {until: 2h}\n";
  EXPECT_THAT(run_it(trace).err,
              HasSubstr("load: 25 % of what the cluster has: 8 GPU-hours requested per hour, 32 "
                        "available"));
  EXPECT_THAT(validate(trace).out, Not(HasSubstr("load:")));  // validate opens no trace
}

}  // namespace
}  // namespace orrery
