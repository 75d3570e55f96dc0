// policies/python/python_params.hpp -- scenario parameters of every Python policy; its class may
// have more.
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
    v("file", file, "The Python file, relative to this one.", Required{}, IsFile{},
      Example{"mine.py"});
    v("class", class_name,
      "A class in it that inherits orrery.policy.Policy; left out: the only one. Its own arguments "
      "stand beside; `orrery describe Python:mine.py:Mine` tells of them.");
    v("timeout", timeout,
      "Host time that one call of a method may take. Longer calls end the run with an error, so "
      "that "
      "an endless loop is found; 0s: no limit.",
      Range{Duration{}, 100_h});
  }
};

// Reports mistakes to `diagnostics`; the class's own keys are left to it.
PythonParams params_of(const RawParams& args, const std::string& path, Diagnostics& diagnostics);
PythonParams params_of(const RawParams& args);  // the arguments must have been checked

}  // namespace orrery::python
