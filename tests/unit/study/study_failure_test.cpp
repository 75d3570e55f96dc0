// Failures of single runs and of runs in a study: internal errors, lack of memory, outputs that
// cannot be written. Also damaged files of runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/cli/study/study_runner.hpp"
#include "sim/core/check.hpp"
#include "tests/support/cli_run.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

// A policy that fails on purpose. It is built in, so its failure counts as a failure of Orrery.
class FailsInPostBind final : public Policy, public PostBind {
 public:
  struct Params {
    std::string how;
    template <class V>
    void fields(V& v) {
      v("how", how, "check, error, or memory.");
    }
  };
  FailsInPostBind(Handle& handle, const Params& params) : handle_{handle}, how_{params.how} {}
  void post_bind(const PodView& /*pod*/, NodeId /*node*/) override {
    if (handle_.now() < Time{} + 20_min) return;  // the first job of 10 min is over by then
    ORRERY_CHECK(how_ != "check", "this test fails on purpose");
    if (how_ == "error") throw std::runtime_error{"an error on purpose"};
    throw std::bad_alloc{};
  }

 private:
  Handle& handle_;
  const std::string how_;
};
ORRERY_REGISTER_POLICY(FailsInPostBind, "FailsInPostBind", "For tests: fails after 20 minutes.");

constexpr std::string_view kBaseOfFailures =
    "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n"
    "workload: {sources: [{kind: jobs, jobs: [{work: 10min, pods: 1, pod: {gpus: 8}, count: 3, "
    "every: 30min}]}]}\n"
    "run: {until: 3h}\n";
constexpr std::string_view kStudyOfFailures =
    "base: base.yaml\n"
    "axes: [{name: p, arms: [{name: good},\n"
    "  {name: check, set: {policy.plugins: '[{name: FailsInPostBind, args: {how: check}}]'}},\n"
    "  {name: error, set: {policy.plugins: '[{name: FailsInPostBind, args: {how: error}}]'}},\n"
    "  {name: memory, set: {policy.plugins: '[{name: FailsInPostBind, args: {how: memory}}]'}}]}]\n"
    "seeds: {count: 1}\n";

struct StudyFailure : ::testing::Test {
  test::TemporaryFolder folder;
  const std::string study = (folder / "study.yaml").string(), out = (folder / "out").string();

  StudyFailure() {
    folder.write("base.yaml", kBaseOfFailures);
    folder.write("study.yaml", kStudyOfFailures);
  }
  Said call(const char* action, std::vector<const char*> more = {}) const {
    std::vector<const char*> all{"study", action, study.c_str(), "-o", out.c_str()};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  std::string file(const char* name) const { return out + "/runs/" + name; }
};

using StudyDamage = StudyFailure;

// Number of rows in a table of a file that was not finished.
int64_t rows_in(const std::string& part, const char* table) {
  const hid_t file = H5Fopen(part.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, table, H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset);
  const int64_t rows = H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  return rows;
}

TEST_F(StudyFailure, OfASingleRunHasStatus1AndKeepsWhatWasRecorded) {
  const std::string base = (folder / "base.yaml").string(), to = (folder / "run.h5").string();
  const auto with = [&](const std::string& how) {
    const std::string set = "policy.plugins=[{name: FailsInPostBind, args: {how: " + how + "}}]";
    return run({"run", base.c_str(), "-o", to.c_str(), "--set", set.c_str()});
  };
  const Said check = with("check");
  EXPECT_EQ(check.status, 1);
  EXPECT_THAT(check.err, AllOf(HasSubstr("this test fails on purpose\n  at simulated time 1800.0"),
                               HasSubstr("please report this"),
                               HasSubstr("what was recorded so far is in " + to + ".part")));
  EXPECT_EQ(rows_in(to + ".part", "/jobs"), 1);
  EXPECT_FALSE(fs::exists(to));
  const Said error = with("error");
  EXPECT_EQ(error.status, 1);
  EXPECT_THAT(error.err, HasSubstr("internal error: an error on purpose"));
  const Said memory = with("memory");
  EXPECT_EQ(memory.status, 1);
  EXPECT_THAT(memory.err, HasSubstr("out of memory\n"));
}

// Status and output of `orrery run` in a process that may allocate only `bytes` more.
Said run_within(uint64_t bytes, const std::vector<const char*>& args, const fs::path& log) {
  const pid_t child = ::fork();
  if (child == 0) {
    uint64_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    const rlim_t limit = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) + bytes;
    const rlimit both{limit, limit};
    ::setrlimit(RLIMIT_AS, &both);
    const Said said = run(args);
    std::ofstream{log} << said.err;
    ::_exit(said.status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::ifstream file{log};
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
          "",
          {std::istreambuf_iterator<char>{file}, {}}};
}

TEST_F(StudyFailure, ForLackOfMemoryIsReportedAndKeepsWhatWasRecorded) {
  if (test::kIsSanitized) GTEST_SKIP() << "NOT TESTED: sanitizers need all addresses";
  std::string crowd{kBaseOfFailures};
  crowd.replace(crowd.find("count: 3, every: 30min"), 22, "count: 10000000, every: 1us");
  folder.write("base.yaml", crowd);
  const std::string base = (folder / "base.yaml").string(), to = (folder / "run.h5").string();
  const Said said =
      run_within(150'000'000, {"run", base.c_str(), "-o", to.c_str()}, folder / "errors");
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.err,
              AllOf(HasSubstr("out of memory\n"), HasSubstr("what was recorded so far is in ")));
  EXPECT_EQ(rows_in(to + ".part", "/jobs"), 0);
}

