// models/control_plane/load/namespaces_params.hpp -- the number of namespaces in a run, and the
// clients that query them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/control_plane/clients/list_reader_params.hpp"
#include "models/control_plane/load/namespaces.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct NamespaceAskersParams {
  static constexpr std::string_view kDoc =
      "Clients that query every namespace in turn, for example to check access rights.";
  int32_t clients = 1;
  Duration every = {};

  template <class V>
  void fields(V& v) {
    v("clients", clients, "Number of clients.", Range{1, 1'000'000}, Unit{"clients"});
    v("every", every,
      "Time between the starts of two rounds. A round that takes longer is followed by the next "
      "round at once.",
      Range{1_ms, 168_h}, Required{}, Example{"5min"});
  }
};

struct NamespacesParams {
  static constexpr std::string_view kDoc = "Existing namespaces, and those created with jobs.";
  int32_t existing = 0;
  bool per_job = false, deleted = true;
  NamespaceParams each = {};
  double heap_factor = 5;
  std::vector<NamespaceAskersParams> askers = {};
  std::vector<ListReaderParams> readers = {};

  template <class V>
  void fields(V& v) {
    v("existing", existing, "Namespaces at the start.", Range{0, 10'000'000}, Unit{"namespaces"});
    v("per_job", per_job,
      "Whether a namespace is created for each job when the job arrives. The job does not wait for "
      "the namespace.");
    v("deleted", deleted, "Whether a job's namespace is deleted when the job is over.",
      Heeded{per_job, "per_job is false"});
    v("each", each, "Objects of a namespace, its deletion, and rates of clients that query it.");
    v("heap_factor", heap_factor,
      "Memory of each API server for each byte of the namespaces' objects.", Range{0.0, 1000.0},
      Unit{"ratio"},
      Source{"estimate: as for LISTs in KEP-3157; watch cache and indexes hold decoded objects"});
    v("askers", askers,
      "Clients that query every namespace in turn, for example to check access rights.");
    v("readers", readers, "Clients that list the ServiceAccounts of all namespaces.");
  }
  void check(Checker& c) const {
    if (existing == 0 && !per_job) {
      c.error("existing", "must not be 0 without per_job: there would be no namespaces");
    }
  }
};

}  // namespace orrery
