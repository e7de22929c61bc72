#include "relay/gateway/lanes/plain_packets.h"

#include <algorithm>
#include <cstddef>

#include "pep/stp/wire/packet_observer.h"
#include "relay/gateway/addresses/wan_node.h"

namespace satrelay::gateway {

class PlainPackets::OfLane final : public stp::PacketObserver {
 public:
  OfLane(const WanNode& wan, const LaneAddress& address, PlainObserver& observer)
      : wan_(wan), address_(address), observer_(observer) {}

  void see(Way way, ConstBytes header, ConstBytes rest) override {
    const std::size_t before = wan_.stp_header_size();
    frame_.resize(before + header.size() + rest.size());
    std::ranges::copy(header, frame_.begin() + static_cast<std::ptrdiff_t>(before));
    std::ranges::copy(rest, frame_.end() - static_cast<std::ptrdiff_t>(rest.size()));
    const LinkWay link_way = way == Way::kSent ? LinkWay::kSend : LinkWay::kReceive;
    wan_.write_stp_headers(address_, header.size() + rest.size(), control::Priority{}, frame_,
                           link_way);
    observer_.see_plain(link_way, frame_);
  }

 private:
  const WanNode& wan_;
  LaneAddress address_;
  PlainObserver& observer_;
  std::vector<std::byte> frame_;
};

PlainPackets::PlainPackets(GatewayParts& parts) : parts_(parts) {}
PlainPackets::~PlainPackets() = default;

void PlainPackets::observe(PlainObserver* observer) {
  for (const auto& lane : parts_.lanes) lane->session.set_observer(nullptr);
  lanes_.clear();
  if (observer == nullptr) return;
  for (const auto& lane : parts_.lanes) {
    lanes_.push_back(std::make_unique<OfLane>(parts_.wan, lane->address, *observer));
    lane->session.set_observer(lanes_.back().get());
  }
}

}  // namespace satrelay::gateway
