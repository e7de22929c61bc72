// A modal dialogue. Escape and "Cancel" change nothing.
import {make, newId, show} from "./dom.js";
import {failure} from "./notices.js";

let current = null;

export function closeDialogue() {
  current?.close();
}

// Shows `content` above the buttons `confirm` and "Cancel". When the user confirms, the dialogue
// awaits `send()`. It closes if `send()` succeeds, or else shows the error and stays open. `send()`
// throws RangeError, with a text for the user, if the user's input is wrong.
export function openDialogue({title, content, confirm, isRisky = false, send, done}) {
  const heading = make("h2", {id: newId("dialogue")}, title);
  const problem = make("div", {role: "alert"});
  const yes = make("button", {type: "submit", class: isRisky ? "risky" : "main"}, confirm);
  const no = make("button", {type: "button", onclick: () => dialogue.close()}, "Cancel");
  const form = make(
    "form",
    {method: "dialog"},
    heading,
    content,
    problem,
    make("p", {class: "row"}, yes, no),
  );
  const dialogue = make("dialog", {"aria-labelledby": heading.id}, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    show(problem);
    yes.disabled = true;
    try {
      const answer = await send();
      dialogue.close();
      done(answer);
    } catch (error) {
      if (error.status === undefined && !(error instanceof RangeError)) throw error;
      show(
        problem,
        error.status === undefined
          ? make("p", {class: "notice", "data-kind": "failed"}, error.message)
          : failure(error),
      );
    } finally {
      yes.disabled = false;
    }
  });
  dialogue.addEventListener("close", () => {
    dialogue.remove();
    current = null;
  });
  document.body.append(dialogue);
  current = dialogue;
  dialogue.showModal();
  if (isRisky) no.focus();
}
