#include "relay/records/record_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
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

namespace satrelay::records::record_writer_test {
namespace {

class RecordWriterTest : public ::testing::Test {
 protected:
  void begin() { writer_.emplace(config_, peers_, std::vector{&first_, &second_}); }
  void look() { writer_->look(now_, 0); }
  std::vector<std::uint64_t> ids_in_file() const {
    std::ifstream in(config_.file);
    std::vector<std::uint64_t> ids;
    for (std::string line; std::getline(in, line);) {
      ids.push_back(std::stoull(nlohmann::json::parse(line)["id"].get<std::string>()));
    }
    return ids;
  }
  TemporaryFolder folder_;
  Instant now_ = Instant() + Duration::seconds(1000);
  RecordRing first_{1024}, second_{1024};
  config::Records config_;
  std::vector<std::string> peers_{"ship", "base"};
  std::optional<RecordWriter> writer_;
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
  EXPECT_EQ(report.file_trouble, "");
  EXPECT_EQ(report.ipfix_state, "off");
  const auto ids = ids_in_file();
  ASSERT_EQ(ids.size(), 701U);
  EXPECT_EQ(ids[699], 699U);
  EXPECT_EQ(ids[700], 1000U);
}

TEST_F(RecordWriterTest, WhatCannotBeWrittenIsCountedAndItsReasonIsKept) {
  config_.file = folder_.file("later/flows");
  begin();
  for (int i = 0; i < 3; ++i) {
    first_.push(sample_record(1));
    look();
    now_ += Duration::milliseconds(800);
  }
  EXPECT_EQ(writer_->report().counters.unwritten, 2U);
  EXPECT_EQ(writer_->report().file_state, "failing");
  EXPECT_EQ(writer_->report().waiting, 1U) << "what was to be written first is tried again";
  EXPECT_EQ(first_.size(), 0U) << "nobody waits for a disk";
  const std::string why = writer_->report().file_trouble;
  EXPECT_EQ(why, config_.file + ": No such file or directory");
  std::filesystem::create_directory(folder_.file("later"));
  now_ += RecordWriter::kLongestPause;
  first_.push(sample_record(2));
  look();
  EXPECT_EQ(ids_in_file(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(writer_->report().waiting, 0U);
  EXPECT_EQ(writer_->report().file_state, "ok");
  EXPECT_EQ(writer_->report().file_trouble, why) << "it may fail again";
  now_ += RecordWriter::kSteadyAfter;
  look();
  EXPECT_EQ(writer_->report().file_trouble, "");
}

TEST_F(RecordWriterTest, AFileThatFailsNowAndThenIsInTroubleAllTheTime) {
  config_.file = folder_.file("later/flows");
  begin();
  first_.push(sample_record(1));
  look();
  for (int i = 0; i < 4; ++i) {
    now_ += RecordWriter::kSteadyAfter - Duration::seconds(2);
    std::filesystem::create_directory(folder_.file("later"));
    first_.push(sample_record(1));
    look();
    EXPECT_EQ(writer_->report().file_state, "ok");
    EXPECT_NE(writer_->report().file_trouble, "");
    std::filesystem::remove_all(folder_.file("later"));
    first_.push(sample_record(1));
    look();
    EXPECT_EQ(writer_->report().file_state, "failing");
    EXPECT_NE(writer_->report().file_trouble, "");
  }
}

TEST_F(RecordWriterTest, AFileThatFailsIsTriedAgainWithoutARecordThatEnds) {
  config_.file = folder_.file("later/flows");
  begin();
  first_.push(sample_record(1));
  look();
  first_.push(sample_record(2));
  look();
  std::filesystem::create_directory(folder_.file("later"));
  now_ += RecordWriter::kFirstPause - Duration::milliseconds(1);
  look();
  EXPECT_EQ(writer_->report().file_state, "failing");
  now_ += Duration::milliseconds(1);
  look();
  EXPECT_EQ(writer_->report().file_state, "ok");
  EXPECT_EQ(ids_in_file(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(writer_->report().counters.written, 1U);
  EXPECT_EQ(writer_->report().counters.unwritten, 1U);
  now_ += RecordWriter::kSteadyAfter - Duration::milliseconds(1);
  look();
  EXPECT_NE(writer_->report().file_trouble, "") << "it may fail again";
  now_ += Duration::milliseconds(1);
  look();
  EXPECT_EQ(writer_->report().file_trouble, "");
}

// As above, with a folder that was missing at the start, before any flow has ended.
TEST_F(RecordWriterTest, AFileThatCouldNotBeOpenedIsOpenedOnceItCanBe) {
  config_.file = folder_.file("later/flows");
  begin();
  writer_->open_file(now_);
  EXPECT_EQ(writer_->report().file_state, "failing");
  std::filesystem::create_directory(folder_.file("later"));
  now_ += RecordWriter::kFirstPause;
  look();
  EXPECT_EQ(writer_->report().file_state, "ok");
}

// A file that opens may still be on a full disk. Only a successful write shows that it works.
TEST_F(RecordWriterTest, AFullDiskIsTriedAgainWithWhatItCouldNotTake) {
  config_.file = folder_.file("flows");
  begin();
  first_.push(sample_record(1));
  look();
  ::rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  ::rlimit full = before;
  full.rlim_cur = std::filesystem::file_size(config_.file) + 10;
  auto* const handled = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  first_.push(sample_record(2));
  look();
  now_ += RecordWriter::kFirstPause;
  look();
  const RecordsReport tried = writer_->report();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handled);
  EXPECT_EQ(tried.file_state, "failing");
  EXPECT_EQ(tried.waiting, 1U);
  now_ += RecordWriter::kLongestPause;
  look();
  EXPECT_EQ(writer_->report().file_state, "ok");
  EXPECT_EQ(ids_in_file(), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(writer_->report().counters.written_bytes, std::filesystem::file_size(config_.file));
}

TEST_F(RecordWriterTest, TriesOfAFileThatFailsBecomeFewUntilItHasBeenWell) {
  config_.file = folder_.file("later/flows");
  begin();
  first_.push(sample_record(1));
  look();
  // Each attempt fails for another reason than the one before: no such folder, or not a folder.
  const auto seconds_until_tried = [&] {
    if (!std::filesystem::remove(folder_.file("later"))) std::ofstream(folder_.file("later"));
    const Instant since = now_;
    for (const std::string why = writer_->report().file_trouble;
         writer_->report().file_trouble == why && now_ < since + Duration::seconds(100); look()) {
      now_ += Duration::milliseconds(100);
    }
    return (now_ - since).to_seconds();
  };
  for (const double seconds : {1, 2, 4, 8, 8}) EXPECT_DOUBLE_EQ(seconds_until_tried(), seconds);
  const auto be_well_for = [&](Duration time) {
    std::filesystem::remove(folder_.file("later"));
    std::filesystem::create_directory(folder_.file("later"));
    now_ += RecordWriter::kLongestPause;
    look();
    EXPECT_EQ(writer_->report().file_state, "ok");
    now_ += time;
    look();
    std::filesystem::remove_all(folder_.file("later"));
    first_.push(sample_record(2));
    look();
    EXPECT_EQ(writer_->report().file_state, "failing");
  };
  be_well_for(RecordWriter::kSteadyAfter - Duration::milliseconds(1));
  EXPECT_DOUBLE_EQ(seconds_until_tried(), 8);
  be_well_for(RecordWriter::kSteadyAfter);
  EXPECT_DOUBLE_EQ(seconds_until_tried(), 1);
}

TEST_F(RecordWriterTest, WhatWaitsForAFileThatFailsIsTriedOnceMoreAtTheEnd) {
  config_.file = folder_.file("later/flows");
  begin();
  first_.push(sample_record(1));
  look();
  EXPECT_TRUE(writer_->is_idle()) << "the end does not wait for a disk";
  writer_->write_rest(now_);
  EXPECT_EQ(writer_->report().waiting, 1U);
  std::filesystem::create_directory(folder_.file("later"));
  writer_->write_rest(now_);
  EXPECT_EQ(ids_in_file(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(writer_->report().waiting, 0U);
}

TEST_F(RecordWriterTest, AFullDiskLosesRecordsAndNothingElse) {
  config_.file = "/dev/full";  // not a regular file, so it cannot be opened
  begin();
  first_.push(sample_record(1));
  look();
  first_.push(sample_record(2));
  look();
  EXPECT_EQ(writer_->report().waiting, 1U);
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
  for (int i = 0; i < 10 && writer_->report().collector_trouble.empty(); ++i) {
    look();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(writer_->report().counters.unexported, 1U);
  EXPECT_EQ(writer_->report().counters.written, 1U);
  EXPECT_EQ(writer_->report().ipfix_state, "away");
  EXPECT_EQ(writer_->report().collector_trouble, "connect: Connection refused");
}

TEST_F(RecordWriterTest, ACollectorIsInTroubleUntilTheWayHasBeenOpenForAWhile) {
  std::uint16_t port = 0;
  {
    const Collector gone(config::IpfixTransport::kTcp);
    config_.ipfix = gone.configured();
    port = gone.port();
  }
  begin();
  const auto look_until = [&](const std::string& state) {
    do {
      look();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    } while (writer_->report().ipfix_state == "connecting");
    return writer_->report().ipfix_state == state;
  };
  ASSERT_TRUE(look_until("away"));
  const Collector back(config::IpfixTransport::kTcp, port);
  now_ += CollectorSocket::kLongestWait;
  ASSERT_TRUE(look_until("ok"));
  EXPECT_EQ(writer_->report().collector_trouble, "connect: Connection refused");
  now_ += RecordWriter::kSteadyAfter - Duration::milliseconds(1);
  look();
  EXPECT_NE(writer_->report().collector_trouble, "");
  now_ += Duration::milliseconds(1);
  look();
  EXPECT_EQ(writer_->report().collector_trouble, "");
}

// libfixbuf accepts texts up to 65,535 octets only.
TEST_F(RecordWriterTest, WhatTheLibraryRefusesIsTroubleOfTheCollectorAndTheFileGoesOn) {
  const Collector collector(config::IpfixTransport::kUdp);
  config_.ipfix = collector.configured();
  config_.file = folder_.file("flows");
  peers_[1] = std::string(100'000, 'x');
  begin();
  look();
  now_ += RecordWriter::kSteadyAfter;
  first_.push(sample_record(1));
  look();
  const RecordsReport report = writer_->report();
  EXPECT_EQ(report.waiting, 0U);
  EXPECT_EQ(report.counters.written, 1U);
  EXPECT_EQ(report.file_trouble, "");
  EXPECT_EQ(report.counters.unexported, 1U);
  EXPECT_EQ(report.ipfix_state, "ok");
  EXPECT_NE(report.collector_trouble.find("libfixbuf"), std::string::npos);
  now_ += RecordWriter::kSteadyAfter;
  look();
  EXPECT_EQ(writer_->report().collector_trouble, "");
}

}  // namespace
}  // namespace satrelay::records::record_writer_test
