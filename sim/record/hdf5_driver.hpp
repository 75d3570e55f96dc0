// sim/record/hdf5_driver.hpp -- how HDF5's bytes reach the disk, and what happens when they cannot.
#pragma once

#include <cstdint>

namespace orrery {

// What went wrong first with one file.
struct FileFault {
  int error_number = 0;  // errno; 0: nothing
};

// A file access property list (hid_t) for a plain POSIX file, fit for SWMR. Rows reach the file
// when HDF5 writes them, everything else at the flush that follows, so that a kill between two
// flushes finds the state of the last one.
//
// HDF5 1.10 cannot close
// a file whose writes fail: it leaks it, and complains at exit. So after the first failure this
// driver drops every write and reports success; the library closes in peace and the owner, who
// finds the reason in `fault`, removes the file. `fault` must outlive the file.
//
// What is given its final name must survive a power cut: closing waits for the disk, if
// `is_synced`.
int64_t make_file_access(FileFault& fault, bool is_synced);

}  // namespace orrery
