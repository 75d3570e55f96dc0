// models/scheduling/contract/policy_registry.hpp -- finds linked-in and loaded policies by name.
//
// A policy's .cpp ends with
//   ORRERY_REGISTER_POLICY(Random, "Random", "A random feasible node.");
// The class needs `struct Params { template <class V> void fields(V& v) ...; }` and a constructor:
// `Random(Handle&, const Params&)` for pods, `Sjf(JobBoard&, const Params&)` for the job queue, or
// `Descheduler(const ControlBoard&, const Params&)` for a controller.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/scheduling/contract/cached.hpp"
#include "models/scheduling/contract/points.hpp"
#include "models/scheduling/contract/traits.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/reader.hpp"

namespace orrery {

// Must be increased when anything changes that a library of policies sees.
inline constexpr uint32_t kPolicyAbiVersion = 15;

struct PolicyAbi {
  uint32_t version = 0;
  const char* compiler = "";
};

class ORRERY_API PolicyRegistry {
 public:
  template <class Lent>
  using Make = std::function<std::unique_ptr<Policy>(Lent&, const RawParams&)>;
  struct Entry {
    // A policy class has exactly one of these three functions; an adapter for code in another
    // language has all three. They must be called only with arguments that `check` accepted.
    Make<Handle> make;                         // for policies of pods
    Make<JobBoard> make_for_jobs;              // for policies of the job queue
    Make<const ControlBoard> make_controller;  // for entries of policy.controllers
    std::function<void(const RawParams&, const std::string& path, Diagnostics&)> check;
    std::function<FieldTree()> describe;
    std::string doc;
    std::string origin;               // "built in" or the library's path
    std::vector<std::string> points;  // extension points, by name
    // Set if the arguments refer to code, such as a Python class. Returns the `points` that the
    // code implements, or none if the code cannot be read. Must be called with checked arguments.
    // If the function is not set, the policy implements all `points`.
    std::function<std::vector<std::string>(const RawParams&)> points_of_code;
    // Returns points and arguments of the code. Throws std::runtime_error on unreadable code.
    std::function<std::pair<std::vector<std::string>, FieldTree>(const std::string&)> describe_code;
    std::function<std::string(const RawParams&)> name_of_code;  // returns the code's own name
    Traits traits = Trait::None;
    // Returns traits of the code, in addition to `traits`.
    std::function<Traits(const RawParams&)> traits_of_code;
    std::optional<Fact> heeded;  // the policy has no effect in scenarios without this property
    bool is_built_in() const { return origin == "built in"; }
    // The name in records: the policy's name, or "NAME:CODE" if arguments name code.
    std::string label(const std::string& name, const RawParams& args) const;
    std::vector<std::string> points_with(const RawParams& args) const;
    bool has_trait(Trait trait, const RawParams& args) const;
    bool serves(const PointName& point, const RawParams& args) const;
    bool serves_pods(const RawParams& args) const;  // at any point of pods
    bool serves_jobs(const RawParams& args) const;  // at any point of the job queue
    bool serves_controllers(const RawParams& args) const;
    // The error message for a policy in the wrong list; it names the right list.
    std::string misplaced(const std::string& name, const RawParams& args) const;
  };

  static PolicyRegistry& instance();
  // Registers a policy. Does not throw, because an exception during static initialisation would end
  // the process; problems() lists what went wrong. If `version` differs from kPolicyAbiVersion,
  // `entry` may have another layout: add() does not touch it, and load() refuses the library.
  void add(uint32_t version, const char* name, Entry& entry) noexcept;
  // Opens the library, then checks its ABI version, its compiler and the names of its policies.
  // False: nothing was added, and problems() says why. Must be called before the first run.
  bool load(const std::string& path);
  const Entry* find(const std::string& name) const;
  const std::map<std::string, Entry>& entries() const { return entries_; }
  std::vector<std::string> names() const;
  std::string no_policy_called(const std::string& name) const;  // the error message
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  bool open_library(const std::string& path);
  std::string why_refused(void* library) const;  // empty: the library is accepted
  std::map<std::string, Entry> entries_;
  std::vector<std::string> problems_;
  struct Pending {
    std::string name;
    Entry entry;
  };
  std::vector<Pending> pending_;  // registrations of the library that is being loaded
  bool is_loading_ = false;
};

template <class P>
constexpr std::optional<Fact> heeded_of() {
  if constexpr (requires { P::kHeeded; }) return P::kHeeded;
  return std::nullopt;
}

template <class P>
struct PolicyRegistrar {
  using Params = typename P::Params;
  PolicyRegistrar(const char* name, const char* doc) {
    PolicyRegistry::Entry entry;
    if constexpr (std::is_base_of_v<JobPoint, P>) {
      entry.make_for_jobs = make<JobBoard>;
    } else if constexpr (std::is_base_of_v<ControllerPoint, P>) {
      entry.make_controller = make<const ControlBoard>;
    } else {
      entry.make = make<Handle>;
    }
    entry.check = [](const RawParams& args, const std::string& path, Diagnostics& diagnostics) {
      static_cast<void>(read_params<Params>(args.node, path, diagnostics));
    };
    entry.describe = [] { return describe_params<Params>(); };
    entry.doc = doc;
    entry.points = points_of<P>();
    entry.traits = traits_of<P>();
    entry.heeded = heeded_of<P>();
    PolicyRegistry::instance().add(kPolicyAbiVersion, name, entry);
  }
  template <class Lent>
  static std::unique_ptr<Policy> make(Lent& lent, const RawParams& args) {
    Diagnostics ignored;
    return std::make_unique<P>(lent, read_params<Params>(args.node, "args", ignored));
  }
};

struct NoParams {
  template <class V>
  void fields(V& /*v*/) {}
};

}  // namespace orrery

#define ORRERY_REGISTER_POLICY(Type, name, doc) \
  static const ::orrery::PolicyRegistrar<Type> orrery_registrar_of_##Type { name, doc }
// Each shared library of policies has this once, beside its registrations.
#define ORRERY_POLICY_LIBRARY()                                       \
  extern "C" ORRERY_API const ::orrery::PolicyAbi orrery_policy_abi { \
    ::orrery::kPolicyAbiVersion, __VERSION__                          \
  }
