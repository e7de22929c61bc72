#include "relay/records/record_writer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/relay/records/collector.h"
#include "tests/unit/relay/records/sample_record.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::records {
namespace {

class RecordWriterTest : public ::testing::Test {
 protected:
  void begin() {
    writer_.emplace(
        config_, std::vector<std::string>{"ship", "base"}, std::vector{&first_, &second_},
        [this](const std::string& text) { warnings_.push_back(text); },
        [this](const std::string& text) { notices_.push_back(text); });
  }
  void look() { writer_->look(now_, 0); }
  std::vector<std::uint64_t> ids_in_file() const {
    std::ifstream in(config_.file);
    std::vector<std::uint64_t> ids;
    for (std::string line; std::getline(in, line);) {
      ids.push_back(nlohmann::json::parse(line)["id"].get<std::uint64_t>());
    }
    return ids;
  }
  TemporaryFolder folder_;
  Instant now_ = Instant() + Duration::seconds(1000);
  RecordRing first_{1024}, second_{1024};
  config::Records config_;
  std::optional<RecordWriter> writer_;
  std::vector<std::string> warnings_, notices_;
};

TEST_F(RecordWriterTest, WritesWhatAllWorkersHaveLeft) {
  config_.file = folder_.file("flows");
  begin();
  for (std::uint64_t id = 0; id < 700; ++id) first_.push(sample_record(id));
  second_.push(sample_record(1000));
  EXPECT_EQ(writer_->report().waiting, 701U);
  look();
  const RecordsReport report = writer_->report();
  EXPECT_EQ(report.waiting, 0U);
  EXPECT_EQ(report.counters.written, 701U);
  EXPECT_EQ(report.counters.written_bytes, std::filesystem::file_size(config_.file));
  EXPECT_EQ(report.file_state, "ok");
  EXPECT_EQ(report.ipfix_state, "off");
  const auto ids = ids_in_file();
  ASSERT_EQ(ids.size(), 701U);
  EXPECT_EQ(ids[699], 699U);
  EXPECT_EQ(ids[700], 1000U);
}

TEST_F(RecordWriterTest, WhatCannotBeWrittenIsCountedAndSaidOnce) {
  config_.file = folder_.file("later/flows");
  begin();
  for (int i = 0; i < 3; ++i) {
    first_.push(sample_record(1));
    look();
    now_ += Duration::milliseconds(800);
  }
  EXPECT_EQ(writer_->report().counters.unwritten, 3U);
  EXPECT_EQ(writer_->report().file_state, "failing");
  EXPECT_EQ(writer_->report().waiting, 0U) << "nobody waits for a disk";
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("No such file or directory"), std::string::npos);
  std::filesystem::create_directory(folder_.file("later"));
  now_ += RecordWriter::kFilePause;
  first_.push(sample_record(2));
  look();
  EXPECT_EQ(ids_in_file(), std::vector<std::uint64_t>{2});
  EXPECT_EQ(writer_->report().file_state, "ok");
  EXPECT_EQ(notices_.size(), 1U);
}

TEST_F(RecordWriterTest, AFullDiskLosesRecordsAndNothingElse) {
  config_.file = "/dev/full";  // no regular file, as a disk that has become a device would be
  begin();
  first_.push(sample_record(1));
  look();
  EXPECT_EQ(writer_->report().counters.unwritten, 1U);
}

TEST_F(RecordWriterTest, RotatesAndCountsThat) {
  config_.file = folder_.file("flows");
  config_.rotate_size = ByteCount(1000);
  config_.keep = 1;
  begin();
  for (std::uint64_t id = 0; id < 5; ++id) {
    first_.push(sample_record(id));
    look();
  }
  EXPECT_GE(writer_->report().counters.rotations, 1U);
  EXPECT_TRUE(std::filesystem::exists(config_.file + ".1"));
  EXPECT_LE(std::filesystem::file_size(config_.file), 1000U);
}

TEST_F(RecordWriterTest, ACollectorHearsTemplatesBeforeRecordsAndAgain) {
  Collector collector(config::IpfixTransport::kUdp);
  config_.ipfix = collector.configured();
  begin();
  look();
  first_.push(sample_record(1));
  look();
  const auto set_of = [](const std::string& message) {
    return message.size() < 18 ? 0
                               : static_cast<unsigned char>(message[16]) * 256 +
                                     static_cast<unsigned char>(message[17]);
  };
  EXPECT_EQ(set_of(collector.receive()), 2) << "templates";
  EXPECT_EQ(set_of(collector.receive()), 256) << "the record";
  EXPECT_EQ(writer_->report().ipfix_state, "ok");
  EXPECT_EQ(writer_->report().counters.exported, 1U);
  look();
  EXPECT_EQ(collector.receive(), "");
  now_ += IpfixExporter::kTemplateInterval;
  look();
  EXPECT_EQ(set_of(collector.receive()), 2) << "it may have been started anew";
}

TEST_F(RecordWriterTest, WithoutACollectorRecordsAreCountedAndTheFileGoesOn) {
  {
    const Collector gone(config::IpfixTransport::kTcp);
    config_.ipfix = gone.configured();
  }
  config_.file = folder_.file("flows");
  begin();
  first_.push(sample_record(1));
  for (int i = 0; i < 10 && warnings_.empty(); ++i) {
    look();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(writer_->report().counters.unexported, 1U);
  EXPECT_EQ(writer_->report().counters.written, 1U);
  EXPECT_EQ(writer_->report().ipfix_state, "away");
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("Connection refused"), std::string::npos);
}

}  // namespace
}  // namespace satrelay::records
