// policies/python/python_params.hpp -- the scenario parameters that every Python policy has.
#pragma once

#include <string>

#include "sim/config/fields.hpp"

namespace orrery::python {

struct PythonParams {
  std::string file;
  std::string class_name;
  Duration timeout = 60_s;
  template <class V>
  void fields(V& v) {
    v("file", file, "The Python file; the path is relative to the file that names it.", Required{},
      IsFile{}, Example{"mine.py"});
    v("class", class_name,
      "A class in the Python file that inherits orrery.policy.Policy; absent: the only such class. "
      "The arguments that the class declares stand beside `class`; `orrery describe "
      "Python:mine.py:Mine` lists them.");
    v("timeout", timeout,
      "Limit of host time for one call of a method. Longer calls, such as endless loops, end the "
      "run with an error; 0s: no limit.",
      Range{Duration{}, 100_h});
  }
};

// Reports mistakes to `diagnostics`. Keys that only the class knows are ignored.
PythonParams params_of(const RawParams& args, const std::string& path, Diagnostics& diagnostics);
PythonParams params_of(const RawParams& args);  // the arguments must have been checked

}  // namespace orrery::python
