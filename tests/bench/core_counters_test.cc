// Uses events that any machine counts, as many machines lack the processor's own.
#include "tests/bench/core_counters.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include <new>

namespace satrelay::bench::core_counters_test {
namespace {

constexpr CoreCounters::Event kFaults{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};
constexpr CoreCounters::Event kMinorFaults{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN};
constexpr std::size_t kPage = 4096;

class CoreCountersTest : public ::testing::Test {
 protected:
  CoreCountersTest() {
    void* const memory =
        mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<volatile char*>(memory);
    madvise(memory, kPages * kPage, MADV_NOHUGEPAGE);
    touch(kPages);  // So that a sanitizer's shadow pages exist, too.
  }
  CoreCountersTest(const CoreCountersTest&) = delete;
  CoreCountersTest& operator=(const CoreCountersTest&) = delete;
  ~CoreCountersTest() override { munmap(memory(), kPages * kPage); }
  void SetUp() override {
    if (!counters_.counts()) GTEST_SKIP() << counters_.why_not();
  }
  // Causes as many page faults.
  void touch(std::size_t pages) {
    madvise(memory(), kPages * kPage, MADV_DONTNEED);
    for (std::size_t i = 0; i < pages; ++i) memory_[i * kPage] = 1;
  }

  const CoreCounters::Event events_[2] = {kFaults, kMinorFaults};
  CoreCounters counters_{events_};

 private:
  static constexpr std::size_t kPages = 100;
  void* memory() { return const_cast<char*>(memory_); }
  volatile char* memory_ = nullptr;
};

TEST_F(CoreCountersTest, CountWhatIsKeptBetweenBeginAndEnd) {
  counters_.begin();
  counters_.end(true);
  counters_.reset();
  touch(100);
  counters_.begin();
  touch(10);
  counters_.end(true);
  touch(100);
  counters_.begin();
  touch(100);
  counters_.end(false);
  counters_.begin();
  touch(5);
  counters_.end(true);
  EXPECT_EQ(counters_.totals()[0], 15U);
  EXPECT_EQ(counters_.totals()[1], 15U);
  counters_.reset();
  EXPECT_EQ(counters_.totals()[0], 0U);
}

TEST(CoreCounters, SayWhyNothingIsCounted) {
  const CoreCounters::Event events[] = {{~0U, 0}};
  CoreCounters none(events);
  EXPECT_FALSE(none.counts());
  EXPECT_FALSE(none.why_not().empty());
  none.begin();
  none.end(true);
  EXPECT_EQ(none.totals()[0], 0U);
}

}  // namespace
}  // namespace satrelay::bench::core_counters_test
