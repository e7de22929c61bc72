#include "relay/ops/log/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/unit/relay/ops/fake_journal.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::ops::log_test {
namespace {

// Makes stderr a file during its lifetime. is_the_journal() names that file in JOURNAL_STREAM.
class Stderr {
 public:
  explicit Stderr(const std::string& path) : path_(path), before_(::dup(STDERR_FILENO)) {
    const int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;
  ~Stderr() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::unsetenv("JOURNAL_STREAM");
    open_log("test", config::LogLevel::kInfo);
  }
  void is_the_journal() const {
    struct stat status {};
    ::fstat(STDERR_FILENO, &status);
    const std::string stream = std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino);
    ::setenv("JOURNAL_STREAM", stream.c_str(), 1);
  }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
  int before_;
};

class LogTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Stderr stderr_{folder_.file("stderr")};
  const std::string socket_ = folder_.file("journal");
  const std::vector<LogField> fields_{{"SATRELAY_EVENT", "peer_lost"}, {"SATRELAY_NUMBER", "7"}};
};

TEST_F(LogTest, ALineNamesTheProgramAndTheLevelOfAProblem) {
  const FakeJournal journal(socket_);
  open_log("satrelayd", config::LogLevel::kInfo, socket_);
  log(config::LogLevel::kError, "peer \x1b[2J\nhub: gone", fields_);
  log_info("ready");
  log(config::LogLevel::kDebug, "unwanted");
  EXPECT_EQ(stderr_.text(), "satrelayd: error: peer ?[2J?hub: gone\nsatrelayd: ready\n");
  EXPECT_EQ(journal.next(), "") << "stderr is not the journal";
}

TEST_F(LogTest, WhereStderrIsTheJournalItGetsTheFields) {
  stderr_.is_the_journal();
  const FakeJournal journal(socket_);
  open_log("satrelayd", config::LogLevel::kInfo, socket_);
  log(config::LogLevel::kError, "peer hub:\ngone", fields_);
  EXPECT_EQ(journal.next(),
            "MESSAGE=peer hub:?gone\nPRIORITY=3\nSYSLOG_IDENTIFIER=satrelayd\n"
            "SATRELAY_EVENT=peer_lost\nSATRELAY_NUMBER=7\n");
  log(config::LogLevel::kDebug, "unwanted");
  EXPECT_EQ(journal.next(), "");
  EXPECT_EQ(stderr_.text(), "") << "once is enough";
}

TEST_F(LogTest, WhatTheJournalDoesNotTakeIsALineWithItsPriority) {
  stderr_.is_the_journal();
  open_log("satrelayd", config::LogLevel::kInfo, socket_);
  log(config::LogLevel::kWarning, "peer hub: silent", fields_);
  EXPECT_EQ(stderr_.text(), "<4>satrelayd: peer hub: silent\n");
}

TEST_F(LogTest, AnotherStreamThanThatOfTheJournalIsNoJournal) {
  stderr_.is_the_journal();
  ::setenv("JOURNAL_STREAM", "1:2", 1);
  const FakeJournal journal(socket_);
  open_log("satrelayd", config::LogLevel::kInfo, socket_);
  log_info("ready");
  EXPECT_EQ(journal.next(), "");
  EXPECT_EQ(stderr_.text(), "satrelayd: ready\n");
}

}  // namespace
}  // namespace satrelay::ops::log_test
