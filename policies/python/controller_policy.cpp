#include "policies/python/controller_policy.hpp"

#include "policies/python/answers.hpp"
#include "policies/python/control_views.hpp"
#include "policies/python/pod_views.hpp"

namespace orrery::python {

ControllerPolicy::ControllerPolicy(const ControlBoard& board, const RawParams& args)
    : board_{board}, cluster_{board.cluster()} {
  start_interpreter();
  in_python([&] {
    py::dict lent;
    lent["board"] = ControlBoardRef{board_};
    lent["nodes"] = std::make_unique<Nodes>(cluster_);
    instance_ = std::make_unique<Instance>(args, lent);
  });
}

ControllerPolicy::~ControllerPolicy() {
  board_.take_back();
  cluster_.take_back();
}

void ControllerPolicy::tick(const ControlBoard& /*board*/, Actions& actions) {
  in_python([&] {
    const Loan<Actions> loan{actions};
    instance_->call("tick", ControlBoardRef{board_}, ActionsRef{loan.lent(), board_});
  });
}

std::vector<std::string> ControllerPolicy::named_in_vain() const {
  constexpr std::string_view kName = "named_in_vain";
  if (!instance_->has(kName)) return {};
  return in_python([&] { return texts_from({*instance_, kName}, instance_->call(kName)); });
}

}  // namespace orrery::python
