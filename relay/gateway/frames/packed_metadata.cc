#include "relay/gateway/frames/packed_metadata.h"

#include <algorithm>
#include <array>
#include <span>

namespace satrelay::gateway {
namespace {

using Octets = std::array<std::byte, kMaxOpenMetadata>;
static_assert(kMaxOpenMetadata <= 0xff);

// Offset of the two ends (addresses and ports) in the octets (open_metadata.h).
std::size_t place_of_ends(ConstBytes octets) {
  const auto tags = static_cast<std::size_t>(octets[2]);
  return 16 + 4 * tags;
}

bool has_class(ConstBytes octets) {
  constexpr std::byte kHasClass{16};
  return (octets[3] & kHasClass) != std::byte{0};
}

// Offset of the class name, which begins with its length, if there is a class.
std::size_t place_of_name(ConstBytes octets) {
  constexpr std::byte kHasModes{32};
  constexpr std::size_t kBehindEnds = 5;  // MSS, window scale, traffic class, hop limit
  const std::size_t modes = (octets[3] & kHasModes) == std::byte{0} ? 0 : 1;
  return place_of_ends(octets) + kBehindEnds + modes;
}

std::size_t size_of_ends(const IpAddress& client) { return 2 * client.size() + 4; }

}  // namespace

void PackedMetadata::pack(const OpenMetadata& metadata) {
  Octets octets{};
  const std::size_t all = write_open_metadata(metadata, octets);
  const std::size_t before = place_of_ends(octets);
  const std::size_t ends = size_of_ends(metadata.client);
  const std::size_t size = all - ends;
  octets_ = std::make_unique_for_overwrite<std::byte[]>(1 + size);
  octets_[0] = static_cast<std::byte>(size);
  std::byte* const behind = std::copy_n(octets.begin(), before, &octets_[1]);
  std::copy_n(octets.begin() + before + ends, size - before, behind);
}

OpenMetadata PackedMetadata::unpack(const Ends& ends) const {
  if (octets_ == nullptr) return {};
  const auto size = static_cast<std::size_t>(octets_[0]);
  Octets octets{};
  std::copy_n(&octets_[1], std::min<std::size_t>(size, 16), octets.begin());
  const std::size_t before = place_of_ends(octets);
  const std::size_t behind = before + size_of_ends(ends.client);
  std::copy_n(&octets_[1], before, octets.begin());
  std::copy_n(&octets_[1 + before], size - before, octets.begin() + behind);
  ByteWriter writer(MutableBytes(octets).subspan(before));
  for (const IpAddress& address : {ends.client, ends.server}) {
    writer.bytes(std::as_bytes(std::span(address.octets())).first(address.size()));
  }
  writer.u16(ends.client_port);
  writer.u16(ends.server_port);
  const ConstBytes whole = ConstBytes(octets).first(size + size_of_ends(ends.client));
  return parse_open_metadata(whole).value_or(OpenMetadata{});
}

void PackedMetadata::image(Image& image) {
  if (!image.same(octets_ != nullptr)) return octets_.reset();
  const std::size_t size = image.count(image.reads() ? 0 : static_cast<std::size_t>(octets_[0]));
  if (image.reads()) {
    if (size > kMaxOpenMetadata) return image.fail();
    octets_ = std::make_unique_for_overwrite<std::byte[]>(1 + size);
    octets_[0] = static_cast<std::byte>(size);
  }
  image.octets({&octets_[1], size});
  if (!image.reads() || is_whole()) return;
  octets_.reset();
  image.fail();
}

// Whether the octets are as long as the fields in them say.
bool PackedMetadata::is_whole() const {
  constexpr std::size_t kFixed = 16;
  const ConstBytes octets(&octets_[1], static_cast<std::size_t>(octets_[0]));
  if (octets.size() < kFixed || static_cast<std::size_t>(octets[2]) > wire::kMaxVlanTags) {
    return false;
  }
  const std::size_t size = place_of_name(octets);
  if (!has_class(octets)) return octets.size() == size;
  return size < octets.size() && octets.size() == size + 1 + static_cast<std::size_t>(octets[size]);
}

std::string_view PackedMetadata::class_name() const {
  if (octets_ == nullptr) return {};
  const ConstBytes octets(&octets_[1], static_cast<std::size_t>(octets_[0]));
  if (!has_class(octets)) return {};
  const std::size_t place = place_of_name(octets);
  const auto* const name = reinterpret_cast<const char*>(&octets[place + 1]);
  return {name, static_cast<std::size_t>(octets[place])};
}

}  // namespace satrelay::gateway