TEST_F(StudyFailure, EndsOneRunAndTheRestGoesOn) {
  const Said first = call("run");
  EXPECT_EQ(first.status, 1);
  EXPECT_THAT(first.err, AllOf(HasSubstr("p=check seed 1: internal error: "),
                               HasSubstr("this test fails on purpose"),
                               HasSubstr("p=error seed 1: internal error: an error on purpose"),
                               HasSubstr("p=memory seed 1: out of memory"),
                               HasSubstr("4 runs, 0 of them kept, 3 failed")));
  EXPECT_THAT(call("run").err, HasSubstr("4 runs, 1 of them kept, 3 failed"));
  EXPECT_EQ(call("shard", {"1/2"}).status, 0) << "whoever joins the shards runs the study";
}

TEST_F(StudyFailure, OfAForkedArmEndsThisArmAlone) {
  folder.write("study.yaml", std::string{kStudyOfFailures} + "run: {fork_at: 1h}\n");
  const Said said = call("run");
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.err, AllOf(HasSubstr("p=check seed 1: internal error: "),
                              HasSubstr("this test fails on purpose\n  at simulated time 3600.0"),
                              HasSubstr("p=memory seed 1: out of memory"), HasSubstr("3 failed")));
  EXPECT_THAT(call("run").err, HasSubstr("1 of them kept, 3 failed"));
}

TEST_F(StudyFailure, ToWriteOneOutputEndsThisRunAlone) {
  const std::string two_arms =
      "base: base.yaml\naxes: [{name: policy, parameter: policy.base, values: [default, "
      "strict_gang, native_gang]}]\nseeds: {count: 1}\n";
  for (const bool is_forked : {false, true}) {
    folder.write("study.yaml", two_arms + (is_forked ? "run: {fork_at: 1h}\n" : ""));
    fs::remove_all(out);
    fs::create_directories(file("00001-s1.h5"));  // a folder where the run's file belongs
    const Said said = call("run");
    EXPECT_EQ(said.status, 74) << said.err;
    EXPECT_THAT(said.err, AllOf(HasSubstr("policy=strict_gang seed 1: cannot write"),
                                HasSubstr("3 runs, 0 of them kept, 1 failed")));
    EXPECT_TRUE(fs::exists(file("00002-s1.json")));
  }
}

TEST_F(StudyDamage, OfTheJsonOfARunLetsThisRunBeDoneAgain) {
  folder.write("study.yaml", "base: base.yaml\nseeds: {count: 1}\n");
  ASSERT_EQ(call("run").status, 0);
  const std::string path = file("00000-s1.json");
  const nlohmann::json good = nlohmann::json::parse(std::ifstream{path});
  ASSERT_THAT(call("run").err, HasSubstr("1 runs, 1 of them kept"));
  const auto is_run_again = [&](const std::string& text) {
    std::ofstream{path} << text;
    const Said said = call("run");
    EXPECT_EQ(said.status, 0) << said.err;
    EXPECT_THAT(said.err, HasSubstr("1 runs, 0 of them kept, 0 failed")) << text;
    EXPECT_EQ(nlohmann::json::parse(std::ifstream{path})["summary"], good["summary"]);
  };
  for (const char* const text : {"", "null", "[]", "5", "{}", R"({"key": 5})", R"({"key": []})",
                                 R"({"fingerprint": 5})", "\"text\"", "[[[[1e999]]]]"}) {
    is_run_again(text);
  }
  for (const auto& [key, value] : good.items()) {
    for (const nlohmann::json& other :
         {nlohmann::json{}, nlohmann::json{1}, nlohmann::json{"x"}, nlohmann::json::object()}) {
      nlohmann::json damaged = good;
      damaged[key] = other;
      is_run_again(damaged.dump());
    }
    nlohmann::json damaged = good;
    damaged.erase(key);
    is_run_again(damaged.dump());
  }
  nlohmann::json damaged = good;
  damaged["summary"][0]["value"] = 7;
  is_run_again(damaged.dump());
}

TEST_F(StudyDamage, OfOneByteOfAnOutputShowsWhenTheStudyIsVerified) {
  folder.write("study.yaml", "base: base.yaml\nseeds: {count: 2}\n");
  ASSERT_EQ(call("run").status, 0);
  EXPECT_EQ(call("report", {"--verify"}).status, 0);
  const std::string damaged = file("00000-s2.h5");
  std::fstream bytes{damaged, std::ios::in | std::ios::out | std::ios::binary};
  bytes.seekg(static_cast<std::streamoff>(fs::file_size(damaged) / 2));
  const auto byte = static_cast<char>(bytes.peek() ^ 1);
  bytes.write(&byte, 1);
  bytes.close();
  EXPECT_EQ(call("report").status, 0);
  EXPECT_THAT(call("run").err, HasSubstr("2 runs, 2 of them kept"));
  const Said report = call("report", {"--verify"});
  EXPECT_EQ(report.status, 2);
  EXPECT_THAT(report.err, AllOf(HasSubstr(damaged + ": is not as its run wrote it\n"),
                                HasSubstr("1 damaged run, left out here"),
                                HasSubstr("so far 1 of 2 runs"), Not(HasSubstr("s1.h5"))));
  EXPECT_THAT(call("run", {"--verify"}).err, HasSubstr("2 runs, 1 of them kept"));
  EXPECT_EQ(call("report", {"--verify"}).status, 0);
}

}  // namespace
}  // namespace orrery
