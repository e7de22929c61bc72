#include "relay/satrelayctl/support/program_log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl::program_log_test {
namespace {

namespace fs = std::filesystem;
using Kind = LogOutput::Kind;

constexpr pid_t kProgram = 77;

class ProgramLog : public testing::Test {
 protected:
  ProgramLog() { fs::create_directories(process() / "fd"); }
  fs::path process() const { return folder_.path() / "proc" / std::to_string(kProgram); }
  void writes_to(const fs::path& what) const { fs::create_symlink(what, process() / "fd/2"); }
  void is_in_group(const char* group) const { std::ofstream(process() / "cgroup") << group; }
  LogOutput output() const { return log_output(folder_.path(), kProgram); }
  std::string unit() const { return unit_of(folder_.path(), kProgram); }
  fs::path log(const std::string& text) const {
    const fs::path file = folder_.path() / "log";
    std::ofstream(file) << text;
    return file;
  }

  TemporaryFolder folder_;
};

TEST_F(ProgramLog, IsAFile) {
  const fs::path file = log("one\n");
  writes_to(file);
  EXPECT_EQ(output().kind, Kind::kFile);
  EXPECT_EQ(output().words, file.string());
  EXPECT_EQ(last_lines(output().file, 10, 100), "one\n");
}

TEST_F(ProgramLog, IsASocketOfAService) {
  writes_to("socket:[12345]");
  is_in_group("0::/system.slice/system-satrelayd.slice/satrelayd@north.service\n");
  EXPECT_EQ(output().kind, Kind::kSocket);
  EXPECT_EQ(unit(), "satrelayd@north.service");
  is_in_group("0::/system.slice/satrelayd.service/below\n");
  EXPECT_EQ(unit(), "satrelayd.service");
}

TEST_F(ProgramLog, IsNothingThatCanBeReadAgain) {
  writes_to("/dev/null");
  is_in_group("0::/user.slice/user-0.slice/session-3.scope\n");
  EXPECT_EQ(output().kind, Kind::kOther);
  EXPECT_EQ(output().words, "/dev/null");
  EXPECT_EQ(unit(), "");
}

TEST_F(ProgramLog, IsNotToBeSeen) {
  EXPECT_EQ(output().kind, Kind::kUnknown);
  EXPECT_EQ(output().words, "No such file or directory");
  EXPECT_EQ(unit(), "");
}

TEST_F(ProgramLog, HasItsLastLinesAsAWhole) {
  const fs::path file = log("one\ntwo\nthree\n");
  EXPECT_EQ(last_lines(file, 2, 100), "two\nthree\n");
  EXPECT_EQ(last_lines(file, 3, 100), "one\ntwo\nthree\n");
  EXPECT_EQ(last_lines(file, 9, 100), "one\ntwo\nthree\n");
  EXPECT_EQ(last_lines(file, 9, 8), "three\n") << "and no piece of one";
  EXPECT_EQ(last_lines(file, 1, 8), "three\n");
  EXPECT_EQ(last_lines(log("one\ntwo"), 1, 100), "two") << "one that is being written";
  EXPECT_EQ(last_lines(log(""), 5, 100), "");
  EXPECT_THROW(last_lines(folder_.path() / "none", 5, 100), std::runtime_error);
}

}  // namespace
}  // namespace satrelay::ctl::program_log_test
