#include "sim/record/hdf5_driver.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

static_assert(std::is_same_v<hid_t, int64_t>, "our headers say int64_t for an HDF5 handle");

struct DriverInfo {
  FileFault* fault;
  bool is_synced;
};

struct HeldWrite {
  haddr_t address;
  std::vector<char> bytes;
};

struct PosixFile {
  H5FD_t base;  // must be first: HDF5 only knows this member
  int descriptor;
  haddr_t end_of_addresses, end_of_file;
  dev_t device;
  ino_t inode;
  FileFault* fault;
  bool is_synced;
  std::vector<HeldWrite> held;  // metadata since the last flush, in HDF5's order
};

PosixFile& self(H5FD_t* file) { return *reinterpret_cast<PosixFile*>(file); }
const PosixFile& self(const H5FD_t* file) { return *reinterpret_cast<const PosixFile*>(file); }

H5FD_t* open_file(const char* name, unsigned flags, hid_t access, haddr_t /*address_max*/) {
  const auto* const info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  int mode = (flags & H5F_ACC_RDWR) != 0U ? O_RDWR : O_RDONLY;
  if ((flags & H5F_ACC_TRUNC) != 0U) mode |= O_TRUNC;
  if ((flags & H5F_ACC_CREAT) != 0U) mode |= O_CREAT;
  if ((flags & H5F_ACC_EXCL) != 0U) mode |= O_EXCL;
  const int descriptor = ::open(name, mode | O_CLOEXEC | O_NOFOLLOW, 0666);
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) {
    // HDF5 first checks whether the file exists; a missing file is no fault.
    if ((flags & H5F_ACC_CREAT) != 0U || errno != ENOENT) info->fault->error_number = errno;
    if (descriptor >= 0) ::close(descriptor);
    return nullptr;
  }
  std::unique_ptr<PosixFile> file{new (std::nothrow) PosixFile{}};
  if (file == nullptr) {
    info->fault->error_number = ENOMEM;
    ::close(descriptor);
    return nullptr;
  }
  file->descriptor = descriptor;
  file->end_of_file = static_cast<haddr_t>(status.st_size);
  file->device = status.st_dev;
  file->inode = status.st_ino;
  file->fault = info->fault;
  file->is_synced = info->is_synced;
  return &file.release()->base;
}

int compare_files(const H5FD_t* a, const H5FD_t* b) {
  const PosixFile& x = self(a);
  const PosixFile& y = self(b);
  if (x.device != y.device) return x.device < y.device ? -1 : 1;
  if (x.inode != y.inode) return x.inode < y.inode ? -1 : 1;
  return 0;
}

