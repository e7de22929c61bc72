// The journal's file and its copy: the records that the next run finds after a crash, a loss of
// power or a change of limits.flows. It finds none in unknown files.
#include "relay/satrelayd/reporting/journal_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

namespace satrelay::satrelayd::journal_file_test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kNow = 1'700'000'000 * kSecond;
constexpr std::size_t kRecord = 64;

class JournalFileTest : public testing::Test {
 protected:
  JournalFileTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~JournalFileTest() override { std::filesystem::remove_all(folder_); }
  std::unique_ptr<JournalFile> open(std::uint64_t now, std::uint32_t flows = 100) {
    return std::make_unique<JournalFile>(JournalFile::Where{folder_ / "flows", copy_},
                                         JournalFile::Limits{flows, Duration::seconds(7200)}, now);
  }
  static void fill(JournalFile& journal, std::size_t place, int octet) {
    std::ranges::fill(journal.records().subspan(place * kRecord, kRecord),
                      static_cast<std::byte>(octet));
  }
  static int at(JournalFile& journal, std::size_t place) {
    return static_cast<int>(journal.records()[place * kRecord + 63]);
  }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("journal_file_test." + std::to_string(::getpid()));
  std::filesystem::path copy_;
};

TEST_F(JournalFileTest, WhatWasWrittenIsThereAfterACrash) {
  auto journal = open(kNow);
  EXPECT_EQ(journal->records().size(), 100 * kRecord);
  EXPECT_EQ(journal->found(), "no journal of an earlier run");
  fill(*journal, 0, 1);
  fill(*journal, 99, 2);
  journal.reset();  // the end of a run writes nothing
  journal = open(kNow + 5 * kSecond);
  EXPECT_EQ(journal->found(), "2 flows in the journal, last written 5 s ago");
  EXPECT_EQ(at(*journal, 0), 1);
  EXPECT_EQ(at(*journal, 1), 2) << "moved together";
  EXPECT_EQ(at(*journal, 99), 0);
  const auto permissions = std::filesystem::status(folder_ / "flows").permissions();
  EXPECT_EQ(permissions, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(JournalFileTest, LimitsFlowsMayChange) {
  auto journal = open(kNow);
  for (std::size_t i = 0; i < 10; ++i) fill(*journal, i * 10, static_cast<int>(i) + 1);
  journal = open(kNow, 7);
  EXPECT_EQ(journal->records().size(), 7 * kRecord);
  EXPECT_EQ(at(*journal, 6), 7);
  journal = open(kNow, 1'000);
  EXPECT_EQ(at(*journal, 6), 7);
  EXPECT_EQ(at(*journal, 7), 0);
}

TEST_F(JournalFileTest, WhatIsTooOldIsLeft) {
  auto journal = open(kNow);
  fill(*journal, 0, 1);
  journal->look_after(kNow + 10 * kSecond);
  journal = open(kNow + 7'211 * kSecond);
  EXPECT_EQ(journal->found(), "the journal was last written 7201 s ago: too old to be of use");
  EXPECT_EQ(at(*journal, 0), 0);
  // A clock that was set back does not make the journal too old.
  fill(*journal, 0, 1);
  journal = open(kNow - 100'000 * kSecond);
  EXPECT_EQ(at(*journal, 0), 1);
}

TEST_F(JournalFileTest, TheCopyOutlivesTheFileInMemory) {
  copy_ = folder_ / "copy";
  auto journal = open(kNow);
  fill(*journal, 0, 1);
  journal->look_after(kNow + kSecond);
  fill(*journal, 99, 2);
  journal->look_after(kNow + 2 * kSecond);
  fill(*journal, 98, 3);  // then the power failed
  journal.reset();
  std::filesystem::remove(folder_ / "flows");
  journal = open(kNow + 60 * kSecond);
  EXPECT_EQ(journal->found(), "2 flows in the journal, last written 58 s ago");
  EXPECT_EQ(at(*journal, 0), 1);
  EXPECT_EQ(at(*journal, 1), 2);
  // After a crash the file in memory has more records than the copy.
  fill(*journal, 2, 3);
  journal = open(kNow + 61 * kSecond);
  EXPECT_EQ(at(*journal, 2), 3);
}

TEST_F(JournalFileTest, ACopyWithoutChangesIsSeldomWritten) {
  copy_ = folder_ / "copy";
  auto journal = open(kNow);
  fill(*journal, 0, 1);
  journal->look_after(kNow + kSecond);
  const auto last_look = [&] {
    std::ifstream file(copy_, std::ios::binary);
    file.seekg(24);
    std::uint64_t value = 0;
    file.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  };
  EXPECT_EQ(last_look(), kNow + kSecond);
  for (std::uint64_t s = 2; s <= 60; ++s) journal->look_after(kNow + s * kSecond);
  EXPECT_EQ(last_look(), kNow + kSecond);
  journal->look_after(kNow + 61 * kSecond);
  EXPECT_EQ(last_look(), kNow + 61 * kSecond);
}

TEST_F(JournalFileTest, AFileThatIsNoJournalIsReplaced) {
  for (const std::string& text :
       {std::string(), std::string("satrelay"), std::string(9'000, 'x')}) {
    std::ofstream(folder_ / "flows", std::ios::binary) << text;
    EXPECT_EQ(open(kNow)->found(), "no journal of an earlier run");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "flows")) << "empty";
  }
  // The file claims more records than it has.
  fill(*open(kNow), 99, 1);
  std::filesystem::resize_file(folder_ / "flows", 4096 + 64);
  EXPECT_EQ(open(kNow)->found(), "no journal of an earlier run");
}

TEST_F(JournalFileTest, APlaceThatIsNotThereIsSaid) {
  copy_ = folder_ / "missing" / "copy";
  try {
    open(kNow);
    ADD_FAILURE() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot create " + copy_.string()), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace satrelay::satrelayd::journal_file_test
