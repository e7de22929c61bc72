// The frames that the next packets must carry, other than bytes of streams: a list of streams for
// each kind. A frame is written from the state that its stream has then.
//
// CONFIRMs leave no more often than packets are reported. A peer does not record a packet that
// names a stream before its OPEN. So a CONFIRM waits for the OPEN.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/streams/stream.h"

namespace satrelay::stp {

class DueFrames {
 public:
  OpenList& opens() { return opens_; }
  const OpenList& opens() const { return opens_; }
  FinList& fins() { return fins_; }  // FINs that no byte can carry
  const FinList& fins() const { return fins_; }
  const ResetList& resets() const { return resets_; }
  const CreditList& credits() const { return credits_; }
  ConfirmList& confirms() { return confirms_; }
  ConfirmList& questions() { return questions_; }  // CONFIRMs with only a question or an answer

  // An OPEN is due: the stream is new, or the last OPEN was lost.
  void owe_open(Stream& stream);
  // The OPEN is in a packet, or has arrived after all.
  void on_open_left(Stream& stream);
  void owe_reset(Stream& stream) {
    stream.reset_due = true;
    resets_.push_back(stream);
  }
  void on_reset_left(Stream& stream) {
    stream.reset_due = false;
    resets_.remove(stream);
  }
  // A STREAM_CREDIT is due. Very many idle streams may need a frame at once. They shall stay as
  // small as they are.
  void owe_credit(Stream& stream);
  void on_credit_left(Stream& stream);

  // Our host has this state.
  void confirm(Stream& stream, const Confirmation& confirmation, Instant now);
  // A CONFIRM is due: it is new, or the last one was lost.
  enum class News : std::uint8_t { kState, kQuestion };
  void owe_confirmation(Stream& stream, News news);
  bool confirmations_due(Instant now) const { return now >= next_confirm(); }
  Instant next_confirm() const {
    if (!confirms_.empty()) return next_confirm_;
    return questions_.empty() ? Instant::never() : later(next_confirm_, next_question_);
  }
  void on_all_confirmed(Duration interval, Instant now) { next_confirm_ = now + interval; }
  // Questions are left, and must wait.
  void deferred_questions(Instant until) { next_question_ = until; }

  // Nothing of the stream is due any more.
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
  Instant next_question_;  // questions alone wait until then
};

}  // namespace satrelay::stp
