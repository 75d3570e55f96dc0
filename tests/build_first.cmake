# Read by ctest before it looks for tests, in the build folder.
if(NOT DEFINED ENV{ORRERY_TESTS_BUILT})
  execute_process(COMMAND ${CMAKE_COMMAND} --build . --parallel RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the build failed")
  endif()
  set(ENV{ORRERY_TESTS_BUILT} 1)
endif()
