// A reader never reads more of a file than it allows, and never blocks, whatever the name leads to.
#include "config/text/text_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "config/link/trace_file.h"
#include "config/readers/document.h"
#include "config/readers/loader.h"
#include "config/text/error.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::config::text_file_test {
namespace {

template <typename Read>
std::string error_of(const Read& read) {
  try {
    read();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

class TextFile : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::ofstream(file_, std::ios::binary) << text;
    return file_;
  }
  TemporaryFolder folder_;
  std::string file_ = folder_.file("text");
};

TEST_F(TextFile, IsReadWhole) {
  EXPECT_EQ(read_text_file(write(""), 10), "");
  EXPECT_EQ(read_text_file(write("to the end"), 10), "to the end");
  const std::string long_text(1'000'000, 'x');
  EXPECT_EQ(read_text_file(write(long_text), 1'000'000), long_text);
  // The file system reports a length of 0 for this file.
  EXPECT_NE(read_text_file("/proc/self/status", 1 << 20).find("Pid:"), std::string::npos);
}

TEST_F(TextFile, IsNoLongerThanItMayBe) {
  const auto error = [](const std::string& file, std::size_t most) {
    return error_of([&] { static_cast<void>(read_text_file(file, most)); });
  };
  EXPECT_EQ(error(write("to the end."), 10), file_ + ": is larger than 10B");
  EXPECT_EQ(error("/proc/self/status", 10), "/proc/self/status: is larger than 10B");
  std::filesystem::resize_file(file_, std::uintmax_t{1} << 40);
  EXPECT_EQ(error(file_, kMostDocumentBytes), file_ + ": is larger than 8MiB");
}

// All readers of files that an operator names.
TEST_F(TextFile, EveryReaderRefusesWhatNeverEnds) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  const auto each = [](const std::string& file, const std::string& message) {
    EXPECT_EQ(error_of([&] { load_gateway(file); }), file + ": " + message);
    EXPECT_EQ(error_of([&] { load_sat_link(file); }), file + ": " + message);
    EXPECT_EQ(error_of([&] { read_loss_trace(file); }), file + ": " + message);
    EXPECT_EQ(error_of([&] { read_delay_trace(file); }), file + ": " + message);
  };
  each(file_, "is not a regular file");
  each("/dev/zero", "is not a regular file");
  each(folder_.path().string(), "cannot be read: it is a directory");
}

TEST_F(TextFile, WhatIsDeeplyNestedIsNoYaml) {
  const std::string error = error_of([&] { load_gateway(write(std::string(1 << 20, '['))); });
  EXPECT_NE(error.find("is not YAML"), std::string::npos) << error.substr(0, 200);
}

}  // namespace
}  // namespace satrelay::config::text_file_test
