// The frames other than stream data that the next packets must carry: a list of streams for each
// kind of frame. A frame is written from the state that its stream has at that time.
//
// CONFIRMs are sent no more often than packets are reported. If a CONFIRM arrives before the OPEN
// of its stream, the peer does not acknowledge the packet. So a CONFIRM waits for the OPEN.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/streams/stream.h"

namespace satrelay::stp {

class DueFrames {
 public:
  OpenList& opens() { return opens_; }
  const OpenList& opens() const { return opens_; }
  FinList& fins() { return fins_; }  // FINs that cannot be sent with data
  const FinList& fins() const { return fins_; }
  const ResetList& resets() const { return resets_; }
  const CreditList& credits() const { return credits_; }
  ConfirmList& confirms() { return confirms_; }
  // CONFIRMs with no news other than a question of our host or its answer (types.h).
  ConfirmList& questions() { return questions_; }

  // Requests an OPEN, as the stream is new, or the last OPEN was lost.
  void owe_open(Stream& stream);
  // Ends the request, as the OPEN is in a packet, or an earlier one has arrived after all.
  void on_open_left(Stream& stream);
  void owe_reset(Stream& stream) {
    stream.reset_due = true;
    resets_.push_back(stream);
  }
  void on_reset_left(Stream& stream) {
    stream.reset_due = false;
    resets_.remove(stream);
  }
  // Requests a STREAM_CREDIT. Very many idle streams may need a STREAM_CREDIT at once, so an idle
  // stream frees the memory for the request as soon as the frame is sent.
  void owe_credit(Stream& stream);
  void on_credit_left(Stream& stream);

  // Sets the state of our host that CONFIRM tells the peer.
  void confirm(Stream& stream, const Confirmation& confirmation, Instant now);
  // Requests a CONFIRM, as the state is new, or the last CONFIRM was lost.
  enum class News : std::uint8_t { kState, kQuestion };
  void owe_confirmation(Stream& stream, News news);
  bool confirmations_due(Instant now) const { return now >= next_confirm(); }
  Instant next_confirm() const {
    if (!confirms_.empty()) return next_confirm_;
    return questions_.empty() ? Instant::never() : later(next_confirm_, next_question_);
  }
  void on_all_confirmed(Duration interval, Instant now) { next_confirm_ = now + interval; }
  // Postpones the CONFIRMs that are still in questions().
  void deferred_questions(Instant until) { next_question_ = until; }

  // Ends all requests of the stream.
  void forget(Stream& stream);

 private:
  ConfirmList& confirms_of(const Stream& stream) {
    return stream.only_asks ? questions_ : confirms_;
  }

  OpenList opens_;
  FinList fins_;
  ResetList resets_;
  CreditList credits_;
  ConfirmList confirms_;
  ConfirmList questions_;
  Instant next_confirm_;
  Instant next_question_;  // CONFIRMs in questions_ wait until this time
};

}  // namespace satrelay::stp
