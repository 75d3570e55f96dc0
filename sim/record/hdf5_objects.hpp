// sim/record/hdf5_objects.hpp -- handles, types and attributes of HDF5, without including hdf5.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/record/column.hpp"

namespace orrery {

// An HDF5 handle (hid_t) that closes itself. If get() is negative, the handle is empty: it holds no
// object, or the creation of the object failed.
class Hdf5Handle {
 public:
  using Close = int (*)(int64_t);
  Hdf5Handle() = default;
  Hdf5Handle(int64_t id, Close close) : id_{id}, close_{close} {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_{other.release()}, close_{other.close_} {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  int64_t get() const { return id_; }
  [[nodiscard]] int64_t release() { return std::exchange(id_, -1); }

 private:
  int64_t id_ = -1;
  Close close_ = nullptr;
};

// Stops HDF5 from printing its error stack. This has effect only in the calling thread.
void silence_hdf5();
std::string innermost_hdf5_error();

Hdf5Handle text_type(size_t bytes);
Hdf5Handle bool_type();
Hdf5Handle type_of(const Column& column);

// A property list. With `is_for_objects`, HDF5 stores no time stamps in the objects made with the
// list, so equal runs give equal bytes.
Hdf5Handle new_list(int64_t list_class, bool is_for_objects);

// Add an attribute to an object. A negative result means failure.
int attach(int64_t object, const std::string& name, int64_t type, int64_t space, const void* value);
int attach_text(int64_t object, const std::string& name, std::string_view text);
int attach_texts(int64_t object, const std::string& name, const std::vector<std::string>& texts);

}  // namespace orrery
