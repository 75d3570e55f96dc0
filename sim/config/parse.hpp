// sim/config/parse.hpp -- parses a YAML text into a tree, within limits; does not follow includes.
#pragma once

#include <optional>
#include <string_view>

#include "sim/config/node.hpp"

namespace orrery::config {

// The message for a file whose root is a scalar, such as plain text.
constexpr const char* kPlainText =
    "expected keys such as `cluster:` at the top, found plain text: this is not a scenario in YAML";

// What a document and all its includes may still use of their Limits.
struct Budget {
  size_t nodes = Limits::kNodes;
  size_t text_bytes = Limits::kTextBytes;
  int files = Limits::kFiles;
};

// Empty if the text is not YAML within the limits; `diagnostics` has the reason.
[[nodiscard]] std::optional<Node> parse_yaml(std::string_view text, const FileName& name,
                                             Budget& budget, Diagnostics& diagnostics);

}  // namespace orrery::config
