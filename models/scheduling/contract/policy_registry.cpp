#include "models/scheduling/contract/policy_registry.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace orrery {
namespace {

std::string dl_reason() {
  const char* const text = dlerror();
  return text == nullptr ? "unknown reason" : text;
}

// Returns what is wrong with the path; empty if the file exists and is no directory.
std::string why_unreadable(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return "there is no such file";
  if (std::filesystem::is_directory(status)) return "this is a directory, not a shared library";
  return {};
}

// The header declares dlopen as never throwing, yet initialisers of the library may throw. The call
// goes through an opaque pointer, so the compiler generates a call that can throw.
void* open_that_may_throw(const char* file) {
  void* (*volatile open)(const char*, int) = dlopen;
  return open(file, RTLD_NOW | RTLD_LOCAL);
}

template <class Points>
bool serves_any_of(const std::vector<std::string>& served) {
  bool is_any = false;
  Points::for_each([&]<class P>() { is_any |= std::ranges::count(served, P::kPoint.name) > 0; });
  return is_any;
}

}  // namespace

std::vector<std::string> PolicyRegistry::Entry::points_with(const RawParams& args) const {
  return points_of_code ? points_of_code(args) : points;
}

std::string PolicyRegistry::Entry::label(const std::string& name, const RawParams& args) const {
  return name_of_code ? name + ":" + name_of_code(args) : name;
}

bool PolicyRegistry::Entry::has_trait(Trait trait, const RawParams& args) const {
  return has(traits, trait) || (traits_of_code && has(traits_of_code(args), trait));
}

bool PolicyRegistry::Entry::serves(const PointName& point, const RawParams& args) const {
  return std::ranges::count(points_with(args), point.name) > 0;
}

bool PolicyRegistry::Entry::serves_pods(const RawParams& args) const {
  return serves_any_of<PodPoints>(points_with(args));
}

bool PolicyRegistry::Entry::serves_jobs(const RawParams& args) const {
  return serves_any_of<JobPoints>(points_with(args));
}

bool PolicyRegistry::Entry::serves_controllers(const RawParams& args) const {
  return serves_any_of<ControllerPoints>(points_with(args));
}

std::string PolicyRegistry::Entry::misplaced(const std::string& name, const RawParams& args) const {
  const std::vector<std::string> served = points_with(args);
  return in_quotes(label(name, args)) +
         (serves_any_of<PodPoints>(served) ? " is for pods: it belongs into `policy.plugins`"
          : serves_any_of<JobPoints>(served)
              ? " is for whole jobs: it belongs into `policy.job_queue`"
              : " is a controller: it belongs into `policy.controllers`");
}

PolicyRegistry& PolicyRegistry::instance() {
  static PolicyRegistry registry;
  return registry;
}

void PolicyRegistry::add(uint32_t version, const char* name, Entry& entry) noexcept {
  if (version != kPolicyAbiVersion) return;
  try {
    if (is_loading_) {  // committed by load() once all checks have passed
      pending_.push_back({name, std::move(entry)});
      return;
    }
    entry.origin = "built in";
    const auto [existing, is_new] = entries_.try_emplace(name, std::move(entry));
    if (!is_new) problems_.push_back("policy '" + existing->first + "' is built in twice");
  } catch (const std::exception&) {
    // Out of memory during static initialisation: the missing policy is reported when it is used.
  }
}

bool PolicyRegistry::load(const std::string& path) {
  try {
    return open_library(path);
  } catch (const std::exception& error) {
    problems_.push_back(path + ": threw an exception while it was loaded: " + error.what());
  } catch (...) {
    problems_.push_back(path + ": threw an exception while it was loaded");
  }
  // The loader returns no handle for a half-initialised library. So the library stays mapped, but
  // is never used.
  is_loading_ = false;
  pending_.clear();
  return false;
}

bool PolicyRegistry::open_library(const std::string& path) {
  if (const std::string why = why_unreadable(path); !why.empty()) {
    problems_.push_back(path + ": " + why);
    return false;
  }
  // An absolute path, because the loader searches elsewhere for a bare file name.
  const std::string file = std::filesystem::absolute(path).string();
  is_loading_ = true;
  void* const library = open_that_may_throw(file.c_str());
  is_loading_ = false;
  std::string why = library == nullptr ? "is not a library that can be loaded: " + dl_reason()
                                       : why_refused(library);
  if (!why.empty()) {
    pending_.clear();  // before the code of the entries is unmapped
    if (library != nullptr) dlclose(library);
    problems_.push_back(path + ": " + why);
    return false;
  }
  for (Pending& pending : pending_) {
    pending.entry.origin = path;
    entries_.emplace(std::move(pending.name), std::move(pending.entry));
  }
  pending_.clear();
  return true;
}

std::string PolicyRegistry::why_refused(void* library) const {
  const auto* const abi = static_cast<const PolicyAbi*>(dlsym(library, "orrery_policy_abi"));
  if (abi == nullptr) {
    return "is not a policy library: it has no symbol orrery_policy_abi (write "
           "ORRERY_POLICY_LIBRARY(); once in it)";
  }
  if (abi->version != kPolicyAbiVersion) {
    return "was built for policy interface " + std::to_string(abi->version) +
           ", this program has " + std::to_string(kPolicyAbiVersion) + ": build it again";
  }
  const std::string_view compiler = abi->compiler == nullptr ? "" : abi->compiler;
  if (compiler != __VERSION__) {
    return "was built by compiler " + std::string{compiler} +
           ", this program by " __VERSION__ ": build both with one compiler";
  }
  if (pending_.empty()) return "registers no policy, or is loaded already";
  std::set<std::string_view> own;
  for (const Pending& pending : pending_) {
    if (pending.name.empty()) return "registers a policy without a name";
    if (!own.insert(pending.name).second) return "registers policy '" + pending.name + "' twice";
    if (const Entry* const known = find(pending.name); known != nullptr) {
      return "registers policy '" + pending.name + "', which exists already (" + known->origin +
             ")";
    }
  }
  return {};
}

const PolicyRegistry::Entry* PolicyRegistry::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

std::string PolicyRegistry::no_policy_called(const std::string& name) const {
  const std::string hint = did_you_mean(name, names());
  const char* const libraries = "; policies of a library, such as those in Python, need --plugin";
  return "no policy is called " + in_quotes(name) + (hint.empty() ? libraries : hint);
}

std::vector<std::string> PolicyRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

}  // namespace orrery
