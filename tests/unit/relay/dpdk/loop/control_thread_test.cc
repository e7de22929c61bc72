#include "relay/dpdk/loop/control_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "tests/unit/relay/dpdk/device/packet_fixture.h"

namespace satrelay::dpdk::control_thread_test {
namespace {

class ControlThreadTest : public PacketTest {};

// The thread also sees what happened while its work was running.
TEST_F(ControlThreadTest, LooksOnceMoreThoughItIsToldToEndInTheMidstOfItsWork) {
  eal();
  std::atomic<int> runs = 0;
  std::atomic<bool> may_go_on = false;
  std::optional<ControlThread> thread;
  thread.emplace("test", Duration::milliseconds(1), [&] {
    ++runs;
    while (!may_go_on) std::this_thread::yield();
  });
  while (runs == 0) std::this_thread::yield();
  std::thread ending([&] { thread.reset(); });
  // Time for the thread to be told to end. If it is too short, the test checks less, but still
  // passes.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  may_go_on = true;
  ending.join();
  EXPECT_GE(runs, 2);
}

}  // namespace
}  // namespace satrelay::dpdk::control_thread_test
