// How much memory a machine has, read from the files of /proc and of the control groups.
#include "config/checks/machine_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/temporary_folder.h"

namespace satrelay::config::machine_memory_test {
namespace {

constexpr std::uint64_t kMebibyte = 1 << 20;

class MachineMemoryTest : public ::testing::Test {
 protected:
  MachineMemoryTest() {
    write("proc/meminfo",
          "MemTotal:        8388608 kB\nMemFree:   10 kB\nMemAvailable:    4194304 kB\n"
          "HugePages_Total:     512\nHugePages_Free:      256\nHugePages_Rsvd:       56\n"
          "Hugepagesize:       2048 kB\n");
  }
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void write_bytes(const std::string& name, std::uint64_t mebibytes) {
    write(name, std::to_string(mebibytes * kMebibyte) + "\n");
  }
  MachineMemory read() const { return machine_memory(folder_.path()); }
  static std::uint64_t mebibytes(ByteCount size) { return size.value() / kMebibyte; }

  TemporaryFolder folder_;
};

TEST_F(MachineMemoryTest, IsWhatTheKernelManagesLessHugepages) {
  const MachineMemory memory = read();
  EXPECT_EQ(mebibytes(memory.total), 7168U);
  EXPECT_EQ(memory.total_of, "this machine has");
  EXPECT_EQ(mebibytes(memory.available), 4096U);
  EXPECT_EQ(mebibytes(memory.huge_total), 1024U);
  EXPECT_EQ(mebibytes(memory.huge_available), 400U);
}

TEST_F(MachineMemoryTest, IsWhatTheLeastLimitUpTheHierarchyLeaves) {
  write("proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw shared:1 - tmpfs tmpfs rw\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n");
  write("proc/self/cgroup", "0::/system.slice/satrelayd.service\n");
  const std::string top = "sys/fs/cgroup/unified/";
  write(top + "system.slice/satrelayd.service/memory.max", "max\n");
  write_bytes(top + "system.slice/memory.max", 2048);
  write_bytes(top + "system.slice/memory.current", 1548);
  write(top + "system.slice/memory.stat", "anon 1\ninactive_file 104857600\nactive_file 0\n");
  const MachineMemory memory = read();
  EXPECT_EQ(mebibytes(memory.total), 2048U);
  EXPECT_EQ(memory.total_of, "control group /system.slice allows");
  EXPECT_EQ(mebibytes(memory.available), 600U);
}

TEST_F(MachineMemoryTest, KnowsVersion1AndTheMountsOfContainers) {
  write("proc/self/mountinfo",
        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        "36 31 0:33 / /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  write("proc/self/cgroup", "4:memory:/docker/abc/inner\n1:cpu:/\n0::/\n");
  const std::string top = "sys/fs/cgroup/memory/";
  write_bytes(top + "memory.limit_in_bytes", 1024);
  write_bytes(top + "memory.usage_in_bytes", 24);
  write(top + "inner/memory.limit_in_bytes", "9223372036854771712\n");
  const MachineMemory memory = read();
  EXPECT_EQ(mebibytes(memory.total), 1024U);
  EXPECT_EQ(memory.total_of, "control group / allows");
  EXPECT_EQ(mebibytes(memory.available), 1000U);
}

TEST_F(MachineMemoryTest, AGroupOutsideOfTheMountIsLookedForAtItsTop) {
  write("proc/self/mountinfo", "41 31 0:38 /pod/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("proc/self/cgroup", "0::/pod/2\n");
  write_bytes("sys/fs/cgroup/memory.max", 512);
  EXPECT_EQ(mebibytes(read().total), 512U);
}

TEST_F(MachineMemoryTest, SaysWhatIsTooMuch) {
  const MachineMemory memory = read();
  const auto size = [](std::uint64_t mebibytes) { return ByteCount(mebibytes * kMebibyte); };
  EXPECT_EQ(exceeds_total(size(7168), memory), "");
  EXPECT_EQ(exceeds_total(size(7169), memory), "more than this machine has (7GiB)");
  EXPECT_EQ(exceeds_available(size(4096), memory), "");
  EXPECT_EQ(exceeds_available(size(4097), memory),
            "more than is unused of what this machine has (4GiB of 7GiB)");
}

TEST_F(MachineMemoryTest, HugepagesServeAsWell) {
  write("proc/meminfo",
        "MemTotal: 8388608 kB\nMemAvailable: 1048576 kB\nHugePages_Total: 2048\n"
        "HugePages_Free: 2048\nHugePages_Rsvd: 0\nHugepagesize: 2048 kB\n");
  EXPECT_EQ(exceeds_available(ByteCount(4096 * kMebibyte), read()), "");
  EXPECT_NE(exceeds_available(ByteCount(4097 * kMebibyte), read()), "");
}

TEST_F(MachineMemoryTest, AMachineThatSaysNothingHasEnough) {
  std::filesystem::remove(folder_.path() / "proc/meminfo");
  EXPECT_EQ(exceeds_available(ByteCount(std::uint64_t{1} << 50), read()), "");
}

// Reads the files of the machine that runs the test.
TEST(MachineMemoryOfThisMachine, IsPlausible) {
  const MachineMemory memory = machine_memory();
  EXPECT_GT(memory.total, ByteCount(64 * kMebibyte));
  EXPECT_LE(memory.available, memory.total);
  EXPECT_NE(exceeds_total(ByteCount(std::uint64_t{1} << 50), memory), "");
}

}  // namespace
}  // namespace satrelay::config::machine_memory_test
