// bench/engine.cpp -- the event core compared with a reference program. Both run by turns on the
// same machine.
//
//   bench_engine [OPERATIONS [REPETITIONS [PENDING...]]]
//
// Loads, each with callbacks and with one coroutine process per pending event:
//   hold   every event schedules one event after an exponential delay; there is no other state
//   phold  every event updates the 64-byte state of a random station and schedules the next event;
//          with processes, no station is drawn: each process is a station that wakes itself
//   tour   as phold, but each process is a message that travels from station to station; before a
//          message sleeps, it names its next station, so that the station can be prefetched
// Random numbers are those of the reference program, so equal checksums show an equal order of
// events. The reference program has two builds: one without fused multiply-add gives the checksums,
// and one that may use it gives the times.
#include "sim/engine/engine.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "sim/core/int128.hpp"
#include "sim/core/scatter.hpp"
#include "sim/engine/process.hpp"

namespace orrery {
namespace {

double thread_cpu_ns() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) * 1e9 + static_cast<double>(spent.tv_nsec);
}

uint64_t draw_bits(uint64_t& state) { return scattered(state += 0x9E3779B97F4A7C15u); }

// An exponential random number with mean 1. The logarithm is a cheap approximation, so that the
// engine dominates the cost.
float exponential(uint64_t bits) {
  const float uniform = (static_cast<float>(bits >> 40) + 0.5f) * 0x1p-24f;
  const auto word = std::bit_cast<uint32_t>(uniform);
  const auto exponent = static_cast<float>(static_cast<int>(word >> 23) - 127);
  const auto m = std::bit_cast<float>((word & 0x7FFFFFu) | 0x3F800000u);
  const float log2 =
      exponent + (((-0.0821343f * m + 0.649709f) * m - 2.13465f) * m + 4.08637f) * m - 2.51928f;
  const float value = -0.69314718f * log2;
  return value > 0 ? value : 0;
}

constexpr uint64_t kNotCompared = 0;  // the reference has no checksum for this load

struct Result {
  double ns = 1e30;  // CPU time per event
  uint64_t checksum = 0;
};

// CPU time per event in ns, over `operations` events that follow `warm_up` events. Calls `begin`
// after the warm-up.
double measure(Engine& engine, uint64_t warm_up, uint64_t operations, auto&& begin) {
  engine.set_poll(warm_up, [&] { engine.stop(); });
  engine.run();
  begin();
  engine.set_poll(operations, [&] { engine.stop(); });
  const double start = thread_cpu_ns();
  engine.run();
  return (thread_cpu_ns() - start) / static_cast<double>(operations);
}

