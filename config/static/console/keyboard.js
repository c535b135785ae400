/* What unfold lets only a mouse do, a keyboard can do too: its menus and switches are plain
   elements that listen to clicks. And what only an icon says has a name for a screen reader,
   which would otherwise read out the icon's: "dock_to_right". */
"use strict";

const CLICKABLE = "[x-on\\:click]:not(button, input, select, textarea, summary, a[href])";
const SPOKEN = {
  sidebar: "[x-on\\:click^=sidebar]",
  filters: "#changelist-filter-close",
  look: "[x-on\\:click^=openTheme]",
  more: "[x-on\\:click^=openRelatedWidget]",
  home: "a[href]:not([title]):has(> .material-symbols-outlined:only-child)",
  search: "#searchbar-submit",
};

document.addEventListener("DOMContentLoaded", () => {
  for (const element of document.querySelectorAll(CLICKABLE)) {
    if (element.querySelector("a[href], button, input, select, textarea")) continue;
    element.tabIndex = 0;
    element.dataset.keyboard = "";
    element.setAttribute("role", "button");
  }
  const names = document.getElementById("c-spoken")?.dataset ?? {};
  for (const [name, selector] of Object.entries(SPOKEN)) {
    for (const element of document.querySelectorAll(selector)) element.ariaLabel = names[name];
  }
  for (const icon of document.querySelectorAll(".material-symbols-outlined:not([role=button])")) {
    icon.ariaHidden = "true";
  }
});

document.addEventListener("keydown", (event) => {
  const isPress = event.key === "Enter" || event.key === " ";
  if (!isPress || !("keyboard" in event.target.dataset)) return;
  event.preventDefault();
  event.target.click();
});
