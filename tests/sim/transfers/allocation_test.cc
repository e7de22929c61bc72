// Once a bulk transfer runs, its data path allocates nothing. Allocations are counted in both
// gateways, around every call of the engine. The test is a program of its own, because it replaces
// operator new.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace {

bool counting = false;
std::uint64_t allocations = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  if (counting) ++allocations;
  void* p = alignment <= alignof(std::max_align_t)
                ? std::malloc(size == 0 ? 1 : size)
                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 1); }
void* operator new[](std::size_t size) { return allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
// Not inlined: GCC would report mismatched operators if it could see through only one of a pair.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace satrelay::sim::allocation_test {
namespace {

class AllocationProbe final : public EngineProbe {
 public:
  void enter(gateway::Gateway& /*engine*/, Instant /*now*/) override { begin(); }
  void begin() { counting = armed; }
  void leave() override { counting = false; }
  bool armed = false;
};

std::uint64_t allocations_in_steady_state(double loss, Content content) {
  LinkSpec link;
  link.loss = loss;
  Scenario scenario = make_lab(1, link, 4);
  for (Station& station : scenario.stations) {
    // Rings of stored blocks grow by doubling, once, to limits that the warm-up reaches. The limits
    // are below a power of two, so that a block in progress at either end does not double the rings
    // again.
    station.limits.host_window = ByteCount(240 << 10);
    station.limits.flow_memory = ByteCount(960 << 10);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    FlowSpec& flow = add_flow(scenario, i % 2 == 0 ? Side::kA : Side::kB, requester(100),
                              responder(100, 200'000'000), content);
    flow.client_host = flow.server_host = i;
  }
  Tracer tracer;
  Network network(scenario, tracer);
  AllocationProbe probe;
  network.gateway(Side::kA).set_probe(&probe);
  network.gateway(Side::kB).set_probe(&probe);
  // The first part has more loss, so that each stream once stores as much as it may.
  const auto set_loss = [&](double value) {
    network.satellite().from_a().set_loss(value);
    network.satellite().from_b().set_loss(value);
  };
  if (loss > 0) set_loss(0.1);
  network.run_for(Duration::seconds(20));
  set_loss(loss);
  network.run_for(Duration::seconds(5));
  const std::uint64_t before = network.flow(0).client.received;
  allocations = 0;
  probe.armed = true;
  network.run_for(Duration::seconds(15));
  probe.armed = false;
  EXPECT_GT(network.flow(0).client.received, before + 5'000'000) << "nothing was carried";
  EXPECT_FALSE(network.flow(0).client.ended) << "not the steady state any more";
  return allocations;
}

TEST(Allocation, BulkTransferAllocatesNothing) {
  EXPECT_EQ(allocations_in_steady_state(0, Content::kRandom), 0U);
}

TEST(Allocation, BulkTransferWithLossAllocatesNothing) {
  EXPECT_EQ(allocations_in_steady_state(0.01, Content::kRandom), 0U);
}

TEST(Allocation, CompressedBulkTransferAllocatesNothing) {
  EXPECT_EQ(allocations_in_steady_state(0.01, Content::kMixed), 0U);
}

TEST(Allocation, TheCounterCounts) {
  AllocationProbe probe;
  allocations = 0;
  probe.armed = true;
  probe.begin();
  int* volatile leaked = new int(1);
  probe.leave();
  delete leaked;
  EXPECT_EQ(allocations, 1U);
}

}  // namespace
}  // namespace satrelay::sim::allocation_test
