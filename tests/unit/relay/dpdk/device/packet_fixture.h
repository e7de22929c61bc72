// Packets of a pool on a real EAL without devices. All tests of the process share the EAL.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "relay/dpdk/device/eal.h"
#include "relay/dpdk/device/packet_pool.h"

namespace satrelay::dpdk {

class PacketTest : public testing::Test {
 protected:
  static constexpr std::size_t kPackets = 2048;

  static Eal& eal() {
    // DPDK leaves its folder behind. It must be removed after the EAL has ended.
    static struct Folder {
      std::filesystem::path path;
      ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
      }
    } folder;
    static Eal instance(
        {.program = "unit-relay-dpdk",
         .file_prefix = "unit-relay-dpdk-" + std::to_string(::getpid()),
         .cpu = {},
         .memory = PacketPool::memory_for(kPackets, 1500) + PacketPool::memory_for(kPackets, 9000),
         .ports = {},
         .verbose = false});
    folder.path = Eal::runtime_directory();
    return instance;
  }
  static PacketPool& pool() {
    eal();
    static PacketPool instance("unit", kPackets, 1500);
    return instance;
  }
  static Packet packet_of(std::size_t size, std::uint8_t fill) {
    Packet packet = pool().allocate();
    std::memset(packet.room().data(), fill, size);
    packet.set_size(size);
    return packet;
  }
  static std::size_t used() { return kPackets - pool().available(); }
};

}  // namespace satrelay::dpdk
