// A device of DPDK. A derived class for each driver opens it, configures it and starts it.
#pragma once

#include <rte_ethdev.h>

#include <cstdint>
#include <mutex>

#include "relay/dpdk/device/device_arguments.h"
#include "relay/dpdk/device/device_sender.h"
#include "relay/dpdk/drivers/device.h"

namespace satrelay::dpdk {

class EthDevice : public Device {
 public:
  ~EthDevice() override;

  unsigned queues() const override { return static_cast<unsigned>(queues_.size()); }
  MacAddress mac() const override;
  std::optional<int> wait_descriptor(unsigned) const override { return std::nullopt; }
  std::size_t receive(Burst& burst, unsigned queue) final;
  std::size_t send(Burst& burst, unsigned queue) final { return queues_[queue].sender.send(burst); }
  PortStats queue_stats(unsigned queue) const override;
  PortStats device_stats() const override;
  std::uint64_t missed(unsigned queue) const override;
  InterfaceView view() const override;

 protected:
  // `advice`: what the operator can do if the device cannot be opened.
  explicit EthDevice(const char* advice) : advice_(advice) {}

  // Creates a virtual device, and opens it.
  void create(const DeviceArguments& device);
  // Opens a device that DPDK has found.
  void open(const std::string& device);
  rte_eth_dev_info info() const;
  // Starts the device with the requested number of queues, or with one if the device has fewer.
  void start(rte_eth_conf conf, const DeviceSender::Abilities& abilities, PacketPool& pool,
             const Spread& spread);
  void be_promiscuous();
  std::uint16_t id() const { return id_; }

 private:
  struct Queue {
    DeviceSender sender;
    // Counters of frames that the device has delivered.
    std::uint64_t rx_merged = 0;
    std::uint64_t rx_joined = 0;
    std::uint64_t rx_checksums_finished = 0;
    std::uint64_t rx_checksums_verified = 0;
  };
  unsigned spread_over(const Spread& spread, rte_eth_conf& conf);
  // Copies each frame that is in several buffers into its first buffer, or drops a frame that does
  // not fit there. Moves the remaining frames to the front of `frames`, and returns their number.
  // Completes checksums that a sender on this machine has left to its virtual network card.
  static std::size_t finish(rte_mbuf** frames, std::size_t count, Queue& queue);

  const char* advice_;
  std::string created_;   // name of the virtual device; empty if there is none
  std::uint16_t id_ = 0;  // DPDK's number of the port
  bool is_open_ = false;
  bool is_started_ = false;
  std::vector<Queue> queues_;
  std::vector<std::uint8_t> rss_key_;
  // Only one thread at a time may read the counters of the device. In many drivers, a read adds
  // hardware registers to sums and resets the registers, so two reads at the same time would
  // corrupt the sums.
  mutable std::mutex stats_mutex_;
};

}  // namespace satrelay::dpdk
