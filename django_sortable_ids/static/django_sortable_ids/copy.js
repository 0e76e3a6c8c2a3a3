"use strict";

// Puts a button that copies after each text of an id. Without this script, a click on the text
// selects all of it.
{
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      // Without HTTPS there is no clipboard, and a frame may have no right to it.
      window.getSelection().selectAllChildren(text);
      document.execCommand("copy");
    }
  };

  const addButton = (text) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sortable-ids-copy";
    const say = (word) => {
      button.textContent = word;
      button.setAttribute("aria-label", `${word}: ${text.textContent}`);
    };
    say(text.dataset.copy);
    button.addEventListener("click", async () => {
      await copy(text);
      say(text.dataset.copied);
      window.setTimeout(say, 2000, text.dataset.copy);
    });
    // A link contains no button.
    (text.closest("a") || text).after(" ", button);
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".sortable-ids-text").forEach(addButton);
  });
}