uint64_t warm_up_of(uint64_t pending) { return std::max<uint64_t>(2 * pending, 100'000); }

struct Hold {
  Engine engine;
  uint64_t random = 12345;
  uint64_t checksum = 0;

  Duration draw() {
    const double seconds = exponential(draw_bits(random));
    return {static_cast<int64_t>(seconds * 1e9) + 1};
  }
  void note(uint64_t id) {
    checksum = checksum * 31 + (static_cast<uint64_t>(engine.now().ns) ^ id);
  }
  void schedule(uint64_t id) {
    engine.after(draw(), Label{"bench.hold"}, [this, id] {
      note(id);
      schedule(id);
    });
  }
};

Process hold_script(Hold& hold, uint64_t id) {
  for (;;) {
    co_await sleep_for(hold.draw());
    hold.note(id);
  }
}

Result hold_callbacks(uint64_t pending, uint64_t operations) {
  Hold hold;
  for (uint64_t i = 0; i < pending; ++i) hold.schedule(i);
  const double ns =
      measure(hold.engine, warm_up_of(pending), operations, [&] { hold.checksum = 0; });
  return {ns, hold.checksum};
}

Result hold_processes(uint64_t pending, uint64_t operations) {
  Hold hold;
  std::vector<Process> processes;
  for (uint64_t i = 0; i < pending; ++i) {
    processes.push_back(hold_script(hold, i));
    processes.back().start(hold.engine, Label{"bench.hold"});
  }
  const uint64_t warm_up = pending + warm_up_of(pending);  // each process starts with an event
  const double ns = measure(hold.engine, warm_up, operations, [&] { hold.checksum = 0; });
  return {ns, hold.checksum};
}

Duration exponential_second(uint64_t bits) {
  return {static_cast<int64_t>(exponential(bits) * 1e9f) + 1};
}

struct alignas(64) Station {  // a logical process of PHOLD
  uint64_t random = 0;
  uint64_t count = 0;
  uint64_t last = 0;
  struct Phold* model = nullptr;
  inline void receive();
};

struct Phold {
  Engine engine;
  std::vector<Station> stations;
  uint64_t random = 7;

  explicit Phold(uint64_t size) : stations(size) {
    for (Station& station : stations) {
      station.random = draw_bits(random);
      station.model = this;
    }
  }
  void send(Duration delay, Station& station) {
    engine.after(delay, Label{"bench.phold"}, [&station] { station.receive(); });
  }
  struct Next {
    Duration delay;
    Station* station;
  };
  Next visit(Station& station) {
    ++station.count;
    station.last = static_cast<uint64_t>(engine.now().ns);
    const uint64_t first = draw_bits(station.random);
    const auto product = static_cast<uint128_t>(draw_bits(station.random)) * stations.size();
    return {exponential_second(first), &stations[static_cast<uint64_t>(product >> 64)]};
  }
  uint64_t checksum() const {
    uint64_t sum = 0;
    for (const Station& station : stations) sum = sum * 31 + (station.count ^ station.last);
    return sum;
  }
};

void Station::receive() {
  const Phold::Next next = model->visit(*this);
  model->send(next.delay, *next.station);
}

// A process that is its own station: its local variables are the state.
Process phold_script(Phold& phold, uint64_t random) {
  uint64_t count = 0;
  Time last;
  for (;;) {
    co_await sleep_for(exponential_second(draw_bits(random)));
    ++count;
    last = phold.engine.now();
  }
}

// A message that travels from station to station. sleep_for() prefetches the next station.
Process tour_script(Phold& phold, Phold::Next next) {
  for (;;) {
    co_await sleep_for(next.delay, next.station);
    next = phold.visit(*next.station);
  }
}

Result phold_callbacks(uint64_t pending, uint64_t operations) {
  Phold phold{pending};
  for (Station& station : phold.stations) {
    phold.send(exponential_second(draw_bits(phold.random)), station);
  }
  const double ns = measure(phold.engine, warm_up_of(pending), operations, [] {});
  return {ns, phold.checksum()};
}

Result phold_processes(uint64_t pending, uint64_t operations) {
  Phold phold{pending};
  std::vector<Process> processes;
  for (uint64_t i = 0; i < pending; ++i) {
    processes.push_back(phold_script(phold, draw_bits(phold.random)));
    processes.back().start(phold.engine, Label{"bench.phold"});
  }
  const double ns = measure(phold.engine, pending + warm_up_of(pending), operations, [] {});
  return {ns, kNotCompared};
}

Result tour_processes(uint64_t pending, uint64_t operations) {
  Phold phold{pending};
  std::vector<Process> processes;
  for (Station& station : phold.stations) {
    const Duration delay = exponential_second(draw_bits(phold.random));
    processes.push_back(tour_script(phold, {delay, &station}));
    processes.back().start(phold.engine, Label{"bench.phold"});
  }
  const double ns = measure(phold.engine, pending + warm_up_of(pending), operations, [] {});
  return {ns, phold.checksum()};
}

// Runs the reference program, and reads the time per event and the checksum from its output.
// Returns Result{} if the program is missing.
Result reference(const std::string& program, uint64_t pending, uint64_t operations) {
#ifdef ORRERY_BENCH_REFERENCE_DIR
  const bool is_hold = program.starts_with("hold");
  std::string command =
      ORRERY_BENCH_REFERENCE_DIR "/reference_" + program + " stable_wheel256_c128 ";
  command += std::to_string(pending) + (is_hold ? " " : " 1 ") + std::to_string(operations);
  command += is_hold ? " exp 16 1" : " 1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::array<char, 1024> buffer{};
  const size_t size = std::fread(buffer.data(), 1, buffer.size() - 1, pipe);
  pclose(pipe);
  const std::string text{buffer.data(), size};
  const size_t figure = text.find("(min ");
  const size_t sum = text.find("sum=");
  if (figure == std::string::npos || sum == std::string::npos) return {};
  return {std::strtod(text.c_str() + figure + 5, nullptr),
          std::strtoull(text.c_str() + sum + 4, nullptr, 16)};
#else
  static_cast<void>(program), static_cast<void>(pending), static_cast<void>(operations);
  return {};
#endif
}

struct Load {
  const char* name;
  const char* reference;
  Result (*callbacks)(uint64_t pending, uint64_t operations);
  Result (*processes)(uint64_t pending, uint64_t operations);
};

void keep_least(Result& best, const Result& run) {
  best = {std::min(best.ns, run.ns), run.checksum};
}

bool compare(const Load& load, uint64_t pending, uint64_t operations, int repetitions) {
  Result callbacks;
  Result processes;
  Result base;
  for (int i = 0; i < repetitions; ++i) {
    keep_least(base, reference(load.reference, pending, operations));
    keep_least(callbacks, load.callbacks(pending, operations));
    keep_least(processes, load.processes(pending, operations));
  }
  const bool is_compared = base.ns < 1e30;
  const Result exact = reference(std::string{load.reference} + "_exact", pending, operations);
  const uint64_t expected = is_compared ? exact.checksum : callbacks.checksum;
  const bool agrees = callbacks.checksum == expected &&
                      (processes.checksum == expected || processes.checksum == kNotCompared);
  std::printf("%-6s %8llu %10.1f %10.1f ", load.name, static_cast<unsigned long long>(pending),
              callbacks.ns, processes.ns);
  if (is_compared) {
    std::printf("%10.1f %9.2f %9.2f", base.ns, callbacks.ns / base.ns, processes.ns / base.ns);
  } else {
    std::printf("%10s %9s %9s", "-", "-", "-");
  }
  std::printf("  %s\n", agrees ? "same" : "DIFFERS");
  std::fflush(stdout);
  return agrees;
}

int bench(int argc, char** argv) {
  const auto operations = argc > 1 ? static_cast<uint64_t>(std::atof(argv[1])) : 3'000'000u;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  std::vector<uint64_t> sizes;
  for (int i = 3; i < argc; ++i) sizes.push_back(static_cast<uint64_t>(std::atof(argv[i])));
  if (sizes.empty()) sizes = {1'000, 100'000, 1'000'000};
  std::printf("least CPU ns per event of %d runs of %llu events\n", repetitions,
              static_cast<unsigned long long>(operations));
  std::printf("%-6s %8s %10s %10s %10s %9s %9s  %s\n", "load", "pending", "callback", "process",
              "reference", "callback", "process", "order");
  std::printf("%-6s %8s %10s %10s %10s %9s %9s\n", "", "", "", "", "", "ratio", "ratio");
  bool agrees = true;
  for (const Load& load : {Load{"hold", "hold", hold_callbacks, hold_processes},
                           Load{"phold", "phold", phold_callbacks, phold_processes},
                           Load{"tour", "phold", phold_callbacks, tour_processes}}) {
    for (const uint64_t pending : sizes) {
      agrees = compare(load, pending, operations, repetitions) && agrees;
    }
  }
  return agrees ? 0 : 1;
}

}  // namespace
}  // namespace orrery

int main(int argc, char** argv) { return orrery::bench(argc, argv); }
