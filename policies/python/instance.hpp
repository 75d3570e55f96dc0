// policies/python/instance.hpp -- objects of Python classes, and calls of their methods.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/python/call_limit.hpp"
#include "policies/python/interpreter.hpp"
#include "policies/python/python_params.hpp"
#include "sim/config/fields.hpp"

namespace orrery::python {

// The class named in the arguments. Errors of Python are thrown as std::runtime_error. Methods take
// the interpreter's lock.
class PolicyClass {
 public:
  // If `file` in `args` is a relative path, it is resolved against the folder of the file that
  // contains `args`.
  explicit PolicyClass(const RawParams& args);
  explicit PolicyClass(const PythonParams& params);
  ~PolicyClass();
  PolicyClass(const PolicyClass&) = delete;
  PolicyClass& operator=(const PolicyClass&) = delete;

  std::vector<std::string> points() const;
  // Reports mistakes in `args`: unknown keys, and missing or wrong values of arguments that the
  // class declares.
  void check(const RawParams& args, const std::string& path, Diagnostics& diagnostics) const;
  FieldTree describe() const;
  std::vector<std::string> files() const;  // the file and its imports
  std::string name() const;
  bool is_set(const char* attribute) const;  // whether this attribute of the class is True

 private:
  friend class Instance;

  PythonParams params_;
  py::object class_;
};

// The value of `file` in `args`, resolved to a path by config::resolved_file().
std::string file_of(const RawParams& args);

// An object of the Python class that `args` specifies. Must be constructed and used with the
// interpreter's lock held; the destructor takes the lock.
class Instance {
 public:
  // Makes an object of the class. The attributes in `lent` are set before __init__ runs.
  Instance(const RawParams& args, const py::dict& lent);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  bool has(std::string_view method) const { return methods_.contains(method); }
  template <class... Args>
  py::object call(std::string_view method, Args&&... args) const {
    const CallLimit limit{timeout_, name_, method};
    try {
      return methods_.find(method)->second(std::forward<Args>(args)...);
    } catch (py::error_already_set& error) {
      rethrow(error, limit);
    }
  }
  bool is_set(const char* attribute) const;  // whether this attribute is True
  const std::string& name() const { return name_; }
  // Returns an error such as "Mine.score() gave 'x' (str), expected ...", for the caller to throw.
  std::runtime_error wrong(std::string_view method, const py::handle& given,
                           std::string_view expected) const;
  std::runtime_error wrong(std::string_view method, std::string_view what) const;

 private:
  [[noreturn]] static void rethrow(py::error_already_set& error, const CallLimit& limit);

  std::string name_;
  Duration timeout_;
  py::object self_;
  std::map<std::string, py::object, std::less<>> methods_;
};

}  // namespace orrery::python
