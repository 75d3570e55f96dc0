// policies/python/interpreter.hpp -- the Python interpreter of this process, and calls into it.
#pragma once

#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace orrery::python {

namespace py = pybind11;

// Starts the interpreter at the first call; it lasts as long as the process. Throws
// std::runtime_error.
void start_interpreter();
// The module of the package that helps the adapter.
py::module_ policy_code();
// The exception with its traceback, as Python shows it.
std::string traceback_of(py::error_already_set& error);

// Calls f with the interpreter's lock held. What Python raises is thrown as a std::runtime_error
// with the traceback. The result must hold no Python object.
template <class F>
auto in_python(F&& f) {
  const py::gil_scoped_acquire lock;
  try {
    return std::forward<F>(f)();
  } catch (py::error_already_set& error) {
    throw std::runtime_error{traceback_of(error)};
  }
}

}  // namespace orrery::python
