// models/workload/typical_pods_params.hpp -- the typical pods of a workload.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/config/options.hpp"

namespace orrery {

struct TypicalPodsParams {
  static constexpr std::string_view kDoc =
      "The pods by which fragmentation is measured: the most frequent pods of the workload. With "
      "this section the run writes /timeline/packing, and the policy FGD can be used.";

  double popularity = 95;
  int64_t jobs_max = 100'000;

  template <class V>
  void fields(V& v) {
    v("popularity", popularity, "The share of all pods that the typical pods must cover.",
      Unit{"%"}, Range{1.0, 100.0}, Source{"Weng et al., USENIX ATC 2023, artifact"});
    v("jobs_max", jobs_max,
      "Maximum number of jobs whose pods are counted, from the first job on. A shuffled trace is "
      "counted in its recorded order.",
      Unit{"jobs"}, Range{int64_t{1}, int64_t{10'000'000}});
  }
};

}  // namespace orrery
