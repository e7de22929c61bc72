// docs/operations.md speaks of every counter.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "relay/gateway/counters.h"

namespace satrelay::ops {
namespace {

TEST(Documentation, NamesEveryCounter) {
  std::ifstream file(SATRELAY_OPERATIONS_DOC);
  ASSERT_TRUE(file);
  std::ostringstream text;
  text << file.rdbuf();
  for (std::size_t i = 0; i < gateway::kCounterCount; ++i) {
    const std::string name(gateway::name(static_cast<gateway::Counter>(i)));
    EXPECT_NE(text.str().find("`" + name + "`"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace satrelay::ops
