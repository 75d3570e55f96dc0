#include "sim/cli/failure.hpp"

#include <exception>
#include <new>

#include "models/scheduling/contract/policy_fault.hpp"
#include "sim/core/check.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

Failure current_failure() {
  try {
    throw;
  } catch (const RecordError& error) {
    return {ExitStatus::OutputFailed, error.what()};
  } catch (const PolicyFault& fault) {
    return {ExitStatus::UserMistake, fault.what()};
  } catch (const std::bad_alloc&) {
    return {ExitStatus::Internal, "out of memory"};
  } catch (const CheckFailed& failure) {
    return {ExitStatus::Internal,
            std::string{"internal error: "} + failure.what() + "\n  please report this"};
  } catch (const std::exception& error) {
    return {ExitStatus::Internal, std::string{"internal error: "} + error.what()};
  } catch (...) {
    return {ExitStatus::Internal, "internal error: an exception of an unknown type"};
  }
}

}  // namespace orrery
