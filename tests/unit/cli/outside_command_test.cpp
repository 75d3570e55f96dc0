// Commands of `orrery` that the Python package executes: their list, and messages about missing
// parts. A command that is executed replaces its process by Python, so no test here executes one.
#include "sim/cli/outside_command.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/cli_run.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

class OutsideCommandTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"ORRERY_ANALYSIS", "ORRERY_PYTHON", "PYTHONPATH", "PYTHONSAFEPATH"}) {
      unsetenv(name);
    }
  }
};

TEST_F(OutsideCommandTest, HelpListsThemAll) {
  const Said said = run({"--help"});
  EXPECT_EQ(said.status, 0);
  for (const OutsideCommand& command : outside_commands()) {
    EXPECT_THAT(said.out, HasSubstr("  orrery " + std::string{command.name} + " "));
  }
}

TEST_F(OutsideCommandTest, AMissingPackageIsReportedWithTheFolder) {
  setenv("ORRERY_ANALYSIS", "/nowhere/analysis", 1);
  const Said said = run({"report", "run.h5"});
  EXPECT_EQ(said.status, 2);
  EXPECT_THAT(said.err, HasSubstr("is not in /nowhere/analysis; set ORRERY_ANALYSIS"));
}

TEST_F(OutsideCommandTest, AMissingPythonIsReported) {
  setenv("ORRERY_PYTHON", "/nowhere/python3", 1);
  const Said said = run({"export", "run.h5"});
  EXPECT_EQ(said.status, 2);
  EXPECT_THAT(said.err, HasSubstr("/nowhere/python3 cannot be started: No such file"));
}

TEST_F(OutsideCommandTest, ANameSpelledAlikeIsSuggested) {
  const Said said = run({"raport", "run.h5"});
  EXPECT_EQ(said.status, 2);
  EXPECT_THAT(said.err, HasSubstr("did you mean 'report'?"));
}

}  // namespace
}  // namespace orrery
