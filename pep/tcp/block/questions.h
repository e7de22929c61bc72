// Questions whether a host is still there: our questions to the peer, and the peer's questions to
// us.
#pragma once

#include <cstdint>
#include <utility>

#include "pep/base/image/image.h"
#include "pep/tcp/block/keep_alive.h"

namespace satrelay::tcp {

enum class Question : std::uint8_t {
  kNone,
  kEmpty,
  kWithByte,  // with one byte of garbage, or with the last byte of the peer's data again
};

class Questions {
 public:
  // --- ours ---
  KeepAlive& keep_alive() { return keep_alive_; }
  const KeepAlive& keep_alive() const { return keep_alive_; }
  // Endpoint::ask_once() was called, and no accepted segment of the peer has arrived since.
  bool awaits_word() const { return keep_alive_.listening(); }

  // --- the peer's ---
  // While set, the owner answers the peer's questions whether the far host is still there. Such
  // questions are keep-alives and probes of a closed window.
  void leave(bool leave) { leaves_ = leave; }
  bool leaves() const { return leaves_; }
  void note(Question question) { question_ = question; }
  // The question that the owner has to answer. Returns each question once.
  Question take() { return std::exchange(question_, Question::kNone); }
  // How often the peer has asked whether we are still there (RFC 9293 section 3.8.4). A
  // retransmission of the peer's last byte looks like such a question, and counts. A probe of a
  // closed window also looks like such a question, but counts only if the receive limit is 0.
  std::uint32_t keep_alives() const { return keep_alives_; }
  void note_keep_alive() { ++keep_alives_; }
  // How often the peer has sent a segment that none of our segments can have caused. Such a segment
  // is a pure ACK without news while nothing was in flight, or, before answer(), a reset of another
  // connection. It shows that another device also answers the peer (RFC 5961 section 4, RFC 9293
  // section 3.5.2).
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
