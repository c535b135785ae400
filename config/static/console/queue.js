// Keys of the conflict queue: j and k move, Enter opens, a takes it on, x chooses, / searches, ? helps.
(() => {
  "use strict";

  const rows = () => Array.from(document.querySelectorAll("#result_list tr.data-row"));
  let place = -1;

  const current = () => rows()[place];
  const link = (row) => row.querySelector("a[href]");

  function move(step) {
    const all = rows();
    if (all.length === 0) return;
    current()?.classList.remove("c-current");
    place = Math.max(0, Math.min(all.length - 1, place + step));
    current().classList.add("c-current");
    current().scrollIntoView({ block: "nearest" });
    link(current())?.focus({ preventScroll: true });
  }

  function take() {
    const mark = current()?.querySelector("[data-assign]");
    const form = document.getElementById("queue-assign");
    if (!mark || !form) return;
    form.action = mark.dataset.assign;
    form.elements.seen.value = mark.dataset.holder;
    form.requestSubmit();
  }

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    a: take,
    x: () => current()?.querySelector("input.action-select")?.click(),
    Enter: () => { const to = current() && link(current()); if (to) window.location.assign(to.href); },
    "/": () => document.getElementById("searchbar")?.focus(),
    "?": () => { const help = document.getElementById("queue-keys"); if (help) help.open ? help.close() : help.showModal(); },
  };

  document.addEventListener("keydown", (event) => {
    const at = event.target;
    const writes = at.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(at.tagName);
    const isBox = at.tagName === "INPUT" && at.type === "checkbox";
    if (event.ctrlKey || event.metaKey || event.altKey || (writes && !isBox)) return;
    // Enter on a link or a button is its own.
    const own = event.key === "Enter" && at.closest("a, button, summary") && !at.closest("#result_list");
    const act = own ? undefined : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-show-keys]")) keys["?"]();
  });
})();
