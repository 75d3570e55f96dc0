// sim/core/installation.hpp -- locations of Orrery's other parts, relative to the running program.
//
// `cmake --install` puts the program into PREFIX/bin. The Python package and the policy libraries
// go to PREFIX/lib. The build folder has the same layout. An installation can be moved, because the
// program looks for these parts relative to its own location.
#pragma once

#include <filesystem>

namespace orrery {

// The folder that holds the Python package orrery: ORRERY_ANALYSIS in the environment, else
// PREFIX/lib/python3/dist-packages.
std::filesystem::path python_folder();

// The folder of Orrery's own policy libraries: PREFIX/lib/orrery.
std::filesystem::path library_folder();

}  // namespace orrery
