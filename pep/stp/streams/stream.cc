#include "pep/stp/streams/stream.h"

namespace satrelay::stp {

void Stream::image(Image& image) {
  image(id, host, confirmations, send, phase, ready, blocked, behind_rest, released, delivered,
        prompt, lane_share, stream_class, reset_reason, generation, receive, index, context, hot_);
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
  if (image.reads()) make_metadata(size);
  image.octets({metadata_bytes.get(), size});
}

}  // namespace satrelay::stp
