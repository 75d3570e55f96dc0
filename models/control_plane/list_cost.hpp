// models/control_plane/list_cost.hpp -- what a LIST costs an API server, by where it is served
// from.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class ListFrom : uint8_t { Cache, Etcd };
constexpr std::array<std::string_view, 2> enum_names(ListFrom) { return {"cache", "etcd"}; }

struct ListCostParams {
  static constexpr std::string_view kDoc = "What it costs an API server to answer a LIST.";
  Duration overhead = {25'000'000};
  Duration filter_per_object = {1'800};
  Duration decode_per_object = {16'000};
  Bandwidth decode_rate = {800'000'000};
  Bandwidth encode_rate = {800'000'000};
  double memory_factor = 5;
  Bandwidth stream_rate = {2'136'000'000};

  template <class V>
  void fields(V& v) {
    v("overhead", overhead, "Latency of one that finds nothing.", Range{Duration{}, 10_s},
      Source{"calibrated: KEP-2340, baseline of 25 ms"});
    v("filter_per_object", filter_per_object, "Time of one core for an object looked at.",
      Range{Duration{}, 1_s},
      Source{"calibrated: KEP-2340, 300,000 objects of 1 KB from the cache"});
    v("decode_per_object", decode_per_object, "The same for one that etcd sends.",
      Range{Duration{}, 1_s}, Source{"calibrated: KEP-2340, 300,000 objects of 1 KB from etcd"});
    v("decode_rate", decode_rate, "What one core decodes of what etcd sends.",
      Range{Bandwidth{1}, 1000_Gbps},
      Source{"calibrated: KEP-2340, 300 objects of 1 MB from etcd, 10 ns a byte"});
    v("encode_rate", encode_rate, "What one core encodes of the answer.",
      Range{Bandwidth{1}, 1000_Gbps}, Source{"estimate: as decode_rate"});
    v("memory_factor", memory_factor, "Memory taken meanwhile, in sizes of what is read.",
      Range{1.0, 100.0}, Unit{"times"}, Source{"published: KEP-3157, about 5"});
    v("stream_rate", stream_rate, "What a server sends to all that stream a list, together.",
      Range{Bandwidth{1}, 1000_Gbps},
      Source{"calibrated: KEP-3157, 1,024 informers get 400 MB each in about 25 min"});
  }
};

struct ListRequest {
  ListFrom from = ListFrom::Cache;
  int64_t objects = 0;  // looked at
  Bytes size = {};      // of all of these
  Bytes answer = {};    // what is selected
};

// Work of one core: the answer is made by one thread, so its latency is at least that.
inline Duration list_cpu(const ListRequest& list, const ListCostParams& params) {
  const Duration read = list.from == ListFrom::Cache ? params.filter_per_object * list.objects
                                                     : params.decode_per_object * list.objects +
                                                           list.size / params.decode_rate;
  return read + list.answer / params.encode_rate;
}

// Taken while the LIST is answered: from the cache, for the answer alone.
inline Bytes list_memory(const ListRequest& list, const ListCostParams& params) {
  const Bytes size = list.from == ListFrom::Cache ? list.answer : std::max(list.size, list.answer);
  return {static_cast<int64_t>(static_cast<double>(size.count) * params.memory_factor)};
}

// Informers that stream a list from the cache instead share the server, and take no such memory.
inline Duration stream_time(int64_t informers, Bytes list, const ListCostParams& params) {
  return list * informers / params.stream_rate;
}

}  // namespace orrery
