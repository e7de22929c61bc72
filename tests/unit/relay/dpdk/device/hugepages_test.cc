#include "relay/dpdk/device/hugepages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace satrelay::dpdk::hugepages_test {
namespace {

class Hugepages : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void have(const std::string& size, const std::string& free, const std::string& promised) {
    const auto path = folder_ / ("hugepages-" + size);
    std::filesystem::create_directory(path);
    std::ofstream(path / "free_hugepages") << free << '\n';
    std::ofstream(path / "resv_hugepages") << promised << '\n';
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("satrelay-hugepages-" + std::to_string(::getpid()));
};

TEST_F(Hugepages, OfAllSizes) {
  have("2048kB", "3", "0");
  have("1048576kB", "1", "0");
  EXPECT_EQ(free_hugepage_bytes(folder_), (std::size_t{6} << 20) + (std::size_t{1} << 30));
}

TEST_F(Hugepages, ThatArePromisedAreNotFree) {
  have("2048kB", "256", "250");
  EXPECT_EQ(free_hugepage_bytes(folder_), std::size_t{12} << 20);
  have("2048kB", "256", "256");
  EXPECT_EQ(free_hugepage_bytes(folder_), 0U);
}

TEST_F(Hugepages, NoneWhereTheKernelOffersNone) {
  EXPECT_EQ(free_hugepage_bytes(folder_ / "nothing"), 0U);
}

}  // namespace
}  // namespace satrelay::dpdk::hugepages_test
