#include "relay/gateway/flows/image/flow_image.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "pep/base/image/image.h"
#include "pep/stp/stream_image.h"
#include "pep/stp/wire/crc32c.h"

namespace satrelay::gateway {

namespace {

constexpr std::uint32_t kMagicOfFlowImages = 0x49465253;  // "SRFI" in the first octets

struct FlowImageHeader {
  static constexpr std::size_t kSize = 16;

  std::uint32_t magic = kMagicOfFlowImages;
  std::uint32_t version = FlowImage::kVersion;
  std::uint32_t size = 0;      // number of octets behind this header
  std::uint32_t checksum = 0;  // CRC32C of the octets behind this header

  void image(Image& image) { image(magic, version, size, checksum); }
};

std::uint32_t checksum_of_image(ConstBytes octets) {
  return stp::crc32c_finish(stp::crc32c_update(stp::kCrc32cStart, octets));
}

// The first part of an image: it identifies the flow.
struct FlowNames {
  FlowKey key;
  Origin origin{};
  LaneId lane;

  void image(Image& image) { image(key, origin, lane); }
};

// The streams of a flow that its session knows: the flow's own stream, and the stream that carries
// the far host's bytes if that is another stream.
using FlowStreams = std::array<std::optional<stp::StreamId>, 2>;
FlowStreams streams_of(const Flow& f) {
  return {f.stream == Flow::kNoStream ? std::nullopt : std::optional(f.stream), f.inbound()};
}

// Releases the flow's bytes of the arena, so that `f` can be destroyed. Writing an object into an
// image has this effect.
void give_up_bytes(Flow& f, Instant now) {
  std::vector<std::byte> given_up;
  Image writer = Image::writer(given_up, now);
  f.image(writer);
}

}  // namespace

const char* to_string(FlowImageFault fault) {
  switch (fault) {
    case FlowImageFault::kNone:
      return "none";
    case FlowImageFault::kNoImage:
      return "no image of a flow";
    case FlowImageFault::kOtherVersion:
      return "another version";
    case FlowImageFault::kDamaged:
      return "damaged";
    case FlowImageFault::kOtherFlow:
      return "another flow";
    case FlowImageFault::kMalformed:
      return "malformed";
  }
  return "unknown";
}

std::vector<std::byte> FlowImage::write(Flow& f, stp::Session& session, Instant now) {
  std::vector<std::byte> octets(FlowImageHeader::kSize);
  Image image = Image::writer(octets, now);
  FlowNames names{f.key, f.origin, f.lane};
  image(names, f);
  for (const std::optional<stp::StreamId>& id : streams_of(f)) {
    if (!id) continue;
    stp::StreamImage stream(session, *id);
    if (image.same(stream.has_stream())) stream.write(image);
  }
  const ConstBytes rest = ConstBytes(octets).subspan(FlowImageHeader::kSize);
  FlowImageHeader header{.size = static_cast<std::uint32_t>(rest.size()),
                         .checksum = checksum_of_image(rest)};
  std::vector<std::byte> front;
  Image::writer(front, now)(header);
  std::copy(front.begin(), front.end(), octets.begin());
  return octets;
}

FlowImage::Read FlowImage::read(ConstBytes octets, const FlowGround& ground, stp::Session& session,
                                Instant now) {
  if (octets.size() < FlowImageHeader::kSize) return {FlowImageFault::kNoImage};
  FlowImageHeader header;
  Image::reader(octets.first(FlowImageHeader::kSize), now)(header);
  const ConstBytes rest = octets.subspan(FlowImageHeader::kSize);
  if (header.magic != kMagicOfFlowImages) return {FlowImageFault::kNoImage};
  if (header.version != kVersion) return {FlowImageFault::kOtherVersion};
  if (header.size != rest.size() || header.checksum != checksum_of_image(rest)) {
    return {FlowImageFault::kDamaged};
  }
  Image image = Image::reader(rest, now);
  FlowNames names;
  image(names);
  if (names.key != ground.key || names.origin != ground.origin || names.lane != ground.lane) {
    return {FlowImageFault::kOtherFlow};
  }
  auto flow =
      std::make_unique<Flow>(ground.key, ground.rule, ground.origin, tcp::Config{},
                             ground.common->arena, tcp::Endpoint::Shared{{}, ground.common}, now);
  flow->traffic_class = ground.traffic_class;
  flow->lan.host = ground.host;
  flow->journal_place = ground.journal_place;
  image(*flow);
  // The streams are visited twice, since a fault of any stream must be found before the first
  // stream is replaced.
  const auto visit_streams = [&](Image& from, auto&& visit) {
    bool all = true;
    for (const std::optional<stp::StreamId>& id : streams_of(*flow)) {
      if (!id || from.failed()) continue;
      stp::StreamImage stream(session, *id);
      const bool written = from.same(false);
      all = all && written == stream.has_stream();
      if (written && all) visit(stream, from);
    }
    return all;
  };
  Image again = image;
  const bool has_streams =
      visit_streams(image, [](stp::StreamImage& stream, Image& from) { stream.check(from); });
  if (!has_streams || flow->lane != ground.lane || !image.complete()) {
    give_up_bytes(*flow, now);
    const bool is_other = !has_streams && !image.failed();
    return {is_other ? FlowImageFault::kOtherFlow : FlowImageFault::kMalformed};
  }
  visit_streams(again, [](stp::StreamImage& stream, Image& from) { stream.read(from); });
  return {FlowImageFault::kNone, std::move(flow)};
}

}  // namespace satrelay::gateway
