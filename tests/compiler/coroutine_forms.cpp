// Checks whether the compiler supports the coroutine forms that the project allows. GCC 12.2
// destroys temporaries of some other forms twice, or never; see sim/engine/process.hpp. Each form
// is run up to each of its suspensions and destroyed there, and once to its end. No object may leak
// or be destroyed twice.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

int live = 0;  // number of Tracked objects that are alive
std::coroutine_handle<> suspended;

struct Tracked {
  int id;
  explicit Tracked(int i) : id{i} { ++live; }
  Tracked(Tracked&& other) noexcept : id{std::exchange(other.id, -1)} { ++live; }
  Tracked& operator=(Tracked&& other) noexcept {
    id = other.id;
    return *this;
  }
  ~Tracked() { --live; }
};

struct Script {
  struct promise_type {
    Script get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

struct Delay {
  int value;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { suspended = handle; }
  int await_resume() const { return value; }
};
constexpr int kReady = 7;
struct Acquire {
  int value;
  bool await_ready() const { return value == kReady; }
  void await_suspend(std::coroutine_handle<> handle) const { suspended = handle; }
  Tracked await_resume() const { return Tracked{value}; }
};
struct Pair {
  int value;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { suspended = handle; }
  std::pair<int, int> await_resume() const { return {value, value + 1}; }
};

Delay sleep_for(int span) { return {span}; }
struct Resource {
  Delay delay(int span) const { return {span}; }
  Acquire acquire(int units) const { return {units}; }
  Pair pair(int value) const { return {value}; }
};

struct Model {
  Resource resource;
  int rounds = 0;
  int offset = 1;
  std::string name = "long enough not to be stored inside the string object itself";
  std::vector<int> values{1, 2, 3};
  int sum(int a, int b) const { return a + b + rounds; }

  Script statement() {
    while (rounds < 3) {
      co_await resource.delay(rounds + offset);
      ++rounds;
    }
  }
  Script statement_with_calls() {
    while (rounds < 3) {
      co_await sleep_for(sum(offset, values[0]));
      ++rounds;
    }
  }
  Script named_value() {
    while (rounds < 3) {
      auto value = co_await resource.delay(rounds + offset);
      if (value >= 0) ++rounds;
    }
  }
  Script named_constant() {
    while (rounds < 3) {
      const int value = co_await resource.delay(rounds);
      if (value < 0) continue;
      ++rounds;
    }
  }
  Script named_lease() {
    while (rounds < 3) {
      auto lease = co_await resource.acquire(rounds + static_cast<int>(values.size()));
      co_await resource.delay(rounds);
      ++rounds;
      if (lease.id < 0) co_return;
    }
  }
  Script lease_without_wait() {
    while (rounds < 3) {
      auto lease = co_await resource.acquire(kReady);
      co_await resource.delay(rounds);
      ++rounds;
    }
  }
  Script binding() {
    while (rounds < 3) {
      auto [a, b] = co_await resource.pair(rounds);
      if (b > a) ++rounds;
    }
  }
  Script range_for_with_lease() {
    for (const int value : values) {
      auto lease = co_await resource.acquire(value);
      co_await resource.delay(rounds);
      ++rounds;
    }
  }
  Script local_strings() {
    std::string copy = name;
    while (rounds < 3) {
      std::string longer = copy + name;
      co_await resource.delay(static_cast<int>(longer.size()) + rounds);
      ++rounds;
    }
  }
  Script by_value(std::string text, std::unique_ptr<int> number) {
    while (rounds < 3) {
      co_await resource.delay(*number + static_cast<int>(text.size()) + rounds);
      ++rounds;
    }
  }
  Script nested_blocks() {
    while (rounds < 3) {
      if (rounds < 9) {
        for (int i = 0; i < 1; ++i) {
          auto lease = co_await resource.acquire(rounds + i);
          if (lease.id < 99) {
            co_await resource.delay(rounds);
          }
        }
      }
      ++rounds;
    }
  }
};

struct Form {
  const char* name;
  Script (*begin)(Model& model);
};
constexpr Form kForms[] = {
    {"co_await f(...);", [](Model& m) { return m.statement(); }},
    {"co_await f(g(...));", [](Model& m) { return m.statement_with_calls(); }},
    {"auto x = co_await f(...);", [](Model& m) { return m.named_value(); }},
    {"const int x = co_await f(...);", [](Model& m) { return m.named_constant(); }},
    {"auto lease = co_await f(...);", [](Model& m) { return m.named_lease(); }},
    {"auto lease, ready at once", [](Model& m) { return m.lease_without_wait(); }},
    {"auto [a, b] = co_await f(...);", [](Model& m) { return m.binding(); }},
    {"lease in a range-for", [](Model& m) { return m.range_for_with_lease(); }},
    {"local strings", [](Model& m) { return m.local_strings(); }},
    {"parameters by value", [](Model& m) { return m.by_value(m.name, std::make_unique<int>(4)); }},
    {"nested blocks", [](Model& m) { return m.nested_blocks(); }},
};

// Resumes the script at most `resumptions` times, and then destroys it. Returns whether the script
// had ended before. `is_good`: no object leaked, none was destroyed twice, and if the script had
// ended, it had made its three rounds.
bool run(const Form& form, int resumptions, bool& is_good) {
  Model model{};
  live = 0;
  Script script = form.begin(model);
  script.handle.resume();
  for (int i = 1; i < resumptions && !script.handle.done(); ++i) suspended.resume();
  const bool is_done = script.handle.done();
  script.handle.destroy();
  is_good = live == 0 && (!is_done || model.rounds == 3);
  return is_done;
}

}  // namespace

int main() {
  int failures = 0;
  for (const Form& form : kForms) {
    bool is_good = true;
    int resumptions = 1;
    while (!run(form, resumptions, is_good) && is_good && resumptions < 40) ++resumptions;
    std::printf("%-32s %s\n", form.name, is_good ? "kept" : "MISCOMPILED");
    failures += is_good && resumptions < 40 ? 0 : 1;
  }
  return failures == 0 ? 0 : 1;
}
