// models/control_plane/clients/list_reader_params.hpp -- clients that poll with LISTs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class ListFrom : uint8_t { Cache, Etcd };
constexpr std::array<std::string_view, 2> enum_names(ListFrom) { return {"cache", "etcd"}; }

struct ListReaderParams {
  static constexpr std::string_view kDoc =
      "Clients that list all objects of a kind periodically, such as agents on nodes.";
  std::optional<int32_t> clients = {};
  Duration every = {};
  ListFrom from = ListFrom::Etcd;

  template <class V>
  void fields(V& v) {
    v("clients", clients, "Number of clients; absent: one on each node that is up.",
      Range{1, 1'000'000}, Unit{"clients"});
    v("every", every,
      "Time between two LISTs of a client. A client that still waits for a response skips its "
      "turn.",
      Range{1_ms, 168_h}, Required{}, Example{"1min"});
    v("from", from,
      "Where a LIST is read. etcd: the newest state (LIST without resourceVersion); cache: the "
      "state in the server's watch cache.",
      Source{"Kubernetes before 1.31: a LIST without resourceVersion goes to etcd"});
  }
};

}  // namespace orrery
