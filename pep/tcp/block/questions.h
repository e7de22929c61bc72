// Segments that ask whether a host is still there (keep-alives and probes of a closed window):
// those that we send to the peer, and those that the peer sends to us.
#pragma once

#include <cstdint>
#include <utility>

#include "pep/base/image/image.h"
#include "pep/tcp/block/keep_alive.h"

namespace satrelay::tcp {

enum class Question : std::uint8_t {
  kNone,
  kEmpty,
  kWithByte,  // the segment carries one byte: garbage, or the last byte of the peer's data again
};

class Questions {
 public:
  // --- ours ---
  KeepAlive& keep_alive() { return keep_alive_; }
  const KeepAlive& keep_alive() const { return keep_alive_; }
  // Endpoint::ask_once() was called, and no accepted segment of the peer has arrived since.
  bool awaits_word() const { return keep_alive_.listening(); }

  // --- the peer's ---
  // While set, the endpoint does not answer the peer's keep-alives and probes of a closed window by
  // itself. The owner answers them, once it knows that the far host is still there.
  void leave(bool leave) { leaves_ = leave; }
  bool leaves() const { return leaves_; }
  void note(Question question) { question_ = question; }
  // Returns the keep-alive or probe that the owner has to answer. Returns each of them once.
  Question take() { return std::exchange(question_, Question::kNone); }
  // Number of keep-alives from the peer (RFC 9293 section 3.8.4). A retransmission of the peer's
  // last byte looks like a keep-alive, and is counted. A probe of a closed window also looks like a
  // keep-alive, but is counted only if the receive limit is 0.
  std::uint32_t keep_alives() const { return keep_alives_; }
  void note_keep_alive() { ++keep_alives_; }
  // Number of segments from the peer that cannot be answers to our segments. They show that another
  // device also answers the peer. Two kinds of segments are counted: pure ACKs that arrive while
  // nothing is in flight and that change nothing, and, before answer(), resets of another
  // connection (RFC 5961 section 4, RFC 9293 section 3.5.2).
  std::uint32_t stray_answers() const { return stray_answers_; }
  void note_stray_answer() { ++stray_answers_; }

  void image(Image& image) { image(keep_alives_, stray_answers_, keep_alive_, question_, leaves_); }

 private:
  std::uint32_t keep_alives_ = 0;
  std::uint32_t stray_answers_ = 0;
  KeepAlive keep_alive_;
  Question question_ = Question::kNone;
  bool leaves_ = false;
};

}  // namespace satrelay::tcp
