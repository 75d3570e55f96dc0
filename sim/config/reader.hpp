// sim/config/reader.hpp -- fills a params struct from a document.
#pragma once

#include <string>

#include "sim/config/fields.hpp"

namespace orrery {
namespace config {
void read_root(const StructType& type, const Node& node, std::string path, Diagnostics& diagnostics,
               void* value);
}  // namespace config

// `path` is the name of this part of the document in messages ("policy.gang"; "" for the whole). A
// null node gives all defaults. With mistakes in `diagnostics` the result must not be used for a
// run.
template <class P>
[[nodiscard]] P read_params(const config::Node& node, std::string path, Diagnostics& diagnostics) {
  P params;
  config::read_root(config::type_of<P>(), node, std::move(path), diagnostics, &params);
  return params;
}

}  // namespace orrery
