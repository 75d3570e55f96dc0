# Compares a JSON Schema in the tree with what `orrery schema KIND` prints.
execute_process(COMMAND ${ORRERY} schema ${KIND} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "orrery schema ${KIND} ended with ${status}")
endif()
file(READ ${SCHEMA} kept)
if(NOT printed STREQUAL kept)
  message(FATAL_ERROR "${SCHEMA} is out of date: cmake --build BUILD --target written_files")
endif()
