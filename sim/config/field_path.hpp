// sim/config/field_path.hpp -- finds parameters by their path.
#pragma once

#include <string_view>
#include <vector>

#include "sim/config/field_tree.hpp"

namespace orrery {

// Strips all outer lists, maps and optionals, and returns the element inside. A path skips these
// levels: cluster.pools.count is the `count` of an element of the list `pools`.
[[nodiscard]] const FieldTree& held_by(const FieldTree& tree);

// Fields of a struct, or kinds of a variant.
[[nodiscard]] const std::vector<FieldTree>& parts_of(const FieldTree& tree);

// Finds the field at a path such as cluster.pools.count. Returns null if there is none. If no
// direct child matches, the children are searched in order, at any depth: workload.generator finds
// the variant `generator` of workload.sources.
[[nodiscard]] const FieldTree* find_path(const FieldTree& from, std::string_view path);

}  // namespace orrery
