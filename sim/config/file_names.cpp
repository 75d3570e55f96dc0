#include "sim/config/file_names.hpp"

#include <filesystem>

namespace orrery::config {

std::string resolved_file(const std::string& file, const Position& named_at) {
  namespace fs = std::filesystem;
  const std::string& document = named_at.file.text();
  if (file.empty() || fs::path{file}.is_absolute() || document.starts_with("--")) return file;
  const fs::path folder = fs::path{document}.parent_path();
  return folder.empty() ? file : (folder / file).lexically_normal().string();
}

}  // namespace orrery::config
