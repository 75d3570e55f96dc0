// sim/record/hdf5_driver.hpp -- writes HDF5's bytes to disk, and handles write errors.
#pragma once

#include <cstdint>

namespace orrery {

// The first error of one file.
struct FileFault {
  int error_number = 0;  // errno; 0 without an error
};

// A file access property list (hid_t) for a plain POSIX file, suitable for SWMR. Rows are written
// to the file when HDF5 writes them, and metadata only at the next flush. Readers do not see
// rows without metadata. So a kill between two flushes leaves the state of the earlier flush.
//
// HDF5 1.10 cannot close a file whose writes fail: the file leaks, and HDF5 complains at exit. So
// after the first failure this driver drops every write and reports success. HDF5 then closes
// cleanly. `fault` holds the reason and must outlive the file. The owner removes the file.
//
// With `is_synced`, closing the file calls fsync: once renamed to its final name, the file must
// survive a power cut.
int64_t make_file_access(FileFault& fault, bool is_synced);

}  // namespace orrery
