// Once it is warm, the data path allocates nothing. This program counts every operator new.
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/unit/pep/tcp/bulk_transfer.h"
#include "tests/unit/pep/tcp/script.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* counted(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

// If this were inlined, GCC would see memory of operator new passed to free().
[[gnu::noinline]] void free_counted(void* memory) noexcept { std::free(memory); }

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { free_counted(memory); }
void operator delete[](void* memory) noexcept { free_counted(memory); }
void operator delete(void* memory, std::size_t) noexcept { free_counted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { free_counted(memory); }

namespace satrelay::tcp::test::allocation_test {
namespace {

Scenario bulk_scenario(double loss, std::uint64_t window) {
  Scenario scenario;
  scenario.offer.mss = 1460;
  scenario.offer.window_scale = 14;
  scenario.offer.sack_permitted = true;
  scenario.offer.timestamps = wire::TcpTimestamps{};
  for (int host = 0; host < 2; ++host) {
    scenario.config[host].window_scale = 11;
    scenario.config[host].send_limit = window;
    scenario.config[host].receive_limit = window;
    scenario.faults[host] = {0, 0, Duration::microseconds(500), Duration::zero()};
    scenario.block_size[host] = 4096;
    scenario.blocks[host] = window / 4096 + 64;
  }
  scenario.faults[0].loss = loss;
  return scenario;
}

TEST(Allocation, NoneInOrder) {
  BulkTransfer bulk(bulk_scenario(0, 1U << 20), 1);
  ASSERT_EQ(bulk.run(32U << 20), "");
  const std::uint64_t before = allocations;
  ASSERT_EQ(bulk.run(32U << 20), "");
  EXPECT_EQ(allocations - before, 0u);
}

TEST(Allocation, NoneWhileLossIsRepairedOnceWarm) {
  BulkTransfer bulk(bulk_scenario(0.01, 1U << 20), 1);
  ASSERT_EQ(bulk.run(256U << 20), "");
  const std::uint64_t retransmissions = bulk.retransmissions();
  const std::uint64_t before = allocations;
  ASSERT_EQ(bulk.run(32U << 20), "");
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_GT(bulk.retransmissions(), retransmissions + 100);
}

TEST(Allocation, TheCountWorks) {
  const std::uint64_t before = allocations;
  delete new int(1);
  EXPECT_GE(allocations - before, 1u);
}

}  // namespace
}  // namespace satrelay::tcp::test::allocation_test
