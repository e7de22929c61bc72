#include "relay/satrelayctl/support/child_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl::child_program_test {
namespace {

constexpr std::chrono::seconds kLong(20);

class ChildProgramTest : public testing::Test {
 protected:
  ChildProgramTest()
      : path_(folder_.file("out")),
        output_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {}
  ~ChildProgramTest() override { ::close(output_); }
  std::string shell(const char* script, std::chrono::milliseconds most = kLong) const {
    return run_program({"/bin/sh", "-c", script}, output_, most);
  }
  std::string written() const {
    std::ifstream in(path_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
  int output_;
};

TEST_F(ChildProgramTest, WritesWhereItIsToldAndSeesNoEnvironment) {
  ::setenv("SATRELAY_TEST_SECRET", "hello", 1);
  EXPECT_EQ(shell("echo \"[$SATRELAY_TEST_SECRET] $LC_ALL\"; cat; echo end"), "");
  EXPECT_EQ(written(), "[] C\nend\n");
}

TEST_F(ChildProgramTest, TellsWhatWentWrong) {
  EXPECT_EQ(shell("echo first >&2; echo second >&2; exit 3"), "/bin/sh: first");
  EXPECT_EQ(shell("exit 3"), "/bin/sh: status 3");
  EXPECT_EQ(shell("kill -9 $$"), "/bin/sh: ended by signal 9");
  EXPECT_EQ(run_program({"/nonexistent/program"}, STDOUT_FILENO, kLong),
            "/nonexistent/program: No such file or directory");
}

TEST_F(ChildProgramTest, EndsWhatTakesTooLong) {
  EXPECT_EQ(shell("exec sleep 60", std::chrono::milliseconds(50)), "/bin/sh: took too long");
}

}  // namespace
}  // namespace satrelay::ctl::child_program_test
