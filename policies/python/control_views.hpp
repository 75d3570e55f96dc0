// policies/python/control_views.hpp -- the board and the actions of controllers as Python sees
// them.
#pragma once

#include "models/scheduling/contract/control/board.hpp"
#include "policies/python/lent.hpp"

namespace orrery::python {

struct ControlBoardRef {  // lasts as long as the run
  Lent<const ControlBoard> board;
};

struct ActionsRef {  // lasts as long as the tick
  Lent<Actions> actions;
  Lent<const ControlBoard> board;
};

}  // namespace orrery::python
