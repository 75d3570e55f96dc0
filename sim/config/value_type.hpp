// sim/config/value_type.hpp -- reads, writes and describes values of one type.
//
// Values are passed as void*. For structs, variants and containers, the templates in type_of.hpp
// only give access to the parts of a value. So the code that reads, writes and describes such
// values is compiled once, not once for each type.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/diagnostics.hpp"
#include "sim/config/field_tree.hpp"
#include "sim/config/node.hpp"
#include "sim/config/options.hpp"

namespace orrery {

class FieldList;
class Checker;

namespace config {

// Context of a value: its path in messages, and its field's options.
struct ReadContext {
  std::string path;
  const FieldOptions& options;
  Diagnostics& diagnostics;
};

class ValueType {
 public:
  virtual ~ValueType() = default;
  // After a mistake, which goes to the diagnostics, the value may be half read.
  virtual void read(const Node& node, const ReadContext& context, void* value) const = 0;
  // Called if the key is missing; the value keeps its default. StructType's version reports the
  // required keys of the struct as missing.
  virtual void read_absent(const Position&, const ReadContext&, void*) const {}
  virtual Node write(const void* value) const = 0;
  // Fills in what depends on the type: shape, type text, unit, limits and children. Name, doc,
  // default and the other options of a field are added by the describe() of its struct. `value`
  // holds the default.
  virtual void describe(const void* value, const FieldOptions& options, FieldTree& tree) const = 0;
};

class EnumType : public ValueType {
 public:
  void read(const Node& node, const ReadContext& context, void* value) const final;
  Node write(const void* value) const final;
  void describe(const void* value, const FieldOptions& options, FieldTree& tree) const final;

 private:
  virtual std::vector<std::string> names() const = 0;
  virtual size_t get(const void* value) const = 0;
  virtual void set(void* value, size_t index) const = 0;
};

class ListType : public ValueType {
 public:
  void read(const Node& node, const ReadContext& context, void* value) const final;
  Node write(const void* value) const final;
  void describe(const void* value, const FieldOptions& options, FieldTree& tree) const final;

 private:
  virtual const ValueType& element() const = 0;
  virtual void clear(void* value) const = 0;
  virtual void* append(void* value) const = 0;
  virtual std::vector<const void*> parts(const void* value) const = 0;
  virtual std::shared_ptr<const void> sample() const = 0;  // a default element
};

class MapType : public ValueType {
 public:
  void read(const Node& node, const ReadContext& context, void* value) const final;
  Node write(const void* value) const final;
  void describe(const void* value, const FieldOptions& options, FieldTree& tree) const final;

 private:
  virtual const ValueType& element() const = 0;
  virtual void clear(void* value) const = 0;
  virtual void* insert(void* value, const std::string& key) const = 0;
  virtual std::vector<std::pair<std::string, const void*>> parts(const void* value) const = 0;
  virtual std::shared_ptr<const void> sample() const = 0;
};

class OptionalType : public ValueType {
 public:
  void read(const Node& node, const ReadContext& context, void* value) const final;
  void read_absent(const Position& at, const ReadContext& context, void* value) const final;
  Node write(const void* value) const final;
  void describe(const void* value, const FieldOptions& options, FieldTree& tree) const final;

 private:
  virtual const ValueType& element() const = 0;
  virtual void clear(void* value) const = 0;
  virtual void* fill(void* value) const = 0;              // the value held, or a new default one
  virtual const void* held(const void* value) const = 0;  // null when empty
  virtual std::shared_ptr<const void> sample() const = 0;
};

class StructType : public ValueType {
 public:
  void read(const Node& node, const ReadContext& context, void* value) const final;
  void read_absent(const Position& at, const ReadContext& context, void* value) const final;
  Node write(const void* value) const final;
  void describe(const void* value, const FieldOptions& options, FieldTree& tree) const final;

  // Read and write an alternative of a variant. The key `kind` is allowed, and written first.
  void read_as(const Node& node, const ReadContext& context, std::string_view kind,
               void* value) const;
  Node write_as(const void* value, std::string_view kind) const;

 private:
  virtual void collect(void* value, FieldList& fields) const = 0;
  virtual void check(const void* value, Checker& checker) const = 0;
  virtual std::string_view doc() const = 0;
  virtual std::shared_ptr<const void> sample() const = 0;  // a default struct
  void collect_const(const void* value, FieldList& fields) const;
  bool is_default(std::string_view field, const Node& value) const;
  void tell_unheeded(const Node& node, const ReadContext& context, const void* value) const;
};

struct Alternative {
  std::string_view kind;
  const StructType& type;
};

class VariantType : public ValueType {
 public:
  void read(const Node& node, const ReadContext& context, void* value) const final;
  void read_absent(const Position& at, const ReadContext& context, void* value) const final;
  Node write(const void* value) const final;
  void describe(const void* value, const FieldOptions& options, FieldTree& tree) const final;

 private:
  virtual const std::vector<Alternative>& alternatives() const = 0;
  virtual size_t index(const void* value) const = 0;
  virtual void* held(void* value) const = 0;
  virtual const void* held(const void* value) const = 0;
  // Sets the value to the default of alternative `index`. A value that already has this alternative
  // stays as it is.
  virtual void select(void* value, size_t index) const = 0;
  virtual std::shared_ptr<const void> sample(size_t index) const = 0;
};

}  // namespace config
}  // namespace orrery
