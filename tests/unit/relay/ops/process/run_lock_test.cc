// The lock lets only one process run at a time.
#include "relay/ops/process/run_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace satrelay::ops::run_lock_test {
namespace {

class RunLockTest : public ::testing::Test {
 protected:
  std::string refusal() const {
    try {
      const RunLock lock(file_, "the prefix x");
    } catch (const AlreadyRunning& error) {
      return error.what();
    }
    return "taken";
  }
  RunLockTest() { make_runtime_folder(file_.parent_path()); }
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "dpdk" / "x" / "lock";
};

TEST_F(RunLockTest, ASecondHolderIsToldOfTheFirst) {
  {
    const RunLock lock(file_, "the prefix x");
    EXPECT_EQ(refusal(), "process " + std::to_string(::getpid()) +
                             " uses the prefix x already (it holds " + file_.string() + ")");
    // The refused attempt has not released the lock.
    EXPECT_NE(refusal(), "taken");
  }
  EXPECT_EQ(refusal(), "taken");
}

TEST_F(RunLockTest, WhatAKilledHolderLeavesIsNoLock) {
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(file_, "the prefix x");
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(std::filesystem::exists(file_));
  EXPECT_EQ(refusal(), "taken");
}

TEST_F(RunLockTest, AProgramThatIsExecutedDoesNotHoldIt) {
  pid_t child = -1;
  {
    const RunLock lock(file_, "the prefix x");
    child = ::fork();
    if (child == 0) {
      ::execlp("sleep", "sleep", "60", nullptr);
      ::_exit(1);
    }
    // Wait until the child runs the other program. Only a fork inherits the lock.
    const std::string name = "/proc/" + std::to_string(child) + "/comm";
    for (std::string comm; comm != "sleep";) std::getline(std::ifstream(name) >> std::ws, comm);
  }
  EXPECT_EQ(refusal(), "taken");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(RunLockTest, AFileThatWasPutInItsPlaceIsLockedAnew) {
  std::optional<RunLock> lock(std::in_place, file_, "the prefix x");
  std::filesystem::remove_all(file_.parent_path());
  make_runtime_folder(file_.parent_path());
  EXPECT_EQ(refusal(), "taken");
}

TEST_F(RunLockTest, TheFolderIsOnlyForUs) {
  const auto folder = file_.parent_path();
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder).permissions(), perms::owner_all);
  std::filesystem::permissions(folder, perms(0755));
  make_runtime_folder(folder);
  EXPECT_EQ(std::filesystem::status(folder).permissions(), perms::owner_all);
  const auto link = folder_.path() / "dpdk" / "link";
  std::filesystem::create_directory_symlink(folder, link);
  EXPECT_THROW(make_runtime_folder(link), std::system_error);
}

TEST_F(RunLockTest, ALinkIsNotFollowed) {
  std::filesystem::create_symlink(folder_.path() / "elsewhere", file_);
  EXPECT_THROW(RunLock(file_, "the prefix x"), std::system_error);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "elsewhere"));
}

}  // namespace
}  // namespace satrelay::ops::run_lock_test
