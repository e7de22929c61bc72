#include "pep/stp/streams/stream.h"

#include <memory>
#include <tuple>

#include "pep/base/image/poison.h"

namespace satrelay::stp {

void Stream::image(Image& image) {
  image(id, confirmations, send, phase, ready, blocked, behind_rest, released, delivered, prompt,
        lane_share, reset_reason, generation, receive, index, hot_);
  open_due = image.same(open_due);
  open_acknowledged = image.same(open_acknowledged);
  confirm_behind_open = image.same(confirm_behind_open);
  only_asks = image.same(only_asks);
  reset_due = image.same(reset_due);
  reset_acknowledged = image.same(reset_acknowledged);
  final_size_known = image.same(final_size_known);
  quiet = image.same(quiet);
  const std::size_t size = image.count(metadata_size);
  if (!image.same(metadata_bytes != nullptr)) return forget_metadata();
  if (size > kMaxMetadata) return image.fail();
  if (image.reads()) make_metadata(size);
  image.octets({metadata_bytes.get(), size});
}

void read_into_place(Stream& stream, Arena& arena, Image& image) {
  const StreamPlaces places = stream.hot().places;
  const auto [host, stream_class, context] =
      std::tuple(stream.host, stream.stream_class, stream.context);
  std::destroy_at(&stream);
  poison(&stream, sizeof(stream));
  std::construct_at(&stream, arena);
  stream.host = host;
  stream.stream_class = stream_class;
  stream.context = context;
  stream.image(image);
  if (stream.is_hot()) stream.heat().places = places;
}

}  // namespace satrelay::stp
