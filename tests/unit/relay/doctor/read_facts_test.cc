#include "relay/doctor/read_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "relay/client/stats_client.h"
#include "tests/unit/config/one_key.h"

namespace satrelay::ctl::doctor::read_facts_test {
namespace {

class ReadFactsTest : public testing::Test {
 protected:
  ReadFactsTest() {
    std::string name = testing::TempDir() + "doctor-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ReadFactsTest() override { std::filesystem::remove_all(folder_); }

  // The facts of a file with this further line, without a gateway.
  Facts read(const std::string& line) {
    const std::filesystem::path file = folder_ / "gateway.yaml";
    std::ofstream(file) << config::with_line(line);
    return read_facts(file.string(), [&](const std::string& prefix) -> std::filesystem::path {
      prefix_ = prefix;
      throw StatsError("no gateway runs");
    });
  }

  std::filesystem::path folder_;
  std::string prefix_;
};

TEST_F(ReadFactsTest, OfAFileBeforeTheStart) {
  const Facts facts = read("stats_socket_prefix: satrelay-x");
  EXPECT_EQ(prefix_, "satrelay-x");
  EXPECT_EQ(facts.gateway_trouble, "no gateway runs");
  ASSERT_TRUE(facts.file.config);
  ASSERT_EQ(facts.file.read_files.size(), 1U);
  EXPECT_GT(facts.file.read_files[0].changed_ms, 0U);
  EXPECT_LE(facts.file.read_files[0].changed_ms, facts.now_ms);
  ASSERT_TRUE(facts.machine.lan);
  EXPECT_GT(facts.machine.memory.total, ByteCount(0));
  ASSERT_TRUE(facts.needed);
  EXPECT_GT(facts.needed->arena, ByteCount(0));
  EXPECT_TRUE(facts.core_loads.empty()) << "no worker has a core";
}

TEST_F(ReadFactsTest, KeepsTheMistakeAndFindsTheSocketAllTheSame) {
  const Facts facts = read("stats_socket_prefix: satrelay-x\nno_such_key: 1");
  EXPECT_NE(facts.file.mistake, "");
  EXPECT_FALSE(facts.file.config);
  EXPECT_EQ(prefix_, "satrelay-x");
}

TEST_F(ReadFactsTest, LooksAtTheDisksOfTheFiles) {
  const Facts facts = read("records: {file: " + (folder_ / "flows").string() +
                           "}\njournal: " + (folder_ / "journal").string());
  ASSERT_EQ(facts.disks.size(), 2U);
  EXPECT_EQ(facts.disks[0].key, "records.file");
  EXPECT_EQ(facts.disks[0].needed_bytes, 100'000'000U);
  EXPECT_GT(facts.disks[1].needed_bytes, 0U);
}

TEST_F(ReadFactsTest, MeasuresTheCoresOfTheWorkers) {
  EXPECT_FALSE(read("worker: {cpu: 0}").core_loads.empty());
}

}  // namespace
}  // namespace satrelay::ctl::doctor::read_facts_test
