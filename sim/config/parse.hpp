// sim/config/parse.hpp -- parses a YAML text into a tree, within limits; does not follow includes.
#pragma once

#include <optional>
#include <string_view>

#include "sim/config/node.hpp"

namespace orrery::config {

// The message for a file whose root is a scalar, such as plain text.
constexpr const char* kPlainText =
    "expected keys such as `cluster:` at the top, found plain text: this is not a scenario in YAML";

// How much of the Limits is left. A document and all its includes use up the same Budget.
struct Budget {
  size_t nodes = Limits::kNodes;
  size_t text_bytes = Limits::kTextBytes;
  int files = Limits::kFiles;
};

// Returns nothing if the text is not YAML or exceeds a limit. `diagnostics` then has the reason.
[[nodiscard]] std::optional<Node> parse_yaml(std::string_view text, const FileName& name,
                                             Budget& budget, Diagnostics& diagnostics);

}  // namespace orrery::config
