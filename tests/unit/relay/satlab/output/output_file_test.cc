#include "relay/satlab/output/output_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace satrelay::satlab::output_file_test {
namespace {

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() : folder_(testing::TempDir() + "satlab-output-" + std::to_string(getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~OutputFileTest() override { std::filesystem::remove_all(folder_); }
  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }
  std::filesystem::path folder_;
};

TEST_F(OutputFileTest, ReplacesAFileAtOnceAndLeavesNothingElse) {
  const auto file = folder_ / "out.json";
  std::ofstream(file) << "old";
  OutputFile output(file);
  output.write("new");
  EXPECT_EQ(text_of(file), "old");
  output.commit();
  EXPECT_EQ(text_of(file), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, WithoutCommitTheOldFileStays) {
  const auto file = folder_ / "out.json";
  std::ofstream(file) << "old";
  { OutputFile(file).write("new"); }
  EXPECT_EQ(text_of(file), "old");
  EXPECT_EQ(files(), 1);
}

std::string error_of(const std::filesystem::path& file) {
  try {
    const OutputFile output(file);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(OutputFileTest, APathThatCannotBeWrittenIsToldAtOnce) {
  const auto missing = folder_ / "missing" / "out.json";
  EXPECT_EQ(error_of(missing), missing.string() + ": cannot be written: No such file or directory");
  EXPECT_EQ(error_of(folder_), folder_.string() + ": cannot be written: it is a directory");
}

}  // namespace
}  // namespace satrelay::satlab::output_file_test
