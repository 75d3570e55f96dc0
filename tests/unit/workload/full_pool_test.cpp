// Some formats have fixed names of queues, GPU models or applications. A parser must give jobs
// these names even if the pool of names is full.
#include <string>

#include "models/workload/traces/formats/format.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery::traces {
namespace {

class FullPool : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    pool_ = new StringPool;
    for (size_t i = 0; i < StringPool::kMax; ++i) pool_->intern("u" + std::to_string(i));
  }
  static void TearDownTestSuite() {
    delete pool_;
    pool_ = nullptr;
  }
  // The first job that the parser finds in the text.
  TraceRow first(const Format& format, std::string_view text) {
    const TraceParams params;
    parser_ =
        open_parser(format, {TextSource::from_memory(text, "jobs.csv"), findings_, *pool_, params});
    const TraceRow* const row = parser_->next();
    EXPECT_TRUE(findings_.errors().empty()) << findings_.errors()[0];
    EXPECT_NE(row, nullptr);
    return row == nullptr ? TraceRow{} : *row;
  }

  static StringPool* pool_;
  Findings findings_{{.file = "jobs.csv"}};
  std::unique_ptr<RowParser> parser_;
};
StringPool* FullPool::pool_ = nullptr;

TEST_F(FullPool, LeavesGoogleItsSchedulingClasses) {
  EXPECT_EQ(pool_->intern("3"), std::nullopt);
  const TraceRow row =
      first(google::kJobsFormat, "1,,8,0,u1,3,name,u2\n2,,8,1,u1,3,name,u2\n3,,8,4,u1,3,name,u2\n");
  EXPECT_EQ(row.job.queue, "3");
}

TEST_F(FullPool, LeavesPaiItsNameOfTheV100) {
  const TraceRow row =
      first(pai::kFormat, "job2,worker,1,Failed,1020.0,1030.0,600,29.3,200,V100\n");
  EXPECT_EQ(row.job.gpu_models, "V100M16");
}

TEST_F(FullPool, LeavesAcmeItsApplications) {
  const TraceRow row = first(acme::kConvertedFormat,
                             "job_id,arrival_time,num_iteration,iteration_computing_time,"
                             "gpu_workers,gpu_per_worker,cpu_per_gpu_worker,tensorsizes,"
                             "profiled_network\n7,10,4,0.5,2,8,12,1,1000\n");
  EXPECT_EQ(row.job.application, "Pretrain");
}

}  // namespace
}  // namespace orrery::traces
