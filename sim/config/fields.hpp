// sim/config/fields.hpp -- how a params struct lists its fields once, for every reader.
//
//   struct GangParams {
//     Duration permit_timeout = 60_s;
//     int64_t max_waiting = 64;
//     template <class V>
//     void fields(V& v) {
//       v("permit_timeout", permit_timeout, "How long a partly placed gang may hold GPUs.");
//       v("max_waiting", max_waiting, "Gangs that may wait in Permit at once.", Range{1, 1024},
//         Unit{"gangs"}, Source{"scheduler-plugins 0.28"});
//     }
//     void check(Checker& c) const {  // optional: rules across fields
//       if (max_waiting > 1 && permit_timeout == Duration{}) {
//         c.error("permit_timeout", "must not be 0 when gangs may wait");
//       }
//     }
//     static constexpr std::string_view kDoc = "Gang scheduling.";  // optional
//   };
//
// Members: bool, int32_t, int64_t, uint32_t, uint64_t, double, std::string, Duration, Bytes,
// Bandwidth, an enum with enum_names, another params struct, RawParams, or a std::variant<A, B> of
// params structs. Each struct of a variant has a `static constexpr std::string_view kKind`. The key
// `kind` chooses the struct whose kKind is its value. With any of these as T, a member may also be
// a std::vector<T>, std::optional<T> or std::map<std::string, T>. Durations, sizes and rates must
// not be negative unless a Range allows it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/diagnostics.hpp"
#include "sim/config/node.hpp"
#include "sim/config/options.hpp"
#include "sim/config/type_of.hpp"

namespace orrery {

// A part of the document that is kept and read later, such as the arguments of a policy:
// `read_params<Args>(raw.node, raw.path, diagnostics)`.
struct RawParams {
  config::Node node;
  std::string path;
};

// Receives the findings of check().
class Checker {
 public:
  Checker(const config::Node& node, std::string path, Diagnostics& diagnostics)
      : node_{node}, path_{std::move(path)}, diagnostics_{diagnostics} {}
  // Reports a mistake or a warning with the position of the value of `field` in the document. If
  // the user did not give the field, the position is that of the innermost given struct or list
  // around it. `field` may lead into a nested struct ("pool.name") or a list ("pools[2]"). An empty
  // `field` means the struct itself.
  void error(std::string_view field, std::string message);
  void warning(std::string_view field, std::string message);
  bool is_given(std::string_view field) const;  // whether the user gave the field

 private:
  // The deepest node of the document on this path, and whether it is the end of the path.
  std::pair<const config::Node*, bool> follow(std::string_view field) const;
  std::string path_to(std::string_view field) const;

  const config::Node& node_;
  std::string path_;
  Diagnostics& diagnostics_;
};

// The visitor that is passed to fields().
class FieldList {
 public:
  struct Field {
    std::string_view name, doc;
    const config::ValueType* type;
    void* value;
    config::FieldOptions options;
  };

  template <class T, class... Options>
  void operator()(std::string_view name, T& value, std::string_view doc, Options... options) {
    Field field{name, doc, &config::type_of<T>(), &value, {}};
    (field.options.take(options), ...);
    fields_.push_back(std::move(field));
  }
  const std::vector<Field>& all() const { return fields_; }

 private:
  std::vector<Field> fields_;
};

}  // namespace orrery
