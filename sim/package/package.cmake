# Destinations of `cmake --install`, and the Debian package that `cpack -G DEB` makes of them. The
# program finds its files by their paths relative to itself: see sim/core/installation.hpp.
install(TARGETS orrery RUNTIME DESTINATION bin)
if(TARGET orrery_python)
  install(TARGETS orrery_python LIBRARY DESTINATION lib/orrery)
endif()
install(DIRECTORY analysis/orrery DESTINATION lib/python3/dist-packages
  PATTERN __pycache__ EXCLUDE)
install(DIRECTORY scenarios/ DESTINATION share/orrery/scenarios
  FILES_MATCHING PATTERN *.yaml PATTERN *.json PATTERN *.md)
install(FILES LICENSE DESTINATION share/doc/orrery RENAME copyright)
install(FILES /usr/share/doc/libhdf5-dev/copyright DESTINATION share/doc/orrery RENAME copyright.hdf5
  OPTIONAL)  # HDF5 is linked into the program; only Debian has this file

# The manual page and the completions are written from the program's --help, after its build.
set(ORRERY_PAGES ${CMAKE_BINARY_DIR}/package)
install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND /usr/bin/python3 -B \"${CMAKE_SOURCE_DIR}/sim/package/manual.py\" \"$<TARGET_FILE:orrery>\"
    \"${ORRERY_PAGES}\")")
install(FILES ${ORRERY_PAGES}/orrery.1 DESTINATION share/man/man1)
install(FILES ${ORRERY_PAGES}/orrery.bash DESTINATION share/bash-completion/completions
  RENAME orrery)
install(FILES ${ORRERY_PAGES}/orrery.zsh DESTINATION share/zsh/vendor-completions RENAME _orrery)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME orrery)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Orrery authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Simulator of GPU clusters run the Kubernetes way")
set(CPACK_PACKAGE_DESCRIPTION "One YAML file in, one HDF5 file out: nodes, schedulers, control
plane, network, faults and training jobs of a GPU cluster, event by event. Brings scenarios, and a
Python package that draws and explains runs.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# dpkg-shlibdeps finds the libraries. Figures and pages need Python; a run does not.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS python3)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "python3-h5py, python3-numpy, python3-pandas, python3-matplotlib, python3-yaml")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-distributed, bash-completion")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/sim/package/postinst
  ${CMAKE_SOURCE_DIR}/sim/package/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
