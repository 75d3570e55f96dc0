// policies/python/interpreter.hpp -- the Python interpreter of this process, and calls into it.
#pragma once

#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace orrery::python {

namespace py = pybind11;

// Starts the interpreter at the first call, for the rest of the process. Throws std::runtime_error
// if the interpreter does not start, or if orrery.policy_code or numpy cannot be imported.
void start_interpreter();
// The Python module orrery.policy_code. It loads, checks and describes policy classes for the C++
// code.
py::module_ policy_code();
// Returns the exception with its traceback, as Python prints them.
std::string traceback_of(py::error_already_set& error);

// Calls f with the interpreter's lock held. A Python exception is thrown as std::runtime_error with
// its traceback. The result must not hold a Python object.
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
