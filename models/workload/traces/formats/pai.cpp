// The Alibaba PAI log of 2020: tables without headers. A row of the task table is a gang of equal
// instances. A row of the instance table is one instance, and names the worker that ran it. Other
// tables in the same folder have the user, submission time and application of a job, and the
// resource use measured for each worker.
#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/tables/pai_tables.hpp"

namespace orrery::traces::pai {
namespace {

constexpr size_t kNameMax = 64;

class PaiParser : public RowParser {
 public:
  const TraceRow* next() final {
    while (csv_.next_row()) {
      row_ = {};
      parse();
      if (csv_.row_ok()) return &row_;
    }
    return nullptr;
  }
  std::vector<std::string> side_files() const final { return tables_.files(); }

 protected:
  PaiParser(ParserInput input, std::span<const std::string_view> columns, PaiTables::UseOf uses)
      : is_measured_{input.params.pai.measured},
        tables_{input.findings, input.pool},
        csv_{std::move(input.source), input.findings, columns},
        pool_{input.pool} {
    csv_.bind(columns);
    const std::string& file = input.params.file;
    if (csv_.findings().is_stopped()) return;
    tables_.read_jobs_beside(file);
    if (is_measured_ && !tables_.read_uses_beside(file, uses)) {
      csv_.findings().stop("pai.measured: there is no pai_sensor_table.csv beside " + file);
    }
  }
  virtual void parse() = 0;

  bool is_measured_;
  PaiTables tables_;
  CsvReader csv_;
  StringPool& pool_;
  TraceRow row_;
};

class TaskParser final : public PaiParser {
 public:
  explicit TaskParser(ParserInput input)
      : PaiParser{std::move(input), kPaiTaskColumns, PaiTables::UseOf::Tasks} {}

 private:
  enum Column : size_t { kJob, kTask, kInstances, kStatus, kStart };

  void parse() override {
    TraceJob& job = row_.job;
    job.row = csv_.row();
    const std::string_view name = csv_.short_text(kJob, kNameMax);
    if (name.empty()) csv_.wrong(kJob, "a name");
    job.id = id_of(name);
    const std::string full = pai_task_name(name, csv_.short_text(kTask, kNameMax));
    job.name = TraceName{full};
    job.status = csv_.word<TraceStatus>(kStatus, kPaiStates);
    job.pods =
        static_cast<int32_t>(csv_.is_nothing(kInstances) ? 1 : csv_.whole(kInstances, 1, 100'000));
    apply_pai_plan(parse_pai_plan(csv_, pool_), job);
    parse_pai_times(csv_, kStart, row_);
    tables_.apply_submission(name, row_);
    if (is_measured_) tables_.apply_use(full, job);
  }
};

constexpr std::string_view kInstanceColumns[] = {"job_name",    "task_name", "inst_name",
                                                 "worker_name", "inst_id",   "status",
                                                 "start_time",  "end_time",  "machine"};

// Each worker becomes a job of one pod. The worker's submission is in the job table (by
// job_name), and its request in the task table. Workers of one task may run for different times, as
// recorded.
class InstanceParser final : public PaiParser {
 public:
  explicit InstanceParser(ParserInput input)
      : PaiParser{std::move(input), kInstanceColumns, PaiTables::UseOf::Workers} {
    const std::string& file = input.params.file;
    if (csv_.findings().is_stopped() || tables_.read_plans_beside(file)) return;
    csv_.findings().stop(file + " does not say what instances asked for: put " +
                         "pai_task_table.csv beside it");
  }

 private:
  enum Column : size_t {
    kJob,
    kTask,
    kInstance,
    kWorker,
    kInstanceId,
    kStatus,
    kStart,
    kEnd,
    kMachine
  };

  void parse() override {
    TraceJob& job = row_.job;
    identify(csv_, csv_.is_nothing(kWorker) ? kInstance : kWorker, job);
    job.status = csv_.word<TraceStatus>(kStatus, kPaiStates);
    if (!csv_.is_nothing(kMachine)) job.node = interned(csv_, kMachine, pool_);
    parse_pai_times(csv_, kStart, row_);
    const PaiPlan* const plan = tables_.plan_of(pai_task_name(csv_.text(kJob), csv_.text(kTask)));
    if (plan == nullptr) {
      csv_.findings().leave_out("its task is not in the task table: what it asked for is unknown");
      return;
    }
    apply_pai_plan(*plan, job);
    tables_.apply_submission(csv_.text(kJob), row_);
    if (is_measured_) tables_.apply_use(csv_.text(kWorker), job);
  }
};

// A table is recognised by its number of fields and a valid status.
template <size_t fields_count, size_t status>
double likeness(std::string_view beginning) {
  const auto fields = first_fields(beginning, ',');
  if (fields.size() != fields_count) return 0;
  for (const auto& state : kPaiStates) {
    if (fields[status] == state.text) return 1;
  }
  return 0;
}

template <class Parser>
std::unique_ptr<RowParser> open_table(ParserInput input) {
  return std::make_unique<Parser>(std::move(input));
}

}  // namespace

const Format kFormat{.id = TraceFormat::Pai,
                     .open = open_table<TaskParser>,
                     .likeness = likeness<10, 3>,
                     .durations = Durations::InMostRows,
                     .has_statuses = true,
                     .has_starts = true,
                     .has_sensors = true,
                     .is_unsorted = true};

const Format kInstancesFormat{.id = TraceFormat::PaiInstances,
                              .open = open_table<InstanceParser>,
                              .likeness = likeness<9, 5>,
                              .durations = Durations::InMostRows,
                              .has_statuses = true,
                              .has_starts = true,
                              .has_sensors = true,
                              .has_nodes = true,
                              .is_unsorted = true};

}  // namespace orrery::traces::pai
