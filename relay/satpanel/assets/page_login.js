// The page for the login.
import {logIn, session} from "./api.js";
import {labelled, make, show} from "./dom.js";
import {failure, nothing} from "./notices.js";

export const title = "Log in";

function problemOf(error) {
  if (error.status === 401) return nothing("Not logged in.", error.message);
  if (error.status !== 429) return failure(error);
  return nothing(
    "Too many attempts.",
    error.retryAfter ? `Try again in ${error.retryAfter} s.` : error.message,
  );
}

export function open({enter}) {
  const name = make("input", {
    name: "name",
    autocomplete: "username",
    required: true,
    autocapitalize: "none",
    spellcheck: "false",
    maxlength: 64,
  });
  const password = make("input", {
    name: "password",
    type: "password",
    autocomplete: "current-password",
    required: true,
    maxlength: 1024,
  });
  const problem = make("div", {role: "alert"});
  const button = make("button", {class: "main", type: "submit"}, "Log in");

  async function submit(event) {
    event.preventDefault();
    button.disabled = true;
    show(problem);
    try {
      await logIn(name.value, password.value);
      enter();
    } catch (error) {
      password.value = "";
      show(problem, problemOf(error));
      password.focus();
    } finally {
      button.disabled = false;
    }
  }

  if (!session.login_required) {
    return {
      element: nothing(
        "No login is needed.",
        "satpanel was started without users: every client may look, and none may change " +
          "anything.",
      ),
      close() {},
    };
  }
  return {
    element: make(
      "section",
      {class: "card narrow", "aria-label": "Log in"},
      make(
        "form",
        {class: "stack", onsubmit: submit},
        labelled("Name", name),
        labelled("Password", password),
        problem,
        make("div", {}, button),
      ),
      make(
        "p",
        {class: "note"},
        "satpanel has a list of users of its own; an administrator adds users with ",
        make("code", {}, "satpanel user"),
        ".",
      ),
    ),
    close() {},
  };
}
