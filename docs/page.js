// What style sheets cannot do. Boxes that scroll sideways are reached by keyboard, with a name; paper
// shows the claims open, but neither the options nor the answers; and some parts of the theme get
// the names that a screen reader needs.
const BOXES = ".cell_output .text_html, .pst-scrollable-table-container, mjx-container";

function reachable() {
  // a formula in a line that is wider than the line becomes a box too
  for (const formula of document.querySelectorAll("mjx-container:not([display])")) {
    const wide = formula.scrollWidth > formula.closest("p, li, td, dd")?.clientWidth;
    if (wide) formula.classList.add("wide");
  }
  for (const box of document.querySelectorAll(BOXES)) {
    const wide = box.scrollWidth > box.clientWidth + 1;
    if (wide && !box.hasAttribute("tabindex")) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", "wide content: scroll sideways");
    }
  }
}

addEventListener("load", () => {
  reachable();
  window.MathJax?.startup?.promise?.then(reachable);
});
addEventListener("resize", reachable);

const printed = new Set();
addEventListener("beforeprint", () => {
  for (const box of document.querySelectorAll("article details:not([open], .answer, .hide)")) {
    if (!box.closest(".course-choice")) printed.add(box);
  }
  printed.forEach((box) => { box.open = true; });
});
addEventListener("afterprint", () => {
  printed.forEach((box) => { box.open = false; });
  printed.clear();
});

// a browser lets no page opened from a file read another one, not even to quote it
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

const name = (what, attribute, value) => document.querySelectorAll(what).forEach((part) => {
  const word = typeof value === "function" ? value(part) : value;
  if (word) part.setAttribute(attribute, word);
  else part.removeAttribute(attribute);
});

name("summary:has(.toctree-toggle)", "aria-label",
  (toggle) => `What belongs to ${toggle.closest("li").querySelector("a").textContent.trim()}`);
name(".search-button-field, details.hide > summary", "aria-label", null); // they have words
name(".bd-sidebar-primary", "role", "complementary");
name(".bd-sidebar-primary", "aria-label", "The course");
