// models/workload/traces/tables/pai_tables.hpp -- tables of the Alibaba PAI log of 2020 that
// complement the replayed table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/workload/traces/formats/row_parser.hpp"
#include "models/workload/traces/io/csv.hpp"
#include "models/workload/traces/io/string_pool.hpp"
#include "models/workload/traces/io/text_source.hpp"

namespace orrery::traces {

constexpr std::array<std::string_view, 10> kPaiTaskColumns = {
    "job_name", "task_name", "inst_num", "status",   "start_time",
    "end_time", "plan_cpu",  "plan_mem", "plan_gpu", "gpu_type"};

// The request of one instance of a task.
struct PaiPlan {
  int64_t cpu_milli = 0;
  Bytes memory;
  int32_t gpus = 0;
  int32_t gpu_milli = 1000;
  std::string_view gpu_model;
};
// The plan in a row of the task table. The columns of `row` must be bound. A request of more than
// one GPU is rounded up to whole GPUs.
PaiPlan parse_pai_plan(CsvReader& row, StringPool& pool);
constexpr std::array<Word<TraceStatus>, 5> kPaiStates = {
    Word<TraceStatus>{"Terminated", TraceStatus::Completed},
    {"Failed", TraceStatus::Failed},
    {"Running", TraceStatus::Running},
    {"Waiting", TraceStatus::Pending},
    {"Interrupted", TraceStatus::Unknown}};

// Reads the start from `start_column` and the end from the column after it. Jobs that never started
// are left out.
void parse_pai_times(CsvReader& row, size_t start_column, TraceRow& out);
void apply_pai_plan(const PaiPlan& plan, TraceJob& job);
// "job/task", the name of a task.
std::string pai_task_name(std::string_view job, std::string_view task);

// What the job and group tables say of a job.
struct PaiSubmission {
  Time at;
  bool is_known = false;
  std::string_view user, workload, gpu_model;
};

// Measured use of one or more workers. A worker has one value per resource for its whole life.
struct PaiUse {
  // Numbers of workers with a measured CPU use, with a measured GPU use, and with a measured memory
  // use.
  int32_t workers = 0, gpu_workers = 0, memory_workers = 0;
  double cpu = 0;     // hundredths of a core, summed over the workers
  double gpu = 0;     // hundredths of a GPU, summed over the workers
  double memory = 0;  // GB, of the worker with the most
};

// The tables may have millions of jobs, so names are stored as 63-bit hashes. Two names with the
// same hash become likely only with billions of names.
class PaiTables {
 public:
  enum class UseOf : uint8_t { Tasks, Workers };

  // Findings and pool must outlive the tables.
  PaiTables(Findings& findings, StringPool& pool) : findings_{findings}, pool_{pool} {}

  // The functions ..._beside() look for their tables in the folder of `file`, then in its parent
  // folder. read_plans_beside() and read_uses_beside() return false if their table does not exist.
  void read_jobs_beside(const std::string& file);
  bool read_plans_beside(const std::string& file);
  bool read_uses_beside(const std::string& file, UseOf of);
  void read_groups(TextSource source);  // call before read_jobs()
  void read_jobs(TextSource source);
  void read_plans(TextSource source);
  void read_uses(TextSource source, UseOf of);

  const std::vector<std::string>& files() const { return files_; }

  // Sets submission, user, application and GPU model of the job from the job and group tables. If
  // the job's submission is unknown or after its start, the job is submitted at its start.
  void apply_submission(std::string_view job_name, TraceRow& row) const;
  const PaiPlan* plan_of(const std::string& task) const;
  // Replaces the planned CPU, memory and GPUs of a pod by the measured use. A resource that was not
  // measured keeps its plan. If no GPUs were planned, the pod gets no GPUs. The number of pods does
  // not change.
  void apply_use(std::string_view name, TraceJob& job) const;

 private:
  struct Tag {
    std::string_view workload, gpu_model;
  };
  std::optional<TextSource> open(const std::string& file, const std::string& table);
  template <class F>
  void read_table(TextSource source, std::span<const std::string_view> columns, F&& each);

  Findings& findings_;
  StringPool& pool_;
  bool has_jobs_ = false;
  std::vector<std::string> files_;
  std::unordered_map<int64_t, Tag> tags_;
  std::unordered_map<int64_t, PaiSubmission> jobs_;
  std::unordered_map<int64_t, PaiPlan> plans_;
  std::unordered_map<int64_t, PaiUse> uses_;
};

}  // namespace orrery::traces
