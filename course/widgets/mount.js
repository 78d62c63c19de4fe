// Wakes the stored twins of the explorers up on a page without a kernel. The page's inline module
// script is this text after one line, const SOURCES = {"pq": "text of pq.js", ...}. Inline, because
// module files are blocked on file://; an inline module that imports a Blob is not.
for (const el of document.querySelectorAll(".course-widget")) {
  const blob = new Blob([SOURCES[el.dataset.widget]], { type: "text/javascript" });
  const { default: widget } = await import(URL.createObjectURL(blob));
  const state = JSON.parse(el.dataset.state), heard = {};
  const model = {
    get: (key) => state[key],
    set: (key, value) => {
      state[key] = value;
      (heard[`change:${key}`] ?? []).forEach((hear) => hear());
    },
    save_changes() {},
    on: (event, hear) => (heard[event] ??= []).push(hear),
    off() {},
  };
  await widget.render({ model, el });
  el.dataset.live = "yes";
}
