// A port on shared memory (memif), and another program at its other end.
#include "relay/dpdk/device/port.h"

#include <gtest/gtest.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
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

class MemifPortTest : public PacketTest {
 protected:
  MemifPortTest() {
    eal();
    std::string folder = std::filesystem::temp_directory_path() / "satrelay-memif-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder");
    folder_ = folder;
  }
  ~MemifPortTest() override { std::filesystem::remove_all(folder_); }
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
