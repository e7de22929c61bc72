// docs/statistics.md speaks of every counter and of every event.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "relay/gateway/counters.h"
#include "relay/ops/event.h"

namespace satrelay::ops {
namespace {

std::string statistics() {
  std::ifstream file(SATRELAY_STATISTICS_DOC);
  EXPECT_TRUE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Documentation, NamesEveryCounter) {
  const std::string text = statistics();
  for (std::size_t i = 0; i < gateway::kCounterCount; ++i) {
    const std::string name(gateway::name(static_cast<gateway::Counter>(i)));
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
  }
}

// A row each: | `name` | severity | ...
TEST(Documentation, ListsEveryEventWithItsSeverity) {
  const std::string text = statistics();
  for (std::size_t i = 0; i < kEventKinds; ++i) {
    const EventDescription& event = describe(static_cast<EventKind>(i));
    const std::string severity = event.severity == Severity::kError     ? "error"
                                 : event.severity == Severity::kWarning ? "warning"
                                                                        : "info";
    const std::string row = "\n| `" + std::string(event.name) + "` | " + severity + " | ";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace satrelay::ops
