// Requests in the native format: writer and reader.
#include <limits>

#include "models/workload/traces/native/native_layout.hpp"
#include "models/workload/traces/native/native_request_writer.hpp"
#include "models/workload/traces/requests/request_format.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

using namespace traces::native;

// A mask of these bits gives the kind of a request, and says which fields follow its arrival and
// its tokens.
enum Part : uint64_t {
  kIsImage = 1U << 0U,
  kBlocks = 1U << 1U,
  kImages = 1U << 2U,
  kSteps = 1U << 3U,
  kAdapters = 1U << 4U,
  kModel = 1U << 5U,
  kGroupName = 1U << 6U,
  kProgram = 1U << 7U,
  kExecution = 1U << 8U,
  kHasStatus = 1U << 9U,
  kRowStep = 1U << 10U,
};
constexpr uint64_t kPartsAll = (uint64_t{1} << 11U) - 1;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

}  // namespace

NativeRequestWriter::NativeRequestWriter(std::string path,
                                         const std::vector<BlockWriter::Fact>& facts)
    : blocks_{std::move(path), kRequestMagic, facts} {}

void NativeRequestWriter::add(const RequestRow& request) {
  ORRERY_CHECK(request.arrival >= last_arrival_, "requests must come in the order of arrival");
  uint64_t mask = 0;
  const auto mark = [&](bool is_there, Part part) { mask |= is_there ? uint64_t{part} : 0; };
  const auto put = [&](int64_t value) { blocks_.put(static_cast<uint64_t>(value)); };
  mark(request.kind == RequestKind::Image, kIsImage);
  mark(!request.prefix_blocks.empty(), kBlocks);
  mark(request.images > 0, kImages);
  mark(request.steps > 0, kSteps);
  mark(request.adapters > 0, kAdapters);
  mark(!request.model.empty(), kModel);
  mark(!request.group.empty(), kGroupName);
  mark(!request.application.empty(), kProgram);
  mark(request.execution.ns >= 0, kExecution);
  mark(request.status != TraceStatus::Unknown, kHasStatus);
  mark(request.row != last_row_ + 1, kRowStep);
  blocks_.put(mask);
  blocks_.put_span((request.arrival - last_arrival_).ns);
  put(request.input_tokens);
  put(request.output_tokens);
  if ((mask & kBlocks) != 0) {
    blocks_.put(request.prefix_blocks.size());
    int64_t last = 0;
    for (const int64_t block : request.prefix_blocks) {
      blocks_.put_signed(block - last);
      last = block;
    }
  }
  if ((mask & kImages) != 0) put(request.images);
  if ((mask & kSteps) != 0) put(request.steps);
  if ((mask & kAdapters) != 0) put(request.adapters);
  if ((mask & kModel) != 0) blocks_.put_text(request.model);
  if ((mask & kGroupName) != 0) blocks_.put_text(request.group);
  if ((mask & kProgram) != 0) blocks_.put_text(request.application);
  if ((mask & kExecution) != 0) blocks_.put_span(request.execution.ns);
  if ((mask & kHasStatus) != 0) put(static_cast<int64_t>(request.status));
  if ((mask & kRowStep) != 0) blocks_.put_signed(request.row - last_row_);
  last_arrival_ = request.arrival;
  last_row_ = request.row;
  blocks_.end_item();
}

namespace traces {
namespace {

// In format genai, the input tokens are a prompt plus a negative prompt, of up to 1e9 tokens each.
constexpr int64_t kTokensMax = 2'000'000'000;

class NativeRequestParser final : public RequestParser {
 public:
  explicit NativeRequestParser(RequestInput input)
      : findings_{input.findings},
        blocks_{std::move(input.source), kRequestMagic, "request", input.findings, input.pool} {}

  RequestRow* next() override {
    if (!blocks_.begin_item()) return nullptr;
    findings_.start_row(row_.row + 1);
    read();
    return blocks_.end_item() ? &row_ : nullptr;
  }
  std::span<const Fact> facts() const override { return blocks_.facts(); }

 private:
  void read() {
    const uint64_t mask = blocks_.varint();
    if (mask > kPartsAll) blocks_.refuse();
    const auto has = [&](Part part) { return (mask & part) != 0; };
    const auto small = [&] { return static_cast<int32_t>(blocks_.integer(0, 1'000'000)); };
    const int64_t last_row = row_.row;
    row_ = {};
    row_.kind = has(kIsImage) ? RequestKind::Image : RequestKind::Llm;
    const Duration since = blocks_.span();
    if (since.ns > kMax - last_arrival_.ns) return blocks_.refuse();
    row_.arrival = last_arrival_ = last_arrival_ + since;
    row_.input_tokens = blocks_.integer(0, kTokensMax);
    row_.output_tokens = blocks_.integer(0, kTokensMax);
    ids_.clear();
    if (has(kBlocks)) read_blocks();
    row_.prefix_blocks = ids_;
    if (has(kImages)) row_.images = small();
    if (has(kSteps)) row_.steps = small();
    if (has(kAdapters)) row_.adapters = small();
    if (has(kModel)) row_.model = blocks_.text();
    if (has(kGroupName)) row_.group = blocks_.text();
    if (has(kProgram)) row_.application = blocks_.text();
    if (has(kExecution)) row_.execution = blocks_.span();
    if (has(kHasStatus)) {
      constexpr auto kLast = static_cast<int64_t>(enum_names(TraceStatus{}).size()) - 1;
      row_.status = static_cast<TraceStatus>(blocks_.integer(0, kLast));
    }
    const int64_t step = has(kRowStep) ? blocks_.signed_integer() : 1;
    const bool is_row = step > -last_row && step < kMax - last_row;
    if (is_row) row_.row = last_row + step;
    if (!is_row) blocks_.refuse();
  }
  void read_blocks() {
    const int64_t count = blocks_.integer(1, kPrefixBlocksMax);
    uint64_t last = 0;
    for (int64_t i = 0; i < count && !blocks_.is_bad(); ++i) {
      last += static_cast<uint64_t>(blocks_.signed_integer());
      if (last > static_cast<uint64_t>(kMax)) blocks_.refuse();
      ids_.push_back(static_cast<int64_t>(last));
    }
  }

  Findings& findings_;
  BlockReader blocks_;
  std::vector<int64_t> ids_;
  Time last_arrival_;
  RequestRow row_;
};

}  // namespace

const RequestLayout kNativeRequestLayout{
    .id = RequestFormat::Native,
    .open = [](RequestInput input) -> std::unique_ptr<RequestParser> {
      return std::make_unique<NativeRequestParser>(std::move(input));
    },
    .looks_like = [](std::string_view beginning) { return beginning.starts_with(kRequestMagic); },
    .has_groups = true,
    .has_statuses = true};

}  // namespace traces
}  // namespace orrery
