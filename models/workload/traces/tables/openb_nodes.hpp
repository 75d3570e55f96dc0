// models/workload/traces/tables/openb_nodes.hpp -- the machines of the openb and of the PAI
// cluster.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/time.hpp"

namespace orrery {

struct OpenbNode {
  std::string name;
  int64_t cpu_milli = 0;
  Bytes memory;       // 0: the list does not tell
  int32_t gpus = 0;   // whole ones
  std::string model;  // empty: no GPUs
};

struct OpenbNodeList {
  std::vector<OpenbNode> nodes;     // in the order of the file
  std::vector<std::string> errors;  // at most 20; the nodes are complete only without one
};

// Columns sn, cpu_milli, memory_mib, gpu, model; or the PAI machine list, which has no header:
// machine, GPU type, cores, memory in GiB, GPUs; or that of the spot set, whose columns are
// gpu_model, gpu_capacity_num, cpu_num, node_name; or a list of one's own: name, gpus, gpu_model,
// cpus, memory in GiB or empty. Plain or packed, at most a million nodes.
OpenbNodeList read_openb_nodes(const std::string& path);
// The same for text in memory, called `name` in messages.
OpenbNodeList parse_openb_nodes(std::string_view text, std::string name);

}  // namespace orrery
