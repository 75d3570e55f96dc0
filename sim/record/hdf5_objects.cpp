#include "sim/record/hdf5_objects.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>

namespace orrery {
namespace {

Hdf5Handle integer_type(size_t bytes, bool is_signed) {
  const std::array<hid_t, 4> with_sign{H5T_NATIVE_INT8, H5T_NATIVE_INT16, H5T_NATIVE_INT32,
                                       H5T_NATIVE_INT64};
  const std::array<hid_t, 4> without{H5T_NATIVE_UINT8, H5T_NATIVE_UINT16, H5T_NATIVE_UINT32,
                                     H5T_NATIVE_UINT64};
  const size_t power = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  return {H5Tcopy(is_signed ? with_sign[power] : without[power]), H5Tclose};
}

Hdf5Handle enum_type(size_t bytes, bool is_signed, std::span<const std::string_view> names) {
  const Hdf5Handle base = integer_type(bytes, is_signed);
  Hdf5Handle type{H5Tenum_create(base.get()), H5Tclose};
  // HDF5 reads only the first bytes of `i`. In little-endian memory these are the low bytes.
  for (uint64_t i = 0; i < names.size(); ++i) {
    H5Tenum_insert(type.get(), std::string{names[i]}.c_str(), &i);
  }
  return type;
}

}  // namespace

void silence_hdf5() {
  thread_local const herr_t silenced = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  static_cast<void>(silenced);
}

std::string innermost_hdf5_error() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* error, void* into) -> herr_t {
        if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(into) = error->desc;
        return 0;
      },
      &text);
  return text;
}

Hdf5Handle text_type(size_t bytes) {
  Hdf5Handle type{H5Tcopy(H5T_C_S1), H5Tclose};
  H5Tset_size(type.get(), std::max<size_t>(bytes, 1));  // HDF5 has no text of length zero
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

Hdf5Handle bool_type() {  // h5py reads it as a NumPy bool
  constexpr std::array<std::string_view, 2> kNames{"FALSE", "TRUE"};
  return enum_type(1, true, kNames);
}

Hdf5Handle type_of(const Column& column) {
  switch (column.kind) {
    case ColumnKind::Bool:
      return bool_type();
    case ColumnKind::Float:
      return {H5Tcopy(column.bytes == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE), H5Tclose};
    case ColumnKind::Enum:
      return enum_type(column.bytes, column.is_signed, column.enum_names);
    case ColumnKind::Text:
      return text_type(column.bytes);
    case ColumnKind::Int:
    case ColumnKind::Uint:
    case ColumnKind::Id:
      break;
  }
  return integer_type(column.bytes, column.kind == ColumnKind::Int);
}

Hdf5Handle new_list(int64_t list_class, bool is_for_objects) {
  Hdf5Handle list{H5Pcreate(list_class), H5Pclose};
  if (is_for_objects) H5Pset_obj_track_times(list.get(), false);
  return list;
}

int attach(hid_t object, const std::string& name, hid_t type, hid_t space, const void* value) {
  const Hdf5Handle attribute{
      H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose};
  return H5Awrite(attribute.get(), type, value);
}

int attach_text(hid_t object, const std::string& name, std::string_view text) {
  const Hdf5Handle space{H5Screate(H5S_SCALAR), H5Sclose};
  const std::string stored{text.empty() ? std::string_view{"\0", 1} : text};
  return attach(object, name, text_type(stored.size()).get(), space.get(), stored.data());
}

int attach_texts(hid_t object, const std::string& name, const std::vector<std::string>& texts) {
  size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  std::string stored;
  for (const std::string& text : texts) stored.append(text).append(longest - text.size(), '\0');
  const hsize_t count = texts.size();
  const Hdf5Handle space{H5Screate_simple(1, &count, nullptr), H5Sclose};
  return attach(object, name, text_type(longest).get(), space.get(), stored.data());
}

}  // namespace orrery
