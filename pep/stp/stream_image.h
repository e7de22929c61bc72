// The image of one stream of a session (pep/base/image): both halves of the stream, and their
// state. The places of the stream in the lists and in the schedule of its session stay where they
// are.
#pragma once

#include "pep/base/arena.h"
#include "pep/base/image/image.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

class Session;
struct Stream;

class StreamImage {
 public:
  // The session knows the stream until the stream is freed, although its relay may have released
  // or reset it before.
  StreamImage(Session& session, StreamId stream);
  bool has_stream() const { return stream_ != nullptr; }

  // The rest is for a stream that there is.
  // The stream is left without its bytes, and read() must follow before the session is used.
  void write(Image& image);
  // Replaces the stream that was written. `image` must have passed check() before.
  void read(Image& image);
  // Reads the image without a change to the stream, and fails the image if read() cannot use it.
  void check(Image& image) const;

 private:
  Arena& arena_;
  Stream* stream_;
};

}  // namespace satrelay::stp
