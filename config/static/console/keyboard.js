/* What unfold lets only a mouse do, a keyboard can do too: its menus and switches are plain
   elements that listen to clicks. */
"use strict";

const CLICKABLE = "[x-on\\:click]:not(button, input, select, textarea, summary, a[href])";

document.addEventListener("DOMContentLoaded", () => {
  for (const element of document.querySelectorAll(CLICKABLE)) {
    if (element.querySelector("a[href], button, input, select, textarea")) continue;
    element.tabIndex = 0;
    element.dataset.keyboard = "";
    element.setAttribute("role", "button");
  }
});

document.addEventListener("keydown", (event) => {
  const isPress = event.key === "Enter" || event.key === " ";
  if (!isPress || !("keyboard" in event.target.dataset)) return;
  event.preventDefault();
  event.target.click();
});
