// Reads any bytes as a scenario. The reader must return messages or a scenario, and must not crash.
// No file is opened, because load_text() rejects an `include`.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/scenario/scenario.hpp"
#include "sim/config/node.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  // The first line break followed by %% ends the scenario. The text after %% is an override, as in
  // --set.
  const size_t cut = text.find("\n%%");
  Diagnostics diagnostics;
  config::Document document = config::load_text(text.substr(0, cut), "fuzz", diagnostics);
  if (cut != std::string_view::npos) {
    config::apply_override(document, text.substr(cut + 3), diagnostics);
  }
  if (document.is_usable) {
    const Scenario scenario = read_scenario(document, diagnostics);
    // Without mistakes, run.until is at least 1 ns.
    if (diagnostics.ok() && (scenario.run.until && scenario.run.until->ns < 1)) std::abort();
  }
  if (diagnostics.ok() != diagnostics.text().empty()) std::abort();
  return 0;
}