herr_t query_features(const H5FD_t* /*file*/, unsigned long* features) {
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
              H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_POSIX_COMPAT_HANDLE |
              H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t end_of_addresses(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return self(file).end_of_addresses;
}

herr_t set_end_of_addresses(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
  self(file).end_of_addresses = address;
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t /*type*/) { return self(file).end_of_file; }

herr_t handle_of(H5FD_t* file, hid_t /*access*/, void** handle) {
  *handle = &self(file).descriptor;
  return 0;
}

// Reads from the file. HDF5 also reads space that it allocated but never wrote; what lies beyond
// the file's end is read as zeros.
bool read_all(PosixFile& from, haddr_t address, size_t size, char* into) {
  while (size > 0) {
    const ssize_t count = ::pread(from.descriptor, into, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      if (from.fault->error_number == 0) from.fault->error_number = errno;
      return false;
    }
    if (count == 0) {
      std::memset(into, 0, size);
      return true;
    }
    into += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
  return true;
}

void write_all(PosixFile& into, haddr_t address, size_t size, const char* from) {
  while (size > 0 && into.fault->error_number == 0) {
    const ssize_t count = ::pwrite(into.descriptor, from, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      into.fault->error_number = errno;
      return;
    }
    from += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
}

void set_length(PosixFile& file, haddr_t length) {
  if (file.fault->error_number == 0 &&
      ::ftruncate(file.descriptor, static_cast<off_t>(length)) != 0) {
    file.fault->error_number = errno;
  }
  file.end_of_file = length;
}

// Extends the file to its full length, then executes the held writes. Writes of the superblock
// (address 0) come first. HDF5 would write the superblock last. If the process were then killed
// just before the last write, metadata would refer to addresses beyond the length that the old
// superblock states, and readers reject such addresses.
void write_held(PosixFile& file) {
  struct stat status {};
  if (::fstat(file.descriptor, &status) == 0 &&
      static_cast<haddr_t>(status.st_size) < file.end_of_addresses) {
    set_length(file, file.end_of_addresses);
  }
  std::stable_partition(file.held.begin(), file.held.end(),
                        [](const HeldWrite& write) { return write.address == 0; });
  for (const HeldWrite& write : file.held) {
    write_all(file, write.address, write.bytes.size(), write.bytes.data());
  }
  file.held.clear();
}

herr_t read_bytes(H5FD_t* file, H5FD_mem_t type, hid_t /*transfer*/, haddr_t address, size_t size,
                  void* buffer) {
  PosixFile& from = self(file);
  auto* const into = static_cast<char*>(buffer);
  if (!read_all(from, address, size, into)) return -1;
  if (type == H5FD_MEM_DRAW) return 0;
  for (const HeldWrite& write : from.held) {
    const haddr_t first = std::max(address, write.address);
    const haddr_t last = std::min(address + size, write.address + write.bytes.size());
    if (first >= last) continue;
    std::memcpy(into + (first - address), write.bytes.data() + (first - write.address),
                last - first);
  }
  return 0;
}

// No exception may propagate through HDF5: its locks would stay locked, and its lists half changed.
void hold(PosixFile& file, haddr_t address, size_t size, const char* from) {
  try {
    file.held.push_back({address, {from, from + size}});
  } catch (const std::bad_alloc&) {
    file.fault->error_number = ENOMEM;
  }
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t type, hid_t /*transfer*/, haddr_t address, size_t size,
                   const void* buffer) {
  PosixFile& into = self(file);
  const auto* const from = static_cast<const char*>(buffer);
  if (into.fault->error_number != 0) {
    into.held.clear();
  } else if (type == H5FD_MEM_DRAW) {
    write_all(into, address, size, from);
  } else {
    hold(into, address, size, from);
  }
  into.end_of_file = std::max(into.end_of_file, address + size);
  return 0;
}

herr_t flush_file(H5FD_t* file, hid_t /*transfer*/, hbool_t /*closing*/) {
  write_held(self(file));
  return 0;
}

herr_t close_file(H5FD_t* file) {
  const std::unique_ptr<PosixFile> owned{&self(file)};
  write_held(*owned);
  const bool is_to_sync = owned->is_synced && owned->fault->error_number == 0;
  // EINVAL means that a file of this kind cannot be synced. That is no error.
  if (is_to_sync && ::fsync(owned->descriptor) != 0 && errno != EINVAL) {
    owned->fault->error_number = errno;
  }
  if (::close(owned->descriptor) != 0 && owned->fault->error_number == 0) {
    owned->fault->error_number = errno;
  }
  return 0;
}

herr_t truncate_file(H5FD_t* file, hid_t /*transfer*/, hbool_t /*closing*/) {
  PosixFile& into = self(file);
  if (into.end_of_addresses != into.end_of_file) set_length(into, into.end_of_addresses);
  return 0;
}

// HDF5 marks files that are open for writing, but only if their driver can lock files. HDF5
// releases the lock when SWMR starts. ENOSYS means a file system without locks, and counts as
// success.
herr_t lock_file(H5FD_t* file, hbool_t for_writing) {
  const int how = (for_writing ? LOCK_EX : LOCK_SH) | LOCK_NB;
  return ::flock(self(file).descriptor, how) == 0 || errno == ENOSYS ? 0 : -1;
}

herr_t unlock_file(H5FD_t* file) {
  return ::flock(self(file).descriptor, LOCK_UN) == 0 || errno == ENOSYS ? 0 : -1;
}

H5FD_class_t driver_class() {
  constexpr H5FD_mem_t kMap[] = H5FD_FLMAP_DICHOTOMY;
  H5FD_class_t driver{};
  driver.name = "orrery";
  driver.maxaddr = (haddr_t{1} << 63U) - 1;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare_files;
  driver.query = query_features;
  driver.get_eoa = end_of_addresses;
  driver.set_eoa = set_end_of_addresses;
  driver.get_eof = end_of_file;
  driver.get_handle = handle_of;
  driver.read = read_bytes;
  driver.write = write_bytes;
  driver.flush = flush_file;
  driver.truncate = truncate_file;
  driver.lock = lock_file;
  driver.unlock = unlock_file;
  std::copy(std::begin(kMap), std::end(kMap), std::begin(driver.fl_map));
  return driver;
}

}  // namespace

int64_t make_file_access(FileFault& fault, bool is_synced) {
  static const H5FD_class_t kClass = driver_class();
  static const hid_t kDriver = H5FDregister(&kClass);
  ORRERY_CHECK(kDriver >= 0, "HDF5 accepts a complete driver");
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const DriverInfo info{&fault, is_synced};  // HDF5 copies it
  ORRERY_CHECK(H5Pset_driver(access, kDriver, &info) >= 0, "HDF5 accepts its own property list");
  return access;
}

}  // namespace orrery
