// tests/unit/control_plane/mistakes.hpp -- mistakes found in a section.
#pragma once

#include <string>
#include <vector>

#include "sim/config/reader.hpp"

namespace orrery::test {

template <class Params>
std::vector<std::string> mistakes_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto document = config::load_text(text, "test.yaml", diagnostics);
  static_cast<void>(read_params<Params>(document.root, "", diagnostics));
  return diagnostics.messages();
}

}  // namespace orrery::test
