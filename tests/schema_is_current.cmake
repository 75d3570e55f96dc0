# Compares the JSON Schema in the tree with what `orrery schema` prints.
execute_process(COMMAND ${ORRERY} schema OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "orrery schema ended with ${status}")
endif()
file(READ ${SCHEMA} kept)
if(NOT printed STREQUAL kept)
  message(FATAL_ERROR "${SCHEMA} is out of date: cmake --build BUILD --target written_files")
endif()
