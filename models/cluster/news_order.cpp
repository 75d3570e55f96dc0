// models/cluster/news_order.cpp -- observers of nodes, pods, jobs and samples, in the order in
// which they are called.
#include "models/cluster/cluster.hpp"

namespace orrery {

// Observers of one signal are called in the order of these lines. Each connect() connects one
// component to the signals that it observes. JobController, Scheduler, JobQueue and NodeFaults
// connect to some signals in their constructors and are called first for these signals. The control
// plane learns of a dead node before the job controller ends the pods of this node. Otherwise the
// dead kubelet would report the end of these pods. The scheduler comes after the job controller,
// and components that only record come later.
void Cluster::connect_news() {
  JobNews& jobs = controller_;
  PodNews& pods = controller_;
  NodeNews& nodes = presence_;
  if (control_plane_) control_plane_->connect(jobs, nodes);
  if (pod_delays_) pod_delays_->connect(nodes);
  if (nodes_) nodes_->connect(nodes);
  controller_.connect(nodes);
  scheduler_.connect(nodes);
  if (job_queue_) job_queue_->connect(nodes);
  too_large_.connect(jobs);
  usage_.connect(controller_, nodes);
  node_usage_.connect(usage_, nodes);
  timeline_.connect(jobs, pods, nodes);
  deadlocks_.connect(jobs, pods, nodes);
  statistics_.connect(jobs);
  if (packing_) packing_->connect(jobs);
  if (steps_) steps_->connect(jobs);
  if (steps_) few_servers_.connect(jobs);
  if (cardiogram_) cardiogram_->connect(jobs, pods);
  if (node_groups_) node_groups_->connect(nodes);
  if (controllers_) controllers_->connect(jobs, pods, nodes);
  if (services_) services_->connect(jobs, pods);
  jobs.phase_changed.connect(*this, &Cluster::phase_changed);
  scheduler_.tried_in_vain.connect(*this, &Cluster::stop_if_futile);
}

// These components are sampled at the end of each interval of the timeline.
void Cluster::connect_samples() {
  Signal<Time>& sampled = timeline_.sampled;
  if (network_usage_) sampled.connect(*network_usage_, &NetworkUsage::sample);
  if (storage_usage_) sampled.connect(*storage_usage_, &StorageUsage::sample);
  if (control_plane_) sampled.connect(*control_plane_, &ControlPlane::sample);
  if (nodes_) sampled.connect(*nodes_, &Nodes::sample);
  if (node_groups_) sampled.connect(*node_groups_, &NodeGroups::sample);
  if (services_) sampled.connect(*services_, &ServiceScaling::sample);
}

}  // namespace orrery
