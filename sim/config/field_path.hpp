// sim/config/field_path.hpp -- finds parameters by their path.
#pragma once

#include <string_view>
#include <vector>

#include "sim/config/field_tree.hpp"

namespace orrery {

// The innermost element of nested lists, maps and optionals; `tree` itself if it is none of these.
// Elements have no name in a path.
[[nodiscard]] const FieldTree& held_by(const FieldTree& tree);

// Fields of a struct, or kinds of a variant.
[[nodiscard]] const std::vector<FieldTree>& parts_of(const FieldTree& tree);

// Follows a path such as cluster.pools.count; null if nothing is found. If no direct child matches,
// the children are searched in order, at any depth: workload.generator finds the variant
// `generator` of workload.sources.
[[nodiscard]] const FieldTree* find_path(const FieldTree& from, std::string_view path);

}  // namespace orrery
