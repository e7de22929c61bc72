#include "pep/stp/stream_image.h"

#include <vector>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

StreamImage::StreamImage(Session& session, StreamId stream)
    : arena_(session.impl_->core.arena),
      stream_(session.impl_->core.streams->find(static_cast<std::uint64_t>(stream))) {}

void StreamImage::write(Image& image) { stream_->image(image); }

void StreamImage::read(Image& image) { read_into_place(*stream_, arena_, image); }

void StreamImage::check(Image& image) const {
  Stream trial(arena_);
  trial.image(image);
  if (trial.id != stream_->id || trial.index != stream_->index ||
      trial.generation != stream_->generation || trial.is_hot() != stream_->is_hot()) {
    image.fail();
  }
  // The blocks of `trial` belong to the stream that read() makes, so the destructor of `trial` must
  // not free them. Write `trial` to another image, which takes the blocks out.
  std::vector<std::byte> given_up;
  Image writer = Image::writer(given_up, image.now());
  trial.image(writer);
}

}  // namespace satrelay::stp
