// A port and its device: first a device of the test, then shared memory (memif) with another
// program at its other end.
#include "relay/dpdk/device/port.h"

#include <gtest/gtest.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "relay/dpdk/device/burst.h"
#include "relay/dpdk/loop/clock.h"
#include "tests/unit/relay/dpdk/device/packet_fixture.h"

namespace satrelay::dpdk::port_test {
namespace {

// A device that does what the test says.
class FakeDevice final : public Device {
 public:
  struct Script {
    InterfaceView view;
    std::string refusal;  // why it does not bind to a successor; empty: it does
    std::size_t sent = 0;
    int bound = 0;
    int came_up = 0;
  };
  FakeDevice(Script& script, bool keeps_frames) : script_(script) {
    facts_.keeps_frames = keeps_frames;
  }
  unsigned queues() const override { return 2; }
  MacAddress mac() const override { return {}; }
  std::optional<int> wait_descriptor(unsigned) const override { return std::nullopt; }
  std::size_t receive(Burst&, unsigned) override { return 0; }
  std::size_t send(Burst& burst, unsigned) override {
    script_.sent += burst.size();
    return burst.clear();
  }
  PortStats queue_stats(unsigned queue) const override {
    PortStats stats;
    stats.tx_frames = 10 + queue;
    return stats;
  }
  PortStats device_stats() const override {
    PortStats stats;
    stats.rx_frames = 100;
    return stats;
  }
  std::uint64_t missed(unsigned) const override { return 0; }
  InterfaceView view() const override { return script_.view; }
  void bind_to_successor() override {
    if (!script_.refusal.empty()) throw std::runtime_error(script_.refusal);
    ++script_.bound;
    script_.view = {};
  }
  void on_up() override { ++script_.came_up; }

 private:
  Script& script_;
};

class PortTest : public PacketTest {
 protected:
  Port port_on(bool keeps_frames) {
    return {"lan", config_, std::make_unique<FakeDevice>(script_, keeps_frames)};
  }
  std::size_t send(Port& port, unsigned queue = 0) {
    Burst burst;
    for (int i = 0; i < 3; ++i) burst.push(packet_of(64, 0));
    return port.send(burst, queue);
  }
  static constexpr Instant at(std::int64_t s) { return Instant() + Duration::seconds(s); }

  config::Port config_;
  FakeDevice::Script script_;
};

TEST_F(PortTest, WithoutALinkADeviceThatKeepsFramesGetsNone) {
  Port port = port_on(true);
  EXPECT_TRUE(port.link().up);
  EXPECT_EQ(send(port), 3U);
  EXPECT_EQ(script_.sent, 3U);
  script_.view.is_running = false;
  port.look(at(1));
  EXPECT_FALSE(port.link().up);
  EXPECT_EQ(send(port, 1), 3U) << "taken, and dropped";
  EXPECT_EQ(script_.sent, 3U);
  EXPECT_EQ(port.queue_stats(0).tx_down, 0U);
  EXPECT_EQ(port.queue_stats(1).tx_down, 3U);
  script_.view.is_running = true;
  port.look(at(2));
  EXPECT_EQ(script_.came_up, 1);
  EXPECT_EQ(send(port), 3U);
  EXPECT_EQ(script_.sent, 6U);
}

TEST_F(PortTest, WithoutALinkAnotherDeviceDecidesItself) {
  Port port = port_on(false);
  script_.view.is_running = false;
  port.look(at(1));
  EXPECT_EQ(send(port), 3U);
  EXPECT_EQ(script_.sent, 3U);
}

TEST_F(PortTest, AnInterfaceThatIsBackIsUsedAgain) {
  Port port = port_on(false);
  port.look(at(1));
  script_.view = {
      .is_there = false, .name = "", .is_enabled = false, .is_running = false, .objections = {}};
  port.look(at(2));
  EXPECT_TRUE(port.link().gone);
  send(port);
  EXPECT_EQ(script_.sent, 0U);
  EXPECT_EQ(port.stats().tx_down, 3U);
  script_.view.has_successor = true;
  port.look(at(3));
  EXPECT_EQ(script_.bound, 1);
  EXPECT_TRUE(port.link().up);
  EXPECT_FALSE(port.link().gone);
  EXPECT_FALSE(port.needs_new_start());
}

TEST_F(PortTest, SumsTheCountersOfTheDeviceAndOfItsQueues) {
  const Port port = port_on(false);
  EXPECT_EQ(port.stats().rx_frames, 100U);
  EXPECT_EQ(port.stats().tx_frames, 21U);
  EXPECT_EQ(port.queue_stats(1).tx_frames, 11U);
}

class MemifPortTest : public PacketTest {
 public:
  ~MemifPortTest() override { std::filesystem::remove_all(folder_); }

