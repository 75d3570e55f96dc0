#include "policies/python/instance.hpp"

#include <pybind11/stl.h>

#include "sim/config/file_names.hpp"
#include "sim/config/reader.hpp"

namespace orrery::python {
namespace {

// Converts the node to the format that policy_code.py reads.
py::object given_of(const config::Node& node) {
  switch (node.kind) {
    case config::Kind::Null:
      return py::none();
    case config::Kind::Scalar:
      return py::make_tuple(node.text, node.was_quoted);
    case config::Kind::Sequence: {
      py::list items;
      for (const config::Node& item : node.items) items.append(given_of(item));
      return items;
    }
    case config::Kind::Map:
      break;
  }
  py::dict entries;
  for (const config::Entry& entry : node.entries) {
    entries[py::str(entry.key)] = given_of(entry.value);
  }
  return entries;
}

Position key_position(const config::Node& args, const std::string& key) {
  for (const config::Entry& entry : args.entries) {
    if (entry.key == key) return entry.key_position;
  }
  return args.position;
}

}  // namespace

PythonParams params_of(const RawParams& args, const std::string& path, Diagnostics& diagnostics) {
  RawParams known = args;
  std::erase_if(known.node.entries, [](const config::Entry& entry) {
    return entry.key != "file" && entry.key != "class" && entry.key != "timeout";
  });
  return read_params<PythonParams>(known.node, path, diagnostics);
}

PythonParams params_of(const RawParams& args) {
  Diagnostics ignored;
  PythonParams params = params_of(args, "args", ignored);
  params.file = file_of(args);
  return params;
}

std::string file_of(const RawParams& args) {
  const config::Node& file = args.node["file"];
  return config::resolved_file(file.text, file.position);
}

PolicyClass::PolicyClass(const RawParams& args) : PolicyClass{params_of(args)} {}

PolicyClass::PolicyClass(const PythonParams& params) : params_{params} {
  start_interpreter();
  const py::gil_scoped_acquire lock;
  try {
    const CallLimit limit{params.timeout, params.file, ""};
    class_ = policy_code().attr("class_of")(params.file, params.class_name);
  } catch (py::error_already_set& error) {
    const bool is_code_error = error.matches(policy_code().attr("CodeError"));
    throw std::runtime_error{is_code_error ? py::str(error.value()).cast<std::string>()
                                           : traceback_of(error)};
  }
}

PolicyClass::~PolicyClass() {
  const py::gil_scoped_acquire lock;
  class_ = {};
}

std::vector<std::string> PolicyClass::points() const {
  return in_python(
      [&] { return policy_code().attr("points_of")(class_).cast<std::vector<std::string>>(); });
}

std::vector<std::string> PolicyClass::files() const {
  return in_python([&] {
    return policy_code().attr("files_of")(params_.file).cast<std::vector<std::string>>();
  });
}

bool PolicyClass::is_set(const char* attribute) const {
  return in_python([&] { return class_.attr(attribute).cast<bool>(); });
}

std::string PolicyClass::name() const {
  return in_python([&] { return class_.attr("__name__").cast<std::string>(); });
}

void PolicyClass::check(const RawParams& args, const std::string& path,
                        Diagnostics& diagnostics) const {
  in_python([&] {
    const py::tuple read = policy_code().attr("read_args")(class_, given_of(args.node));
    for (const py::handle one : read[1]) {
      const auto [key, what, is_key] = one.cast<std::tuple<std::string, std::string, bool>>();
      const config::Node* const value = args.node.find(key);
      const Position& at = is_key             ? key_position(args.node, key)
                           : value == nullptr ? args.node.position
                                              : value->position;
      std::string where = path;
      if (!is_key) where.append(".").append(key);
      diagnostics.error(at, where, what);
    }
  });
}

FieldTree PolicyClass::describe() const {
  return in_python([&] {
    const py::tuple description = policy_code().attr("described")(class_);
    FieldTree tree;
    tree.doc = description[0].cast<std::string>();
    for (const py::handle one : description[1]) {
      auto row = one.cast<std::map<std::string, std::string>>();
      FieldTree& field = tree.children.emplace_back();
      field.name = row["name"];
      field.shape = FieldShape::Text;
      field.type = row["type"];
      field.default_text = row["default"];
      field.range_text = row["range"];
      field.unit = row["unit"];
      field.doc = row["doc"];
      field.required = !row["required"].empty();
    }
    return tree;
  });
}

Instance::Instance(const RawParams& args, const py::dict& lent) {
  const PolicyClass found{args};
  const py::module_ code = policy_code();
  const py::tuple read = code.attr("read_args")(found.class_, given_of(args.node));
  name_ = found.class_.attr("__name__").cast<std::string>();
  timeout_ = found.params_.timeout;
  {
    const CallLimit limit{timeout_, name_, "__init__"};
    try {
      self_ = code.attr("made")(found.class_, read[0], lent);
    } catch (py::error_already_set& error) {
      rethrow(error, limit);
    }
  }
  for (const auto& method :
       code.attr("methods_of")(found.class_).cast<std::vector<std::string>>()) {
    methods_.emplace(method, self_.attr(method.c_str()));
  }
}

Instance::~Instance() {
  const py::gil_scoped_acquire lock;
  methods_.clear();
  self_ = {};
}

void Instance::rethrow(py::error_already_set& error, const CallLimit& limit) {
  if (!limit.is_interrupted() || !error.matches(policy_code().attr("CallTooLong"))) throw;
  throw std::runtime_error{limit.message() + ": it was interrupted at\n" + traceback_of(error)};
}

bool Instance::is_set(const char* attribute) const {
  const py::object given = self_.attr(attribute);
  if (!py::isinstance<py::bool_>(given)) throw wrong(attribute, given, "True or False");
  return given.cast<bool>();
}

std::runtime_error Instance::wrong(std::string_view method, std::string_view what) const {
  std::string text = name_;
  text.append(".").append(method).append("() ").append(what);
  return std::runtime_error{text};
}

std::runtime_error Instance::wrong(std::string_view method, const py::handle& given,
                                   std::string_view expected) const {
  auto shown = py::repr(given).cast<std::string>();
  constexpr size_t kShownMax = 60;
  if (shown.size() > kShownMax) shown = shown.substr(0, kShownMax) + "...";
  const auto type = py::type::handle_of(given).attr("__name__").cast<std::string>();
  std::string what = "gave ";
  what.append(shown).append(" (").append(type).append("), expected ").append(expected);
  return wrong(method, what);
}

}  // namespace orrery::python
