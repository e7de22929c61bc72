// The frames other than stream data that the next packets must carry: a list of streams for each
// kind of frame. A frame is written from the state that its stream has at that time.
//
// CONFIRMs are sent at most as often as reports, unless the far host waits for the state. If a
// CONFIRM arrived before the OPEN of its stream, the peer would not acknowledge the packet. So a
// CONFIRM waits until the OPEN was sent.
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
  // CONFIRMs whose only news is a keep-alive or probe of our host, or its answer to one
  // (HostAnswer).
  ConfirmList& questions() { return questions_; }

  // Requests an OPEN, because the stream is new, or because the last OPEN was lost.
  void owe_open(Stream& stream);
  // Ends the request for an OPEN: the OPEN is in a packet, or an OPEN that seemed lost has arrived.
  void on_open_left(Stream& stream);
  void owe_reset(Stream& stream) {
    stream.reset_due = true;
    resets_.push_back(stream);
  }
  void on_reset_left(Stream& stream) {
    stream.reset_due = false;
    resets_.remove(stream);
  }
  // Requests a STREAM_CREDIT. If the stream is idle, the memory for the request is freed as soon as
  // the frame is sent, since very many idle streams may need a STREAM_CREDIT at once.
  void owe_credit(Stream& stream);
  void on_credit_left(Stream& stream);

  // Sets the state of our host that CONFIRM tells the peer.
  void confirm(Stream& stream, const Confirmation& confirmation, Instant now);
  // Requests a CONFIRM, because the state is new, or because the last CONFIRM was lost.
  enum class News : std::uint8_t { kState, kQuestion };
  void owe_confirmation(Stream& stream, News news);
  bool confirmations_due(Instant now) const { return now >= next_confirm(); }
  Instant next_confirm() const {
    if (!confirms_.empty()) return next_confirm_;
    return questions_.empty() ? Instant::never() : later(next_confirm_, next_question_);
  }
  void on_all_confirmed(Duration interval, Instant now) { next_confirm_ = now + interval; }
  // Postpones the CONFIRMs in questions().
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
  Instant next_question_;  // the CONFIRMs in questions_ wait at least until this time
};

}  // namespace satrelay::stp
