// The traces of Gavel and Shockwave: fields separated by tabs, without a header.
#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/tables/throughputs.hpp"

namespace orrery::traces::gavel {
namespace {

constexpr int64_t kGpusMax = 100'000;
constexpr std::string_view kGavelColumns[] = {"job_type",       "command",     "num_steps_arg",
                                              "needs_data_dir", "total_steps", "arrival_time",
                                              "scale_factor"};
constexpr std::string_view kShockwaveColumns[] = {
    "job_type",        "command",     "working_directory", "num_steps_arg",
    "needs_data_dir",  "total_steps", "scale_factor",      "mode",
    "priority_weight", "SLO",         "duration",          "arrival_time"};

class GavelParser final : public RowParser {
 public:
  GavelParser(ParserInput input, std::span<const std::string_view> columns)
      : pool_{input.pool},
        params_{input.params},
        csv_{std::move(input.source), input.findings, columns, '\t'},
        is_shockwave_{columns.size() == std::size(kShockwaveColumns)} {
    csv_.bind(columns);
    if (!is_shockwave_) open_throughputs();
  }
  std::vector<std::string> side_files() const override { return side_files_; }
  const TraceRow* next() override {
    while (csv_.next_row()) {
      row_ = {};
      number_by_row(csv_.row(), row_.job);
      row_.job.application = interned(csv_, 0, pool_);
      if (is_shockwave_) {
        parse_shockwave();
      } else {
        parse_gavel();
      }
      row_.start = row_.job.submit;
      if (csv_.row_ok()) return &row_;
    }
    return nullptr;
  }

 private:
  void open_throughputs() {
    Findings& findings = csv_.findings();
    if (findings.is_stopped()) return;
    auto source = params_.gavel.throughputs.empty()
                      ? TextSource::open_beside(params_.file, "simulation_throughputs.json")
                      : TextSource::open_file(params_.gavel.throughputs);
    if (source) {
      const std::string name = source->name();
      side_files_.push_back(name);
      Throughputs all = read_throughputs(std::move(*source));
      const auto found = all.by_gpu.find(params_.gavel.gpu);
      if (all.error) {
        findings.stop(*all.error);
      } else if (found == all.by_gpu.end()) {
        findings.stop(name + ": no GPU is called '" + params_.gavel.gpu + "' (gavel.gpu)");
      } else {
        throughputs_ = std::move(found->second);
      }
    } else if (!params_.default_duration) {
      findings.stop("gavel.throughputs: " + params_.file +
                    " counts steps, and there is no simulation_throughputs.json beside it: name "
                    "one, or set default_duration");
    }
  }
  void parse_gavel() {
    TraceJob& job = row_.job;
    const int64_t steps = csv_.whole(4, 0, int64_t{1} << 53U);
    job.submit = Time{} + csv_.seconds(5);
    const int64_t gpus = csv_.whole(6, 1, kGpusMax);
    pack_gpus(csv_, 6, gpus, job);
    const std::string key = Throughputs::key(csv_.text(0), gpus);
    if (const auto found = throughputs_.find(key); found != throughputs_.end()) {
      job.duration = nearest_ns(static_cast<double>(steps) / found->second);
    } else {
      row_.lacks_duration = "its throughput on so many GPUs is unknown";
    }
  }
  void parse_shockwave() {
    TraceJob& job = row_.job;
    pack_gpus(csv_, 6, csv_.whole(6, 1, kGpusMax), job);
    job.duration = csv_.seconds(10);
    job.submit = Time{} + csv_.seconds(11);
  }

  StringPool& pool_;
  const TraceParams& params_;
  CsvReader csv_;
  bool is_shockwave_;
  Throughputs::ByJob throughputs_;
  std::vector<std::string> side_files_;
  TraceRow row_;
};

double gavel_likeness(std::string_view beginning) {
  const auto fields = first_fields(beginning, '\t');
  return fields.size() == 7 && parse_seconds(fields[5]) && parse_whole(fields[6]) ? 1 : 0;
}

double shockwave_likeness(std::string_view beginning) {
  const auto fields = first_fields(beginning, '\t');
  return fields.size() == 12 && parse_seconds(fields[11]) && parse_whole(fields[6]) ? 1 : 0;
}

}  // namespace

const Format kFormat{.id = TraceFormat::Gavel,
                     .open = [](ParserInput input) -> std::unique_ptr<RowParser> {
                       return std::make_unique<GavelParser>(std::move(input), kGavelColumns);
                     },
                     .likeness = gavel_likeness,
                     .durations = Durations::InMostRows,
                     .has_steps = true};

const Format kShockwaveFormat{.id = TraceFormat::Shockwave,
                              .open = [](ParserInput input) -> std::unique_ptr<RowParser> {
                                return std::make_unique<GavelParser>(std::move(input),
                                                                     kShockwaveColumns);
                              },
                              .likeness = shockwave_likeness};

}  // namespace orrery::traces::gavel
