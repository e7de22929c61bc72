#include "relay/records/rotating_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "tests/unit/temporary_folder.h"

namespace satrelay::records::rotating_file_test {
namespace {

class RotatingFileTest : public ::testing::Test {
 protected:
  static std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string path() const { return folder_.file("flows"); }
  TemporaryFolder folder_;
};

TEST_F(RotatingFileTest, IsMadeWhenThereIsSomethingToWrite) {
  RotatingFile file(path(), {.size = ByteCount(1000), .keep = 2});
  EXPECT_FALSE(std::filesystem::exists(path()));
  file.write("one\n");
  file.write("two\n");
  EXPECT_EQ(text_of(path()), "one\ntwo\n");
  const auto mode = std::filesystem::status(path()).permissions();
  EXPECT_EQ(mode & std::filesystem::perms::others_all, std::filesystem::perms::none);
}

TEST_F(RotatingFileTest, MayBeEmptiedBySomebodyElse) {
  RotatingFile file(path(), {.size = ByteCount(1000), .keep = 2});
  file.write(std::string(900, 'a') + "\n");
  std::filesystem::resize_file(path(), 0);
  file.write(std::string(900, 'b') + "\n");
  EXPECT_EQ(text_of(path()), std::string(900, 'b') + "\n");
  EXPECT_EQ(file.rotations(), 0U) << "its size is that of the file";
}

TEST_F(RotatingFileTest, HasOneWriter) {
  RotatingFile file(path(), {.size = ByteCount(1000), .keep = 2});
  file.write("one\n");
  RotatingFile second(path(), {.size = ByteCount(1000), .keep = 2});
  EXPECT_THROW(second.write("two\n"), std::system_error);
  EXPECT_EQ(text_of(path()), "one\n");
}

TEST_F(RotatingFileTest, APieceOfALineStandsByItself) {
  std::ofstream(path()) << "one\ntw";
  RotatingFile(path(), {.size = ByteCount(1000), .keep = 2}).write("three\n");
  EXPECT_EQ(text_of(path()), "one\ntw\nthree\n");
}

TEST_F(RotatingFileTest, RemovesWhatIsNotToBeKeptAnyMore) {
  for (const char* end : {".1", ".2", ".3", ".4"}) std::ofstream(path() + end) << end;
  std::ofstream(path()) << "full\n";
  RotatingFile(path(), {.size = ByteCount(6), .keep = 2}).write("next\n");
  EXPECT_EQ(text_of(path() + ".1"), "full\n");
  EXPECT_EQ(text_of(path() + ".2"), ".1");
  EXPECT_FALSE(std::filesystem::exists(path() + ".3"));
  EXPECT_FALSE(std::filesystem::exists(path() + ".4"));
}

TEST_F(RotatingFileTest, GoesOnWhereAnEarlierRunHasEnded) {
  RotatingFile(path(), {.size = ByteCount(10), .keep = 2}).write("12345678\n");
  RotatingFile next(path(), {.size = ByteCount(10), .keep = 2});
  next.write("9\n");
  EXPECT_EQ(next.rotations(), 1U) << "eleven bytes are more than ten";
  EXPECT_EQ(text_of(path() + ".1"), "12345678\n");
}

TEST_F(RotatingFileTest, KeepsSoManyAndNoMore) {
  RotatingFile file(path(), {.size = ByteCount(4), .keep = 2});
  for (const char* line : {"one\n", "two\n", "3__\n", "4__\n"}) file.write(line);
  EXPECT_EQ(text_of(path()), "4__\n");
  EXPECT_EQ(text_of(path() + ".1"), "3__\n");
  EXPECT_EQ(text_of(path() + ".2"), "two\n");
  EXPECT_FALSE(std::filesystem::exists(path() + ".3"));
  EXPECT_EQ(file.rotations(), 3U);
}

TEST_F(RotatingFileTest, MayKeepNone) {
  RotatingFile file(path(), {.size = ByteCount(4), .keep = 0});
  file.write("one\n");
  file.write("two\n");
  EXPECT_EQ(text_of(path()), "two\n");
  EXPECT_FALSE(std::filesystem::exists(path() + ".1"));
}

TEST_F(RotatingFileTest, LinesThatAreLargerThanAFileAreInOneAllTheSame) {
  RotatingFile file(path(), {.size = ByteCount(4), .keep = 1});
  file.write("longer than four\n");
  EXPECT_EQ(text_of(path()), "longer than four\n");
}

TEST_F(RotatingFileTest, WhatSomebodyHasTakenAwayIsMadeAnew) {
  RotatingFile file(path(), {.size = ByteCount(1000), .keep = 1});
  file.write("one\n");
  std::filesystem::rename(path(), folder_.file("elsewhere"));
  file.write("two\n");
  EXPECT_EQ(text_of(folder_.file("elsewhere")), "one\n");
  EXPECT_EQ(text_of(path()), "two\n");
}

TEST_F(RotatingFileTest, AFolderThatIsNotThereIsAnErrorUntilItIs) {
  RotatingFile file(folder_.file("logs/flows"), {.size = ByteCount(1000), .keep = 1});
  EXPECT_THROW(file.write("one\n"), std::system_error);
  std::filesystem::create_directory(folder_.file("logs"));
  file.write("two\n");
  EXPECT_EQ(text_of(folder_.file("logs/flows")), "two\n");
}

TEST_F(RotatingFileTest, APipeIsNoFile) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  RotatingFile file(path(), {.size = ByteCount(1000), .keep = 1});
  EXPECT_THROW(file.write("one\n"), std::system_error) << "and it does not wait for a reader";
}

// The kernel writes the bytes that fit below the limit. A disk that fills up in the middle of a
// line does the same.
TEST_F(RotatingFileTest, OfLinesThatDoNotFitOnTheDiskNothingIsLeft) {
  RotatingFile file(path(), {.size = ByteCount(1000), .keep = 1});
  file.write("one\n");
  auto* const handled = std::signal(SIGXFSZ, SIG_IGN);
  ::rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ::rlimit small = before;
  small.rlim_cur = 8;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(file.write("two\nthree\n"), std::system_error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handled);
  EXPECT_EQ(text_of(path()), "one\n");
  file.write("four\n");
  EXPECT_EQ(text_of(path()), "one\nfour\n");
}

}  // namespace
}  // namespace satrelay::records::rotating_file_test
