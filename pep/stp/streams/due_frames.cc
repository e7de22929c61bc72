#include "pep/stp/streams/due_frames.h"

namespace satrelay::stp {

void DueFrames::owe_open(Stream& stream) {
  stream.open_due = true;
  opens_.push_back(stream);
  if (!ConfirmList::contains(stream)) return;
  confirms_of(stream).remove(stream);
  stream.confirm_behind_open = true;
}

void DueFrames::on_open_left(Stream& stream) {
  stream.open_due = false;
  opens_.remove(stream);
  if (!stream.confirm_behind_open) return;
  stream.confirm_behind_open = false;
  confirms_of(stream).push_back(stream);
}

void DueFrames::owe_credit(Stream& stream) {
  const bool is_idle = !stream.is_hot();
  credits_.push_back(stream);
  if (is_idle) stream.heat().is_brief = true;
}

void DueFrames::on_credit_left(Stream& stream) {
  credits_.remove(stream);
  if (stream.hot().is_brief) {
    stream.heat().is_brief = false;
    stream.cool();
  }
}

void DueFrames::confirm(Stream& stream, const Confirmation& confirmation, Instant now) {
  const Confirmation before = stream.confirmations.ours();
  if (!stream.confirmations.say(confirmation)) return;
  // The far host waits for these states, so they are sent at once. Urgent marks wait, except for
  // the first: it tells the far host that there is urgent data. If a host marks all its data as
  // urgent, a frame for each mark would load the link.
  const bool is_first_mark = before.urgent.mark == 0 && confirmation.urgent.mark > 0;
  if (confirmation.answered != before.answered || confirmation.ended != before.ended ||
      is_first_mark) {
    next_confirm_ = now;
  }
  Confirmation without_questions = before;
  without_questions.keep_alives = confirmation.keep_alives;
  without_questions.word = confirmation.word;
  owe_confirmation(stream, without_questions == confirmation ? News::kQuestion : News::kState);
}

void DueFrames::owe_confirmation(Stream& stream, News news) {
  const bool is_queued = ConfirmList::contains(stream);
  const bool is_owed = stream.confirm_behind_open || is_queued;
  const bool only_asks = news == News::kQuestion && (!is_owed || stream.only_asks);
  if (is_queued && only_asks == stream.only_asks) return;
  confirms_of(stream).remove(stream);
  stream.only_asks = only_asks;
  if (stream.open_due) {
    stream.confirm_behind_open = true;
  } else {
    confirms_of(stream).push_back(stream);
  }
}

void DueFrames::forget(Stream& stream) {
  opens_.remove(stream);
  fins_.remove(stream);
  resets_.remove(stream);
  credits_.remove(stream);
  confirms_of(stream).remove(stream);
  stream.confirm_behind_open = false;
}

}  // namespace satrelay::stp