 protected:
  MemifPortTest() {
    eal();
    std::string folder = std::filesystem::temp_directory_path() / "satrelay-memif-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
    folder_ = folder;
  }
  std::string socket() const { return folder_ / "memif.sock"; }

  std::filesystem::path folder_;
};

// Whether a port of DPDK is connected to the other end of its socket.
bool is_linked(const char* name) {
  std::uint16_t id = 0;
  EXPECT_EQ(rte_eth_dev_get_port_by_name(name, &id), 0);
  rte_eth_link link{};
  rte_eth_link_get_nowait(id, &link);
  return link.link_status == RTE_ETH_LINK_UP;
}

// The other end. It has chosen buffers of 512 bytes for both ends.
class Peer {
 public:
  Peer(const std::string& socket, PacketPool& pool) {
    const std::string arguments =
        "role=client,socket-abstract=no,rsize=4,bsize=512,socket=" + socket;
    EXPECT_EQ(rte_eal_hotplug_add("vdev", kName, arguments.c_str()), 0);
    EXPECT_EQ(rte_eth_dev_get_port_by_name(kName, &id_), 0);
    const rte_eth_conf conf{};
    EXPECT_EQ(rte_eth_dev_configure(id_, 1, 1, &conf), 0);
    EXPECT_EQ(rte_eth_rx_queue_setup(id_, 0, 0, SOCKET_ID_ANY, nullptr, pool.raw()), 0);
    EXPECT_EQ(rte_eth_tx_queue_setup(id_, 0, 0, SOCKET_ID_ANY, nullptr), 0);
    EXPECT_EQ(rte_eth_dev_start(id_), 0);
  }
  ~Peer() {
    rte_eth_dev_stop(id_);
    rte_eth_dev_close(id_);
  }
  bool is_up() const { return is_linked(kName); }
  bool send(Packet packet) {
    rte_mbuf* mbuf = packet.release();
    if (rte_eth_tx_burst(id_, 0, &mbuf, 1) == 1) return true;
    rte_pktmbuf_free(mbuf);
    return false;
  }

 private:
  static constexpr const char* kName = "net_memif_peer";
  std::uint16_t id_ = 0;
};

// The other end has buffers of another size and another MTU.
TEST_F(MemifPortTest, TakesWholeFramesOnly) {
  config::Port config;
  config.driver = config::Driver::kMemif;
  config.socket = socket();
  config.memif_server = true;
  Port port("own", config, pool());
  std::optional<Peer> peer(std::in_place, socket(), pool());
  const Instant give_up = now() + Duration::seconds(10);
  while (!peer->is_up() && now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(peer->is_up());

  Packet frame = packet_of(1514, 0);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    frame.mutable_bytes()[i] = static_cast<std::byte>(i % 251);
  }
  rte_mbuf* const too_long = packet_of(1500, 1).release();
  ASSERT_EQ(rte_pktmbuf_chain(too_long, packet_of(1500, 2).release()), 0);
  ASSERT_TRUE(peer->send(Packet(too_long)));
  ASSERT_TRUE(peer->send(pool().copy(frame)));
  Burst burst;
  while (burst.empty() && now() < give_up) port.receive(burst);
  ASSERT_EQ(burst.size(), 1U);
  const Packet received = burst.pop();
  EXPECT_FALSE(received.is_in_pieces());
  ASSERT_EQ(received.size(), frame.size());
  EXPECT_EQ(std::memcmp(received.bytes().data(), frame.bytes().data(), frame.size()), 0);
  EXPECT_EQ(port.stats().rx_merged, 1U);

  // A thread of DPDK disconnects the port after the peer has closed. The port is closed only then:
  // the driver does not expect both at once.
  peer.reset();
  while (is_linked("net_memif_own") && now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace
}  // namespace satrelay::dpdk::port_test
