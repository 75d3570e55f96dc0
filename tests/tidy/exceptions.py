"""Accepted findings, each with the reason. Keep the list short: an exception is a debt."""

# File, rule, start of the message, reason of the exception.
ALLOWED = (
    ("sim/engine/engine.cpp", "names", "steady_clock",
     "the profile takes its samples around the event that runs"),
    ("sim/engine/profile.cpp", "unordered", "walks costs_",
     "adds whole numbers up in an ordered map"),
    ("tests/support/fake_handle.hpp", "lengths", "", "one scheduler for tests of policies"),
    ("tests/support/fake_board.hpp", "lengths", "", "one board for tests of controllers"),
    ("tests/support/job_world.hpp", "lengths", "", "one builder of test worlds"),
    ("tests/property/job_lives_test.cpp", "lengths", "a function",
     "a life of random jobs and the whole book-keeping after it"),
)

WITHOUT_PAGE = ("models/faults/logs",
                "models/network/collectives", "models/network/fabric", "models/network/routing",
                "models/network/sharing")


def is_allowed(path: str, rule: str, message: str) -> bool:
    return any(path == where and rule == what and message.startswith(begins)
               for where, what, begins, _ in ALLOWED)
