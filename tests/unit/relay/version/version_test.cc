#include "relay/version/version.h"

#include <gtest/gtest.h>

namespace satrelay::version_test {
namespace {

TEST(Version, HasTheCommitInParentheses) {
  const std::string version(satrelay::version());
  if (commit() == "none") {
    EXPECT_EQ(version_and_commit(), version);
  } else {
    EXPECT_EQ(version_and_commit(), version + " (" + std::string(commit()) + ")");
  }
}

}  // namespace
}  // namespace satrelay::version_test
