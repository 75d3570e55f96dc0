// policies/python/controller_policy.hpp -- a controller whose tick is a method in Python.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/scheduling/contract/control/board.hpp"
#include "policies/python/instance.hpp"
#include "policies/python/lent.hpp"

namespace orrery::python {

class ControllerPolicy final : public Policy, public Controller {
 public:
  ControllerPolicy(const ControlBoard& board, const RawParams& args);
  ~ControllerPolicy() override;
  ControllerPolicy(const ControllerPolicy&) = delete;
  ControllerPolicy& operator=(const ControllerPolicy&) = delete;

  void tick(const ControlBoard& board, Actions& actions) override;
  std::vector<std::string> named_in_vain() const override;

 private:
  const Lent<const ControlBoard> board_;
  const Lent<const ClusterState> cluster_;
  std::unique_ptr<Instance> instance_;
};

}  // namespace orrery::python
