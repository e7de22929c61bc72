// The image of one stream of a session (pep/base/image): both halves of the stream, and their
// state. It does not contain the stream's positions in the lists and in the schedule of the
// session.
#pragma once

#include "pep/base/arena.h"
#include "pep/base/image/image.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

class Session;
struct Stream;

class StreamImage {
 public:
  // The relay may already have released or reset the stream, as long as the session has not freed
  // it.
  StreamImage(Session& session, StreamId stream);
  bool has_stream() const { return stream_ != nullptr; }

  // The following functions may be called only if has_stream() is true. write() moves the stored
  // bytes out of the stream, so read() must be called before the session is used again.
  void write(Image& image);
  // Replaces the stream that was written. `image` must have passed check().
  void read(Image& image);
  // Reads the image without changing the stream. Marks the image as failed if read() cannot use it.
  void check(Image& image) const;

 private:
  Arena& arena_;
  Stream* stream_;
};

}  // namespace satrelay::stp
