// A kernel interface that is used through packet sockets of our own (af_packet), one for each
// queue.
#pragma once

#include <deque>

#include "relay/dpdk/drivers/device.h"
#include "relay/dpdk/drivers/opened_interface.h"
#include "relay/dpdk/socket/packet_socket.h"
#include "relay/dpdk/socket/socket_receiver.h"
#include "relay/dpdk/socket/socket_sender.h"

namespace satrelay::dpdk {

class SocketDevice final : public Device {
 public:
  SocketDevice(const config::Port& config, PacketPool& pool, const Spread& spread);

  unsigned queues() const override { return static_cast<unsigned>(queues_.size()); }
  MacAddress mac() const override { return interface_.mac(); }
  std::optional<int> wait_descriptor(unsigned queue) const override {
    return queues_[queue].socket.descriptor();
  }
  std::size_t receive(Burst& burst, unsigned queue) override {
    return queues_[queue].receiver.receive(burst);
  }
  std::size_t send(Burst& burst, unsigned queue) override {
    Queue& q = queues_[queue];
    return q.sender.send(burst, q.socket.changes());
  }
  PortStats queue_stats(unsigned queue) const override;
  PortStats device_stats() const override { return {}; }
  std::uint64_t missed(unsigned queue) const override;
  void begin_to_receive() override;
  InterfaceView view() const override;
  void bind_to_successor() override;
  void on_up() override;

 private:
  struct Queue {
    Queue(unsigned index, unsigned queues, const config::Port& config, PacketPool& pool);
    PacketSocket socket;
    SocketReceiver receiver;
    SocketSender sender;
  };
  void open(const config::Port& config, PacketPool& pool, const Spread& spread);

  OpenedInterface interface_;
  std::deque<Queue> queues_;
};

}  // namespace satrelay::dpdk
