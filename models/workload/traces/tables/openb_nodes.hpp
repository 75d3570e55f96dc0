// models/workload/traces/tables/openb_nodes.hpp -- lists of nodes: from openb, from PAI, from the
// spot data set, or a user's own.
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
  Bytes memory;       // 0: not in the list
  int32_t gpus = 0;   // whole GPUs
  std::string model;  // empty: no GPUs
};

struct OpenbNodeList {
  std::vector<OpenbNode> nodes;     // in the order of the file
  std::vector<std::string> errors;  // at most 20; if not empty, `nodes` is incomplete
};

// Each kind of list has its own columns. openb: sn, cpu_milli, memory_mib, gpu, model. PAI machine
// list, without a header: machine, GPU type, cores, memory in GiB, GPUs. Spot data set: gpu_model,
// gpu_capacity_num, cpu_num, node_name. A user's own list: name, gpus, gpu_model, cpus, memory (in
// GiB, or empty). The file is plain, gzip or xz, and has at most a million nodes.
OpenbNodeList read_openb_nodes(const std::string& path);
// Reads the list in `text`. Messages use `name` as the name of the file.
OpenbNodeList parse_openb_nodes(std::string_view text, std::string name);

}  // namespace orrery
