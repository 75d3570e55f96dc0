// sim/cli/trace_provenance.hpp -- facts in a native trace file: its source and conversion.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/describe.hpp"

namespace orrery {

using TraceFact = std::pair<std::string, std::string>;

std::string hash_of(const std::string& file);  // "unknown" if unreadable
// Replaces line ends by blanks, because each fact is one line of the native trace file.
std::vector<TraceFact> as_lines(std::vector<TraceFact> facts);

// All parameters, defaults included, in one line. File names are without their folders.
template <class P>
std::string resolved_line(P params) {
  params.file = std::filesystem::path{params.file}.filename().string();
  if constexpr (requires { params.gavel; }) {
    std::string& throughputs = params.gavel.throughputs;
    throughputs = std::filesystem::path{throughputs}.filename().string();
  }
  return config::to_flow_text(config::type_of<P>().write(&params));
}

// Facts about a converted trace: the source file, the side files, the parameters, the version of
// Orrery, and `facts`, the facts that the source file states.
template <class P>
std::vector<TraceFact> provenance(const P& params, std::string_view format,
                                  const std::vector<std::string>& side_files,
                                  const std::vector<TraceFact>& facts) {
  std::vector<TraceFact> all;
  all.emplace_back("source", std::filesystem::path{params.file}.filename().string());
  all.emplace_back("source_sha256", hash_of(params.file));
  all.emplace_back("source_format", std::string{format});
  for (const std::string& file : side_files) {
    all.emplace_back("beside", std::filesystem::path{file}.filename().string());
    all.emplace_back("beside_sha256", hash_of(file));
  }
  all.emplace_back("parameters", resolved_line(params));
  all.emplace_back("written_by", "orrery " ORRERY_VERSION);
  all.insert(all.end(), facts.begin(), facts.end());
  return as_lines(std::move(all));
}

}  // namespace orrery
