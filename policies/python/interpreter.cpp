#include "policies/python/interpreter.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <mutex>

#include "policies/python/call_limit.hpp"
#include "sim/core/installation.hpp"

namespace orrery::python {
namespace {

// Extension modules such as numpy expect libpython's symbols to be global.
void show_symbols() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<void*>(&Py_InitializeFromConfig), &library) == 0) return;
  static_cast<void>(dlopen(library.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD));
}

void expect(const PyStatus& status) {
  if (PyStatus_Exception(status) == 0) return;
  throw std::runtime_error{std::string{"the Python interpreter does not start: "} +
                           (status.err_msg == nullptr ? "unknown reason" : status.err_msg)};
}

// Starts an interpreter like `python3`, with the user's packages. In contrast to `python3`, the
// program's signal handlers stay, no bytecode is written beside the policies, and the order of sets
// is the same in each run.
void initialise() {
  PyPreConfig before;
  PyPreConfig_InitIsolatedConfig(&before);
  before.use_environment = 1;
  before.utf8_mode = 1;
  expect(Py_PreInitialize(&before));
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.parse_argv = 0;
  config.install_signal_handlers = 0;
  config.buffered_stdio = 0;
  config.write_bytecode = 0;
  config.use_hash_seed = 1;
  config.hash_seed = 0;
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  expect(status);
}

// If the forking thread does not hold the interpreter's lock, before_fork() takes the lock and sets
// `is_ours`. If the thread holds the lock, the fork comes from Python code, and Python itself calls
// the PyOS_ functions.
struct Forking {
  bool is_ours = false;
  PyGILState_STATE state{};
};
thread_local Forking forking;

void before_fork() {
  if (PyGILState_Check() != 0) return;
  forking = {.is_ours = true, .state = PyGILState_Ensure()};
  PyOS_BeforeFork();
}
void after_fork_in_parent() {
  if (!std::exchange(forking.is_ours, false)) return;
  PyOS_AfterFork_Parent();
  PyGILState_Release(forking.state);
}
// Releases the interpreter's lock with PyEval_SaveThread(), because PyGILState_Release() could
// delete the thread state. The child has only this thread, and Python needs at least one thread
// state.
void after_fork_in_child() {
  if (!std::exchange(forking.is_ours, false)) return;
  PyOS_AfterFork_Child();
  static_cast<void>(PyEval_SaveThread());
}

void start() {
  show_symbols();
  initialise();
  py::module_::import("sys").attr("path").attr("insert")(0, python_folder().string());
  py::module_::import("orrery_views");
  prepare_call_limits();  // registered first, so its handler runs after before_fork()
  static_cast<void>(pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child));
  static_cast<void>(PyEval_SaveThread());
}

}  // namespace

void start_interpreter() {
  static std::once_flag is_started;
  std::call_once(is_started, start);
  in_python([] {  // imports now, so that no call's limit includes the time
    static_cast<void>(policy_code());
    py::module_::import("numpy");
  });
}

py::module_ policy_code() { return py::module_::import("orrery.policy_code"); }

std::string traceback_of(py::error_already_set& error) {
  try {
    const py::object value = error.value();
    if (error.trace()) static_cast<void>(value.attr("with_traceback")(error.trace()));
    return policy_code().attr("traceback_text")(value).cast<std::string>();
  } catch (const std::exception&) {
    return error.what();
  }
}

}  // namespace orrery::python
