// sim/cli/study/study_file.hpp -- study.h5: what a study consists of and what it found.
#pragma once

#include <string>
#include <vector>

#include "sim/cli/study/study_findings.hpp"

namespace orrery {

// `/cells`, `/runs`, `/values`, what findings() says of them in `/metrics`, `/means`,
// `/differences` and `/doubts`, and the study's text, in order of cells and seeds. Runs that are
// missing yet are counted in the attribute runs_missing. Throws RecordError.
void write_study(const std::string& path, const StudyPlan& plan,
                 const std::vector<StudyRunResult>& results,
                 const std::vector<StudyMetric>& metrics);

}  // namespace orrery
