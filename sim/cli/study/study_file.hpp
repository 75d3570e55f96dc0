// sim/cli/study/study_file.hpp -- study.h5: the runs of a study and its findings.
#pragma once

#include <string>
#include <vector>

#include "sim/cli/study/study_findings.hpp"

namespace orrery {

// Writes `/axes`, `/cells`, `/runs`, `/values`, the findings in `/metrics`, `/means`,
// `/differences` and `/doubts`, and the text of the study file. Runs and their values are in the
// order of cells and seeds, findings in the order of `metrics`. The attribute runs_missing says how
// many runs have neither a result nor a failure; runs that the study's rule `until` may add are not
// counted. Throws RecordError.
void write_study(const std::string& path, const StudyPlan& plan,
                 const std::vector<StudyRunResult>& results,
                 const std::vector<StudyMetric>& metrics);

}  // namespace orrery
