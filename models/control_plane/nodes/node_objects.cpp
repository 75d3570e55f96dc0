#include "models/control_plane/nodes/node_objects.hpp"

#include <algorithm>
#include <iterator>

namespace orrery {
namespace {

constexpr Duration kCertificateRequestKept = 1_h;  // csrcleaner: approvedExpiration

constexpr std::array kNamed{ApiResource::Nodes, ApiResource::CsiNodes, ApiResource::Leases,
                            ApiResource::CertificateRequests};

}  // namespace

NodeObjects::NodeObjects(EtcdStore& store, uint32_t nodes)
    : store_{store}, is_from_start_(nodes, true), names_(nodes), from_start_{nodes} {}

void NodeObjects::absent(NodeId node) {
  is_from_start_[node.index] = false;
  --from_start_;
}

uint32_t NodeObjects::name(NodeId node, const ApiRequest& request, Time now) {
  if (is_from_start_[node.index] || request.verb != Verb::Create) return 0;
  const auto* const found = std::ranges::find(kNamed, request.resource);
  if (found == kNamed.end()) return 0;
  const auto which = static_cast<size_t>(std::distance(kNamed.begin(), found));
  expire(now);
  uint32_t& name = names_[node.index][which];
  if (name == 0) name = store_.new_name(request.resource);
  if (which != kCertificate) return name;
  if (name >= asked_.size()) asked_.resize(name + size_t{1});
  ++asked_[name];
  return name;
}

void NodeObjects::answered(NodeId node, uint32_t name, Time now) {
  if (name < asked_.size() && asked_[name] > 0) answered_.push_back({now, node, name});
}

void NodeObjects::removed(NodeId node) {
  if (is_from_start_[node.index]) absent(node);
  for (size_t i = 0; i < kKept; ++i) store_.drop(names_[node.index][i]);
  names_[node.index][kCertificate] = 0;  // the node requests a new certificate when it joins again
}

// Removes certificate requests whose last response is at least an hour old. No event is scheduled
// for this: expire() runs before the next object is created and before etcd is sampled.
void NodeObjects::expire(Time now) {
  for (; !answered_.empty() && answered_.front().at + kCertificateRequestKept <= now;
       answered_.pop_front()) {
    const Answered& old = answered_.front();
    if (--asked_[old.name] > 0) continue;
    store_.drop(old.name);
    store_.forget(old.name);
    uint32_t& name = names_[old.node.index][kCertificate];
    if (name == old.name) name = 0;
  }
}

}  // namespace orrery
