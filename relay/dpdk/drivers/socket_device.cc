#include "relay/dpdk/drivers/socket_device.h"

#include <stdexcept>

#include "relay/dpdk/socket/fanout.h"

namespace satrelay::dpdk {

SocketDevice::Queue::Queue(unsigned index, unsigned queues, const config::Port& config,
                           PacketPool& pool)
    : socket(index, queues),
      receiver(socket.descriptor(), pool, config.mtu),
      sender(socket.descriptor(), config.large_frames ? SocketSender::LargeFrames::kWhereTaken
                                                      : SocketSender::LargeFrames::kNever) {}

SocketDevice::SocketDevice(const config::Port& config, PacketPool& pool, const Spread& spread)
    : interface_(config.interface, config.mtu) {
  try {
    open(config, pool, spread);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string(error.what()) +
                             "; needs CAP_NET_RAW and CAP_NET_ADMIN: run as root");
  }
  facts_.notices = interface_.notices();
  facts_.changes = interface_.changes();
  facts_.sums_tcp = config.large_frames;
  // Without a link, the kernel answers that it has no room, and the frames would stay in the burst.
  facts_.keeps_frames = true;
  const std::size_t granted = queues_.front().socket.receive_buffer();
  const std::size_t wanted = PacketSocket::receive_buffer_of(spread.queues);
  if (granted < wanted) {
    facts_.notices.push_back("the kernel keeps only " + std::to_string(granted >> 10) +
                             " KiB of frames that wait for this port; run as root, or set sysctl "
                             "net.core.rmem_max=" +
                             std::to_string(wanted / 2));
  }
}

void SocketDevice::open(const config::Port& config, PacketPool& pool, const Spread& spread) {
  for (unsigned i = 0; i < spread.queues; ++i) {
    queues_.emplace_back(interface_.index(), spread.queues, config, pool);
  }
  if (queues() == 1) return;
  Fanout group(queues_.front().socket.descriptor(), spread);
  for (unsigned i = 1; i < queues(); ++i) group.add(queues_[i].socket.descriptor());
}

void SocketDevice::begin_to_receive() {
  for (Queue& queue : queues_) queue.socket.begin_to_receive();
}

InterfaceView SocketDevice::view() const {
  std::vector<std::string> objections;
  // The kernel does not bind a socket of a fanout group to another interface.
  if (queues() > 1) objections.emplace_back("is not the one that the workers share");
  // A new interface may have the same index as the old one. But the kernel has unbound the socket
  // from the old one.
  return interface_.view(queues_.front().socket.is_bound(), objections);
}

void SocketDevice::bind_to_successor() {
  const unsigned index = interface_.successor();
  queues_.front().socket.bind_to(index);
  interface_.replace(index);
}

void SocketDevice::on_up() {
  for (Queue& queue : queues_) queue.socket.note_change();
}

std::uint64_t SocketDevice::missed(unsigned queue) const {
  const Queue& q = queues_[queue];
  return q.socket.dropped() + q.receiver.counters().no_buffer;
}

PortStats SocketDevice::queue_stats(unsigned queue) const {
  const Queue& q = queues_[queue];
  const SocketReceiver::Counters& in = q.receiver.counters();
  const SocketSender::Counters& out = q.sender.counters();
  PortStats stats;
  stats.rx_frames = in.frames;
  stats.rx_bytes = in.bytes;
  stats.rx_large = in.large;
  stats.rx_oversized = in.oversized;
  stats.rx_missed = q.socket.dropped();
  stats.rx_no_buffer = in.no_buffer;
  stats.rx_merged = in.uncut + out.errors_of_receiver;
  stats.rx_checksums_finished = in.checksums_finished;
  stats.tx_frames = out.frames;
  stats.tx_bytes = out.bytes;
  stats.tx_large = out.large;
  stats.tx_errors = out.errors;
  stats.tx_down = out.down;
  return stats;
}

}  // namespace satrelay::dpdk
